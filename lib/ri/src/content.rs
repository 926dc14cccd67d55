//! The printed content, in the order and the words of the authority's models. The layouts decide about positions.
//!
//! Labels are Spanish, as the authority words them. Texts of the document pass through [`printable`], amounts through
//! [`crate::amount`]; both preserve the document's meaning.

mod lines;
mod shipment;
mod totals;

use std::fmt::Display;

use ecf::Environment;
use ecf::catalogue::{IndicadorEnvioDiferido, IndicadorMontoGravado, ProvinciaMunicipio, TipoPago, UnidadMedida};
use ecf::document::{Comprador, Emisor, Encabezado, IdDoc, InformacionReferencia};

use crate::amount::{amount, quantity};
use crate::mode::{Mode, bands};
use crate::receipt::Receipt;
use crate::sheet::Band;
use crate::text::printable;

pub(crate) use lines::{Column, Line, Lines};
pub(crate) use totals::{Total, page_subtotals};

/// A label and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) label: &'static str,
    pub(crate) value: String,
}

/// Everything that is printed of one receipt.
#[derive(Debug)]
pub(crate) struct Content {
    /// The type in words.
    pub(crate) title: &'static str,
    /// The trade name, if it differs from the legal name.
    pub(crate) trade_name: Option<String>,
    pub(crate) legal_name: String,
    pub(crate) issuer: Vec<Pair>,
    /// The issuer's contact data, without labels.
    pub(crate) contact: Vec<String>,
    /// The number, and the fields printed with it.
    pub(crate) identity: Vec<Pair>,
    pub(crate) buyer: Vec<Pair>,
    /// Terms of payment, and reference numbers of both parties.
    pub(crate) terms: Vec<Pair>,
    pub(crate) lines: Lines,
    pub(crate) totals: Vec<Total>,
    /// The code of the other currency, if the receipt has one.
    pub(crate) currency: Option<&'static str>,
    /// Delivery, shipment and transport.
    pub(crate) shipment: Vec<Pair>,
    /// Forms of payment and free texts.
    pub(crate) notes: Vec<Pair>,
    /// Sentences about the fiscal validity.
    pub(crate) notices: Vec<&'static str>,
    /// Remarks in small type.
    pub(crate) legends: Vec<&'static str>,
    pub(crate) signature: [Pair; 2],
    /// The day and time of signing, as in the document.
    pub(crate) signed_at: ecf::FechaHora,
    pub(crate) encf: String,
    /// The marks above everything else, on every sheet.
    pub(crate) bands: Vec<Band>,
}

/// As worded by the authority (Informe Técnico, "Representación impresa").
const DEFERRED: &str = "e-CF emitido en modalidad Envío Diferido, podrá ser consultado para su validez fiscal, a partir de \
                        las veinticuatro (24) horas.";
/// Customary; it distinguishes the print from the receipt itself.
pub(crate) const CLOSING: &str = "Representación impresa de un e-CF";

