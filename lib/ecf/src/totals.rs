//! Computes the amounts of a receipt.
//!
//! [`compute`] derives each amount from the lines, by the formulas of the format and the Informe Técnico. Amounts that
//! the receipt states take precedence over computed ones, so that a total matches the stated lines. `complete` fills in
//! missing amounts. All decimals are exact, and each field is rounded once ([`Monto::rounded`](crate::Monto::rounded));
//! intermediate results are not rounded.
//!
//! Start at `header` for the formulas of the bases, at `taxes` for those of taxes other than the ITBIS.

mod complete;
mod currency;
mod entries;
mod exact;
mod header;
mod lines;
mod nota_credito;
mod pages;
mod problem;
mod rates;
mod setting;
mod sums;
mod taxes;
mod tolerance;

pub(crate) use complete::{complete, has_amount};
pub use entries::EntryAmounts;
pub use lines::LineAmounts;
pub use nota_credito::indicador_nota_credito;
pub use problem::Problem;
pub use rates::{IscGroup, IscRate, IscRates};
pub(crate) use setting::{CarriedTaxes, allows};
pub use tolerance::Tolerance;

use crate::document::{Document, OtraMoneda, Pagina, Totales};
use crate::{Monto, ReceiptType};

/// Mandatory amounts that a payload may omit.
pub(crate) const ALWAYS_COMPUTED: [&str; 3] = ["Totales", "MontoTotal", "MontoItem"];

/// Mandatory members of ImpuestosAdicionales that a payload may omit for taxes on its lines.
pub(crate) const COMPUTED_FOR_LINES: [&str; 2] = ["TasaImpuestoAdicional", "OtrosImpuestosAdicionales"];

/// The computed amounts of a receipt. A field is absent when the receipt needs no such amount.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Computed {
    /// The amounts of each line, in the order of the receipt.
    pub lines: Vec<LineAmounts>,
    /// The amounts of each entry of DescuentosORecargos.
    pub entries: Vec<EntryAmounts>,
    /// The header. MontoPeriodo and ValorPagar are always computed, though a receipt need not state them.
    pub totales: Totales,
    /// The header if the ITBIS of tax-inclusive prices is computed from the rounded base, as the format words it. It
    /// can differ by a cent in each rate, and the authority accepts both.
    pub literal: Totales,
    /// The header in the other currency, when TipoCambio is given.
    pub otra_moneda: OtraMoneda,
    /// The subtotals of each page, in the order of the receipt.
    pub pages: Vec<Pagina>,
    /// Amounts that cannot be computed, with the reason.
    pub problems: Vec<Problem>,
}

impl Computed {
    /// The accepted amounts of a header field: the exact one, and the literal one if it differs.
    pub fn accepted(&self, field: impl Fn(&Totales) -> Option<&Monto>) -> impl Iterator<Item = &Monto> {
        let (exact, literal) = (field(&self.totales), field(&self.literal));
        exact
            .into_iter()
            .chain(literal.filter(|literal| Some(*literal) != exact))
    }
}

/// Computes every amount of a receipt from its lines.
pub fn compute(document: &Document, ecf_type: ReceiptType, rates: &IscRates) -> Computed {
    header::compute(document, ecf_type, rates)
}
