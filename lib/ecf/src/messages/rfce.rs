//! RFCE: the summary that is sent instead of a consumer invoice below RD$250,000.00.

use ecf_language::{Bilingual, Say};
use thiserror::Error;

use super::{MessageError, read, read_members, write};
use crate::catalogue::{TipoImpuesto, TipoIngresos, TipoPago, Version};
use crate::document::{FormaDePago, TablaFormasPago};
use crate::draft::anonymous_buyer;
use crate::field::{Block as _, Class, Limit, Place, Sign, Source, money, places_of, text, text_of};
use crate::{Encf, Fecha, Monto, Node, Numbered, Piece, ReceiptType, Rnc, Texto, Violation};

pub(crate) const ROOT: &str = "RFCE";
/// The only field that does not follow from the receipt's data.
const SECURITY_CODE: &str = "CodigoSeguridadeCF";
/// The length of a security code: the first characters of the signature value.
const CODE_LENGTH: usize = 6;

block! {
    /// A summary.
    pub struct Rfce {
        encabezado: EncabezadoResumen, "Encabezado", "1", "All of it";
    }
}

block! {
    /// The content of a summary.
    pub struct EncabezadoResumen {
        version: Option<Version>, "Version", "1", "Version of the format";
        id_doc: IdDocResumen, "IdDoc", "1", "What the receipt is and how it is paid";
        emisor: EmisorResumen, "Emisor", "1", "Who issues";
        comprador: CompradorResumen, "Comprador", "1", "Who buys";
        totales: TotalesResumen, "Totales", "1", "The sums";
        codigo_seguridad_ecf: Option<Texto> = text_of(Class::Exactly(CODE_LENGTH), CODE_LENGTH), "CodigoSeguridadeCF", "1", "Security code of the full receipt";
    }
}

block! {
    /// The identity of the receipt and its terms of payment.
    pub struct IdDocResumen {
        tipo_ecf: Option<ReceiptType>, "TipoeCF", "1", "Always 32";
        encf: Option<Encf>, "eNCF", "1", "Number of the full receipt";
        tipo_ingresos: Option<TipoIngresos>, "TipoIngresos", "1", "Class of income";
        tipo_pago: Option<TipoPago>, "TipoPago", "1", "When it is paid";
        tabla_formas_pago: TablaFormasPago, "TablaFormasPago", "3", "By what it is paid";
    }
}

block! {
    /// The issuer.
    pub struct EmisorResumen {
        rnc_emisor: Option<Rnc>, "RNCEmisor", "1", "Taxpayer number of the issuer";
        razon_social_emisor: Option<Texto> = text(150), "RazonSocialEmisor", "1", "Legal name of the issuer";
        fecha_emision: Option<Fecha>, "FechaEmision", "1", "Day of issue";
    }
}

block! {
    /// The buyer. The schema requires the element, and elements must not be empty.
    pub struct CompradorResumen {
        rnc_comprador: Option<Rnc>, "RNCComprador", "3", "Taxpayer number of the buyer";
        identificador_extranjero: Option<Texto> = text(20), "IdentificadorExtranjero", "2", "Identity of a foreigner";
        razon_social_comprador: Option<Texto> = text(150), "RazonSocialComprador", "3", "Name of the buyer";
    }
}

block! {
    /// The sums.
    pub struct TotalesResumen {
        monto_gravado_total: Option<Monto>, "MontoGravadoTotal", "2", "Sum of the three taxed bases";
        monto_gravado_i1: Option<Monto>, "MontoGravadoI1", "2", "Net base at 18 %";
        monto_gravado_i2: Option<Monto>, "MontoGravadoI2", "2", "Net base at 16 %";
        monto_gravado_i3: Option<Monto>, "MontoGravadoI3", "2", "Base at 0 %";
        monto_exento: Option<Monto>, "MontoExento", "2", "Sum of the exempt lines";
        total_itbis: Option<Monto>, "TotalITBIS", "2", "Sum of the ITBIS at all rates";
        total_itbis1: Option<Monto>, "TotalITBIS1", "2", "ITBIS at 18 %";
        total_itbis2: Option<Monto>, "TotalITBIS2", "2", "ITBIS at 16 %";
        total_itbis3: Option<Monto>, "TotalITBIS3", "2", "ITBIS at 0 %";
        monto_impuesto_adicional: Option<Monto> = money(Sign::Positive), "MontoImpuestoAdicional", "2", "Sum of all additional taxes";
        impuestos_adicionales: ImpuestosAdicionalesResumen, "ImpuestosAdicionales", "2", "Taxes beside the ITBIS";
        monto_total: Option<Monto>, "MontoTotal", "1", "All of it together";
        monto_no_facturable: Option<Monto> = money(Sign::Signed), "MontoNoFacturable", "2", "Sum of the lines outside the invoice";
        monto_periodo: Option<Monto> = money(Sign::Signed), "MontoPeriodo", "3", "MontoTotal and MontoNoFacturable together";
    }
}