impl Content {
    pub(crate) fn of(receipt: &Receipt, environment: Environment, mode: Mode) -> Self {
        let document = &receipt.document;
        let header = &document.encabezado;
        let emisor = &header.emisor;
        let legal_name = text(&emisor.razon_social_emisor).unwrap_or_default();
        let lines = Lines::of(receipt);
        let mut legends = Vec::new();
        if lines.columns.contains(&Column::Itbis) {
            legends.push(
                "ITBIS por línea, informativo: su suma puede diferir del Total ITBIS por redondeo o por descuentos y \
                 recargos globales.",
            );
        }
        if header.id_doc.indicador_monto_gravado == Some(IndicadorMontoGravado::ConItbis) {
            legends.push("Los precios y valores de las líneas gravadas incluyen el ITBIS.");
        }
        let is_deferred = header.id_doc.indicador_envio_diferido == Some(IndicadorEnvioDiferido::Diferido);
        let notices = match mode {
            Mode::Pending if is_deferred => vec![DEFERRED],
            _ => is_deferred
                .then_some(DEFERRED)
                .into_iter()
                .chain(mode.notice())
                .collect(),
        };
        let signed_at = document.fecha_hora_firma.expect("a receipt with a stamp has it");
        Self {
            title: receipt.receipt_type.title(),
            trade_name: text(&emisor.nombre_comercial).filter(|name| *name != legal_name),
            legal_name,
            issuer: issuer(emisor),
            contact: contact(emisor),
            identity: identity(header, &document.informacion_referencia),
            buyer: buyer(&header.comprador),
            terms: terms(header),
            lines,
            totals: totals::of(document),
            currency: header.otra_moneda.tipo_moneda.map(|currency| currency.code()),
            shipment: shipment::of(header),
            notes: notes(header),
            notices,
            legends,
            signature: [
                Pair {
                    label: "Código de Seguridad:",
                    value: receipt.codigo_seguridad.clone(),
                },
                Pair {
                    label: "Fecha Firma:",
                    value: signed_at.to_string(),
                },
            ],
            signed_at,
            bands: bands(environment, mode),
            encf: value(&header.id_doc.encf).unwrap_or_default(),
        }
    }
}

fn issuer(emisor: &Emisor) -> Vec<Pair> {
    pairs([
        ("Sucursal:", text(&emisor.sucursal)),
        ("RNC:", value(&emisor.rnc_emisor)),
        (
            "Dirección:",
            address(&emisor.direccion_emisor, emisor.municipio, emisor.provincia),
        ),
        ("Fecha Emisión:", value(&emisor.fecha_emision)),
    ])
}

fn contact(emisor: &Emisor) -> Vec<String> {
    let telephones = &emisor.tabla_telefono_emisor.telefono_emisor;
    let telephones: Vec<String> = telephones.iter().map(|number| printable(number)).collect();
    let telephones = (!telephones.is_empty()).then(|| format!("Tel. {}", telephones.join(", ")));
    [telephones, text(&emisor.correo_emisor), text(&emisor.web_site)]
        .into_iter()
        .flatten()
        .collect()
}

fn identity(header: &Encabezado, referencia: &InformacionReferencia) -> Vec<Pair> {
    let motivo = referencia.codigo_modificacion.map(|code| code.words().to_owned());
    pairs([
        ("e-NCF:", value(&header.id_doc.encf)),
        ("Fecha Vencimiento:", value(&header.id_doc.fecha_vencimiento_secuencia)),
        ("NCF Modificado:", value(&referencia.ncf_modificado)),
        ("Fecha NCF Modificado:", value(&referencia.fecha_ncf_modificado)),
        ("RNC Otro Contribuyente:", value(&referencia.rnc_otro_contribuyente)),
        ("Código Modificación:", motivo),
        ("Razón:", text(&referencia.razon_modificacion)),
    ])
}

fn buyer(comprador: &Comprador) -> Vec<Pair> {
    let place = address(
        &comprador.direccion_comprador,
        comprador.municipio_comprador,
        comprador.provincia_comprador,
    );
    pairs([
        ("Razón Social Cliente:", text(&comprador.razon_social_comprador)),
        ("RNC Cliente:", value(&comprador.rnc_comprador)),
        ("Identificador Extranjero:", text(&comprador.identificador_extranjero)),
        ("Dirección:", place),
        ("País:", text(&comprador.pais_comprador)),
        ("Contacto:", text(&comprador.contacto_comprador)),
        ("Correo:", text(&comprador.correo_comprador)),
        ("Código Cliente:", text(&comprador.codigo_interno_comprador)),
    ])
}

