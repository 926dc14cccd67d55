//! The amounts that a receipt states, and exact arithmetic on them.

use rust_decimal::{Decimal, RoundingStrategy};

use crate::xml::Element;

/// Rounds to two decimals, half away from zero.
pub(super) fn cents(amount: Decimal) -> Decimal {
    amount.round_dp_with_strategy(2, RoundingStrategy::MidpointAwayFromZero)
}

/// A product; `None` when it has more digits than `Decimal` holds.
pub(super) fn product(factors: &[Decimal]) -> Option<Decimal> {
    factors
        .iter()
        .try_fold(Decimal::ONE, |all, factor| all.checked_mul(*factor))
}

/// A sum; `None` when it has more digits than `Decimal` holds.
pub(super) fn sum(terms: impl IntoIterator<Item = Decimal>) -> Option<Decimal> {
    terms.into_iter().try_fold(Decimal::ZERO, Decimal::checked_add)
}

/// The amounts of a receipt that the arithmetic checks use.
#[derive(Debug)]
pub(super) struct Receipt<'a> {
    /// Whether the prices of lines with ITBIS include the ITBIS.
    pub(super) includes_itbis: bool,
    pub(super) lines: Vec<Line<'a>>,
    pub(super) entries: Vec<Entry>,
    pub(super) taxes: Vec<StatedTax>,
    totales: &'a Element,
}

#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) number: &'a str,
    pub(super) indicator: u8,
    pub(super) quantity: Decimal,
    pub(super) price: Decimal,
    pub(super) discount: Adjustment,
    pub(super) surcharge: Adjustment,
    pub(super) amount: Decimal,
    /// Codes of additional taxes.
    pub(super) taxes: Vec<u8>,
    pub(super) unit: Option<&'a str>,
    pub(super) reference_quantity: Option<Decimal>,
    /// `None` when the table is absent; an incomplete entry of the table is `None`.
    pub(super) subquantities: Option<Vec<Option<Decimal>>>,
    pub(super) degrees: Option<Decimal>,
    pub(super) reference_price: Option<Decimal>,
    pub(super) itbis_retenido: Option<Decimal>,
    pub(super) isr_retenido: Option<Decimal>,
}

/// A line's discount or surcharge: the amount, and the table of its parts.
#[derive(Debug)]
pub(super) struct Adjustment {
    pub(super) amount: Option<Decimal>,
    /// Percentage and amount of each part.
    pub(super) parts: Option<Vec<(Option<Decimal>, Option<Decimal>)>>,
}

/// An entry of `DescuentosORecargos`.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) is_discount: bool,
    pub(super) is_norma_1007: bool,
    pub(super) amount: Decimal,
    pub(super) indicator: Option<u8>,
}

/// An additional tax of `Totales`.
#[derive(Debug)]
pub(super) struct StatedTax {
    pub(super) code: u8,
    pub(super) rate: Decimal,
    pub(super) specific: Option<Decimal>,
    pub(super) ad_valorem: Option<Decimal>,
    pub(super) other: Option<Decimal>,
}

impl<'a> Receipt<'a> {
    /// Reads a document that has passed the structure check.
    pub(super) fn read(root: &'a Element) -> Option<Self> {
        let totales = root.at(&["Encabezado", "Totales"])?;
        let entries = root
            .get("DescuentosORecargos")
            .into_iter()
            .flat_map(|all| &all.children)
            .map(Entry::read);
        let taxes = totales
            .get("ImpuestosAdicionales")
            .into_iter()
            .flat_map(|all| &all.children)
            .map(StatedTax::read);
        Some(Self {
            includes_itbis: root.text_at(&["Encabezado", "IdDoc", "IndicadorMontoGravado"]) == Some("1"),
            lines: root
                .get("DetallesItems")?
                .children
                .iter()
                .map(Line::read)
                .collect::<Option<_>>()?,
            entries: entries.collect(),
            taxes: taxes.collect::<Option<_>>()?,
            totales,
        })
    }

    /// An amount of `Totales`.
    pub(super) fn stated(&self, name: &str) -> Option<Decimal> {
        number(self.totales, name)
    }
}

impl<'a> Line<'a> {
    fn read(item: &'a Element) -> Option<Self> {
        let taxes = item
            .get("TablaImpuestoAdicional")
            .into_iter()
            .flat_map(|table| &table.children);
        Some(Self {
            number: item.text_at(&["NumeroLinea"])?,
            indicator: item.text_at(&["IndicadorFacturacion"])?.parse().ok()?,
            quantity: number(item, "CantidadItem")?,
            price: number(item, "PrecioUnitarioItem")?,
            discount: Adjustment::read(item, "Descuento"),
            surcharge: Adjustment::read(item, "Recargo"),
            amount: number(item, "MontoItem")?,
            taxes: taxes
                .filter_map(|tax| tax.text_at(&["TipoImpuesto"])?.parse().ok())
                .collect(),
            unit: item.text_at(&["UnidadMedida"]),
            reference_quantity: number(item, "CantidadReferencia"),
            subquantities: item
                .get("TablaSubcantidad")
                .map(|table| table.children.iter().map(subquantity).collect()),
            degrees: number(item, "GradosAlcohol"),
            reference_price: number(item, "PrecioUnitarioReferencia"),
            itbis_retenido: item.get("Retencion").and_then(|one| number(one, "MontoITBISRetenido")),
            isr_retenido: item.get("Retencion").and_then(|one| number(one, "MontoISRRetenido")),
        })
    }
}

impl Adjustment {
    /// `word` is `Descuento` or `Recargo`, as in the element names.
    fn read(item: &Element, word: &str) -> Self {
        let part = |one: &Element| {
            (
                number(one, &format!("Sub{word}Porcentaje")),
                number(one, &format!("MontoSub{word}")),
            )
        };
        Self {
            amount: number(item, &format!("{word}Monto")),
            parts: item
                .get(&format!("TablaSub{word}"))
                .map(|table| table.children.iter().map(part).collect()),
        }
    }
}

impl Entry {
    fn read(entry: &Element) -> Self {
        Self {
            is_discount: entry.text_at(&["TipoAjuste"]) == Some("D"),
            is_norma_1007: entry.text_at(&["IndicadorNorma1007"]) == Some("1"),
            amount: number(entry, "MontoDescuentooRecargo").unwrap_or_default(),
            indicator: entry
                .text_at(&["IndicadorFacturacionDescuentooRecargo"])
                .and_then(|text| text.parse().ok()),
        }
    }

    /// Negative for discounts.
    pub(super) fn signed(&self) -> Decimal {
        if self.is_discount { -self.amount } else { self.amount }
    }
}

impl StatedTax {
    fn read(tax: &Element) -> Option<Self> {
        Some(Self {
            code: tax.text_at(&["TipoImpuesto"])?.parse().ok()?,
            rate: number(tax, "TasaImpuestoAdicional").unwrap_or_default(),
            specific: number(tax, "MontoImpuestoSelectivoConsumoEspecifico"),
            ad_valorem: number(tax, "MontoImpuestoSelectivoConsumoAdvalorem"),
            other: number(tax, "OtrosImpuestosAdicionales"),
        })
    }
}

/// A child's value as a decimal.
pub(super) fn number(element: &Element, name: &str) -> Option<Decimal> {
    element.text_at(&[name]).and_then(|text| text.parse().ok())
}

fn subquantity(part: &Element) -> Option<Decimal> {
    part.get("CodigoSubcantidad")?;
    number(part, "Subcantidad")
}