block! {
    /// Taxes other than the ITBIS.
    pub struct ImpuestosAdicionalesResumen {
        impuesto_adicional: Vec<ImpuestoAdicionalResumen> [Limit::all(20)], "ImpuestoAdicional", "2", "One entry per tax";
    }
}

block! {
    /// One tax other than the ITBIS; a summary has no rates.
    pub struct ImpuestoAdicionalResumen {
        tipo_impuesto: Option<TipoImpuesto>, "TipoImpuesto", "2", "Code of the tax";
        monto_impuesto_selectivo_consumo_especifico: Option<Monto> = money(Sign::Positive), "MontoImpuestoSelectivoConsumoEspecifico", "2", "Amount of a tax of codes 006 to 022";
        monto_impuesto_selectivo_consumo_advalorem: Option<Monto> = money(Sign::Positive), "MontoImpuestoSelectivoConsumoAdvalorem", "2", "Amount of a tax of codes 023 to 039";
        otros_impuestos_adicionales: Option<Monto> = money(Sign::Positive), "OtrosImpuestosAdicionales", "2", "Amount of a tax of codes 001 to 005";
    }
}

/// A text that is not a security code.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{given:?} is not a security code: {CODE_LENGTH} characters were expected")]
pub struct SecurityCodeError {
    /// The text as received.
    pub given: String,
}

impl Say for SecurityCodeError {
    fn say(&self) -> Bilingual {
        Bilingual::of(
            self,
            format!(
                "{:?} no es un código de seguridad: se esperaban {CODE_LENGTH} caracteres",
                self.given
            ),
        )
    }
}