fn terms(header: &Encabezado) -> Vec<Pair> {
    let (id_doc, comprador, emisor) = (&header.id_doc, &header.comprador, &header.emisor);
    let pago = id_doc.tipo_pago.map(|pago| match (pago, text(&id_doc.termino_pago)) {
        (TipoPago::Credito, Some(term)) => format!("{}, {term}", pago.words()),
        _ => pago.words().to_owned(),
    });
    let currency = &header.otra_moneda;
    let rate = currency.tipo_moneda.zip(currency.tipo_cambio.as_ref());
    let rate = rate.map(|(code, rate)| format!("{code} 1.00 = RD$\u{a0}{}", amount(rate)));
    let order = text(&comprador.numero_orden_compra).map(|number| match &comprador.fecha_orden_compra {
        Some(day) => format!("{number} del {day}"),
        None => number,
    });
    let period = id_doc.fecha_desde.zip(id_doc.fecha_hasta);
    pairs([
        ("Condición de Pago:", pago),
        ("Fecha Límite de Pago:", value(&id_doc.fecha_limite_pago)),
        ("Período:", period.map(|(first, last)| format!("{first} al {last}"))),
        ("Orden de Compra:", order),
        ("Factura Interna:", text(&emisor.numero_factura_interna)),
        ("Pedido Interno:", text(&emisor.numero_pedido_interno)),
        ("Vendedor:", text(&emisor.codigo_vendedor)),
        ("Responsable de Pago:", text(&comprador.responsable_pago)),
        ("Tipo de Cambio:", rate),
    ])
}

fn notes(header: &Encabezado) -> Vec<Pair> {
    let (id_doc, emisor, comprador) = (&header.id_doc, &header.emisor, &header.comprador);
    pairs([
        ("Formas de Pago:", payments(id_doc)),
        ("Cuenta:", account(id_doc)),
        ("Nota:", text(&emisor.informacion_adicional_emisor)),
        ("Nota del Cliente:", text(&comprador.informacion_adicional_comprador)),
    ])
}

fn payments(id_doc: &IdDoc) -> Option<String> {
    let payments = id_doc.tabla_formas_pago.forma_de_pago.iter().filter_map(|entry| {
        let words = entry.forma_pago?.words();
        let paid = entry
            .monto_pago
            .as_ref()
            .map(|paid| format!(" RD$\u{a0}{}", amount(paid)));
        Some(format!("{words}{}", paid.unwrap_or_default()))
    });
    Some(payments.collect::<Vec<_>>().join("; "))
}

/// The account from which a cheque or a transfer is paid.
fn account(id_doc: &IdDoc) -> Option<String> {
    let parts = [
        id_doc.tipo_cuenta_pago.map(|kind| kind.words().to_owned()),
        text(&id_doc.numero_cuenta_pago),
        text(&id_doc.banco_pago),
    ];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// A measure with its unit in words.
fn measure<T: Display>(value: &Option<T>, unit: Option<UnidadMedida>) -> Option<String> {
    let value = quantity(value.as_ref()?);
    Some(unit.map_or(value.clone(), |unit| format!("{value} {}", unit.words())))
}

/// An amount without a currency: the format does not state in which currency the costs of an export are.
fn money<T: Display>(value: &Option<T>) -> Option<String> {
    value.as_ref().map(|value| amount(value))
}

/// The pairs that have a value.
fn pairs<const N: usize>(pairs: [(&'static str, Option<String>); N]) -> Vec<Pair> {
    pairs
        .into_iter()
        .filter_map(|(label, value)| {
            let value = value.filter(|value| !value.is_empty())?;
            Some(Pair { label, value })
        })
        .collect()
}

fn text(field: &Option<ecf::Texto>) -> Option<String> {
    field.as_ref().map(|text| printable(text))
}

fn value<T: Display>(field: &Option<T>) -> Option<String> {
    field.as_ref().map(ToString::to_string)
}

/// The address, with municipality and province in words.
fn address(
    street: &Option<ecf::Texto>,
    municipio: Option<ProvinciaMunicipio>,
    provincia: Option<ProvinciaMunicipio>,
) -> Option<String> {
    let parts = [text(street), municipio.map(place), provincia.map(place)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The name of a place without the word for its kind.
fn place(code: ProvinciaMunicipio) -> String {
    let words = code.words();
    let name = words
        .strip_prefix("MUNICIPIO ")
        .or_else(|| words.strip_prefix("PROVINCIA "));
    name.unwrap_or(words).to_owned()
}
