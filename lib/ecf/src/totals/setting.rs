//! The common inputs of all lines: whether prices include the ITBIS, and the rates of the taxes on the lines.

use rust_decimal::Decimal;

use super::IscRates;
use super::exact::{Exact as _, PERCENT, WITH_ITBIS1, WITH_ITBIS2};
use super::problem::{Problem, path};
use crate::ReceiptType;
use crate::catalogue::{
    ImpuestoClass, IndicadorFacturacion, IndicadorMontoGravado, IndicadorNorma1007, TipoAjuste, TipoImpuesto,
};
use crate::document::{DescuentoORecargo, Document, ImpuestoAdicional, Item, Totales};
use crate::field::{Block as _, Field, Presence};

/// The unit of measure of alcohol that is sold in bulk.
const GRANEL: &str = "18";

#[derive(Debug)]
pub(super) struct Setting {
    ecf_type: ReceiptType,
    carried: CarriedTaxes,
    itbis_included: bool,
    norma_1007: bool,
    pub(super) tipo_cambio: Option<Decimal>,
    /// The taxes of the lines in the order of their codes, with the rate if known.
    rates: Vec<(TipoImpuesto, Option<Decimal>)>,
}

impl Setting {
    pub(super) fn of(
        document: &Document,
        ecf_type: ReceiptType,
        isc_rates: &IscRates,
        problems: &mut Vec<Problem>,
    ) -> Self {
        let header = &document.encabezado;
        let mut rates: Vec<(TipoImpuesto, Option<Decimal>)> = Vec::new();
        let carried = CarriedTaxes::of(ecf_type);
        for item in &document.detalles_items.item {
            for tipo in carried.of_line(item).filter(|tipo| !is_left_out_in_bulk(*tipo, item)) {
                if let Err(place) = rates.binary_search_by_key(&tipo, |(known, _)| *known) {
                    let fecha_emision = header.emisor.fecha_emision;
                    let given = given_rate(&header.totales, tipo);
                    let rate = given.or_else(|| isc_rates.tasa(tipo, fecha_emision));
                    rates.insert(place, (tipo, rate));
                    if rate.is_none() {
                        problems.push(Problem::RateUnknown {
                            path: rate_path(&header.totales, tipo),
                            tipo_impuesto: tipo,
                            fecha_emision,
                        });
                    }
                }
            }
        }
        Self {
            ecf_type,
            carried,
            itbis_included: header.id_doc.indicador_monto_gravado == Some(IndicadorMontoGravado::ConItbis),
            norma_1007: document
                .descuentos_o_recargos
                .descuento_o_recargo
                .iter()
                .any(is_norma_1007),
            tipo_cambio: header
                .otra_moneda
                .tipo_cambio
                .as_ref()
                .map(|rate| rate.value())
                .filter(|rate| !rate.is_zero()),
            rates,
        }
    }

    /// The rate of a tax that some line carries, if known.
    pub(super) fn rate(&self, tipo: TipoImpuesto) -> Option<Decimal> {
        let place = self.rates.binary_search_by_key(&tipo, |(known, _)| *known).ok()?;
        self.rates[place].1
    }

    /// The divisor that removes the ITBIS from the amount of a line, and under Norma 10-07 also the two taxes on
    /// telecommunications.
    ///
    /// Norma 10-07: the official texts divide all lines of group 1 by the same number. Lines without the two taxes
    /// cannot include them, so they are divided by 1.18; if all lines carry both, the result is the same.
    pub(super) fn divisor(&self, indicador: Option<IndicadorFacturacion>, item: &Item) -> Decimal {
        match indicador {
            Some(IndicadorFacturacion::Itbis1) if self.itbis_included && self.norma_1007 => self
                .taxes_of(item)
                .filter(|tipo| is_telecommunication(*tipo))
                .filter_map(|tipo| self.rate(tipo))
                .filter_map(|rate| rate.times(PERCENT).ok())
                .fold(WITH_ITBIS1, |divisor, rate| divisor.plus(rate).unwrap_or(divisor)),
            Some(IndicadorFacturacion::Itbis1) if self.itbis_included => WITH_ITBIS1,
            Some(IndicadorFacturacion::Itbis2) if self.itbis_included => WITH_ITBIS2,
            _ => Decimal::ONE,
        }
    }