impl Rfce {
    /// The summary of a full receipt, whose security code comes from its signature. Amounts keep their text, except
    /// that one decimal becomes two, as the summary's schema requires.
    ///
    /// # Errors
    ///
    /// When the code is not six characters long.
    pub fn of(receipt: &Numbered, security_code: &str) -> Result<Self, SecurityCodeError> {
        let code = code(security_code)?;
        let header = &receipt.document().encabezado;
        let (id_doc, totals) = (&header.id_doc, &header.totales);
        let amount = |monto: &Option<Monto>| monto.as_ref().map(Monto::with_no_or_two_decimals);
        let payments = id_doc
            .tabla_formas_pago
            .forma_de_pago
            .iter()
            .map(|payment| FormaDePago {
                forma_pago: payment.forma_pago,
                monto_pago: amount(&payment.monto_pago),
            });
        let taxes = totals
            .impuestos_adicionales
            .impuesto_adicional
            .iter()
            .map(|tax| ImpuestoAdicionalResumen {
                tipo_impuesto: tax.tipo_impuesto,
                monto_impuesto_selectivo_consumo_especifico: amount(&tax.monto_impuesto_selectivo_consumo_especifico),
                monto_impuesto_selectivo_consumo_advalorem: amount(&tax.monto_impuesto_selectivo_consumo_advalorem),
                otros_impuestos_adicionales: amount(&tax.otros_impuestos_adicionales),
            });
        let mut buyer = CompradorResumen {
            rnc_comprador: header.comprador.rnc_comprador.clone(),
            identificador_extranjero: header.comprador.identificador_extranjero.clone(),
            razon_social_comprador: header.comprador.razon_social_comprador.clone(),
        };
        if buyer == CompradorResumen::default() {
            buyer.razon_social_comprador = Some(anonymous_buyer());
        }
        Ok(Self {
            encabezado: EncabezadoResumen {
                version: Some(Version::V1),
                id_doc: IdDocResumen {
                    tipo_ecf: Some(receipt.receipt_type()),
                    encf: Some(receipt.encf()),
                    tipo_ingresos: id_doc.tipo_ingresos,
                    tipo_pago: id_doc.tipo_pago,
                    tabla_formas_pago: TablaFormasPago {
                        forma_de_pago: payments.collect(),
                    },
                },
                emisor: EmisorResumen {
                    rnc_emisor: header.emisor.rnc_emisor.clone(),
                    razon_social_emisor: header.emisor.razon_social_emisor.clone(),
                    fecha_emision: header.emisor.fecha_emision,
                },
                comprador: buyer,
                totales: TotalesResumen {
                    monto_gravado_total: amount(&totals.monto_gravado_total),
                    monto_gravado_i1: amount(&totals.monto_gravado_i1),
                    monto_gravado_i2: amount(&totals.monto_gravado_i2),
                    monto_gravado_i3: amount(&totals.monto_gravado_i3),
                    monto_exento: amount(&totals.monto_exento),
                    total_itbis: amount(&totals.total_itbis),
                    total_itbis1: amount(&totals.total_itbis1),
                    total_itbis2: amount(&totals.total_itbis2),
                    total_itbis3: amount(&totals.total_itbis3),
                    monto_impuesto_adicional: amount(&totals.monto_impuesto_adicional),
                    impuestos_adicionales: ImpuestosAdicionalesResumen {
                        impuesto_adicional: taxes.collect(),
                    },
                    monto_total: amount(&totals.monto_total),
                    monto_no_facturable: amount(&totals.monto_no_facturable),
                    monto_periodo: amount(&totals.monto_periodo),
                },
                codigo_seguridad_ecf: Some(code),
            },
        })
    }

    /// Reads a summary from a tree that has the shape of its XML. Amounts keep their text.
    ///
    /// # Errors
    ///
    /// Every field that is invalid, unknown or missing.
    pub fn from_node(node: &Node) -> Result<Self, Vec<Violation>> {
        read_members(node, Source::Caller)
    }

    /// Reads a summary that is given as a tree, such as the row of a certification workbook, and completes it with the
    /// security code of its full receipt.
    ///
    /// # Errors
    ///
    /// Every field that is invalid, unknown or missing.
    pub fn prescribed(node: &Node, security_code: &str) -> Result<Self, Vec<Violation>> {
        let mut node = node.clone();
        if let Node::Object(members) = &mut node
            && let Some((_, Node::Object(header))) = members.iter_mut().find(|(name, _)| name.as_str() == "Encabezado")
        {
            header.retain(|(name, _)| name.as_str() != SECURITY_CODE);
            header.push((Piece::from(SECURITY_CODE), Node::Text(Piece::from(security_code))));
        }
        Self::from_node(&node)
    }

    /// The places of all values of a summary, in the order of the schema.
    pub fn places() -> Vec<Place> {
        places_of(Self::FIELDS)
    }

    /// The summary with the security code of its full receipt.
    ///
    /// # Errors
    ///
    /// When the code is not six characters long.
    pub fn with_security_code(mut self, security_code: &str) -> Result<Self, SecurityCodeError> {
        self.encabezado.codigo_seguridad_ecf = Some(code(security_code)?);
        Ok(self)
    }

    /// The canonical bytes without a signature.
    pub fn to_xml(&self) -> Vec<u8> {
        write(ROOT, self)
    }

    /// Reads a summary, signed or not.
    ///
    /// # Errors
    ///
    /// When the bytes are not XML or another document, or when fields are invalid or missing.
    pub fn from_xml(bytes: &[u8]) -> Result<Self, MessageError> {
        read(bytes, ROOT)
    }
}

fn code(security_code: &str) -> Result<Texto, SecurityCodeError> {
    Texto::verbatim(security_code)
        .ok()
        .filter(|code| code.chars().count() == CODE_LENGTH)
        .ok_or_else(|| SecurityCodeError {
            given: security_code.to_owned(),
        })
}