    /// The divisor of a line's amount for taxes 001 to 004: the format removes 18 % from every line, independent of its
    /// group.
    pub(super) fn divisor_of_taxes(&self, indicador: Option<IndicadorFacturacion>, divisor: Decimal) -> Decimal {
        match indicador {
            Some(IndicadorFacturacion::Itbis1) => divisor,
            _ if self.itbis_included => WITH_ITBIS1,
            _ => Decimal::ONE,
        }
    }

    /// Whether the totals of this type may have the field.
    pub(super) fn allows(&self, field: &str) -> bool {
        allows(Totales::FIELDS, field, self.ecf_type)
    }

    /// The taxes of a line that are computed.
    pub(super) fn taxes_of(&self, item: &Item) -> impl Iterator<Item = TipoImpuesto> {
        self.carried.of_line(item)
    }
}

/// Whether receipts of this type may have the field.
pub(crate) fn allows(fields: &[Field], name: &str, ecf_type: ReceiptType) -> bool {
    let field = fields.iter().find(|field| field.name == name);
    field.is_some_and(|field| field.obligations.presence(ecf_type) != Presence::Forbidden)
}

/// The additional taxes that receipts of a type may carry: some types have none, type 44 has no excise taxes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CarriedTaxes {
    others: bool,
    excise: bool,
}

impl CarriedTaxes {
    pub(crate) fn of(ecf_type: ReceiptType) -> Self {
        let amount = |field| allows(ImpuestoAdicional::FIELDS, field, ecf_type);
        Self {
            others: amount("OtrosImpuestosAdicionales"),
            excise: amount("MontoImpuestoSelectivoConsumoEspecifico"),
        }
    }

    /// Whether a receipt may carry the tax.
    pub(crate) fn contains(self, tipo: TipoImpuesto) -> bool {
        match tipo.class() {
            ImpuestoClass::Otros => self.others,
            _ => self.excise,
        }
    }

    /// The taxes of a line; none if the line is outside the invoice.
    pub(crate) fn of_line(self, item: &Item) -> impl Iterator<Item = TipoImpuesto> {
        let billable = !matches!(
            item.indicador_facturacion,
            None | Some(IndicadorFacturacion::NoFacturable)
        );
        let taxes = item.tabla_impuesto_adicional.impuesto_adicional.iter();
        taxes
            .filter(move |_| billable)
            .filter_map(|tax| tax.tipo_impuesto)
            .filter(move |tipo| self.contains(*tipo))
    }
}

/// Whether a discount reduces only the amount to pay, neither base nor total.
pub(super) fn is_norma_1007(entry: &DescuentoORecargo) -> bool {
    entry.indicador_norma1007 == Some(IndicadorNorma1007::Si) && entry.tipo_ajuste == Some(TipoAjuste::Descuento)
}

/// Whether the line is alcohol in bulk.
pub(super) fn is_bulk(item: &Item) -> bool {
    item.unidad_medida.is_some_and(|unit| unit.code() == GRANEL)
}

/// Whether the tax is not computed: a specific tax on bulk alcohol.
fn is_left_out_in_bulk(tipo: TipoImpuesto, item: &Item) -> bool {
    tipo.class() == ImpuestoClass::EspecificoAlcohol && is_bulk(item)
}

fn is_telecommunication(tipo: TipoImpuesto) -> bool {
    matches!(tipo.code(), "002" | "004")
}

fn given_rate(totales: &Totales, tipo: TipoImpuesto) -> Option<Decimal> {
    let entries = &totales.impuestos_adicionales.impuesto_adicional;
    entries
        .iter()
        .filter(|entry| entry.tipo_impuesto == Some(tipo))
        .find_map(|entry| entry.tasa_impuesto_adicional.as_ref())
        .map(|rate| rate.value())
}

fn rate_path(totales: &Totales, tipo: TipoImpuesto) -> Vec<String> {
    let list = path(&["Encabezado", "Totales", "ImpuestosAdicionales"]);
    let entries = &totales.impuestos_adicionales.impuesto_adicional;
    match entries.iter().position(|entry| entry.tipo_impuesto == Some(tipo)) {
        None => list,
        Some(place) => {
            let entry = path(&["ImpuestoAdicional", &place.to_string(), "TasaImpuestoAdicional"]);
            [list, entry].concat()
        }
    }
}
