//! What the amounts of a receipt must be.
//!
//! [`compute`] says what each amount is by the formulas of the format and of the Informe Técnico, from the lines up; what
//! the receipt states itself goes before what would be computed in its place, so that a total follows the lines as they
//! stand. `complete` fills in what a receipt leaves out. All decimals are exact and a field is rounded once
//! ([`Monto::rounded`](crate::Monto::rounded)); between line and field nothing is.
//!
//! Start at `header` for the formulas of the bases, at `taxes` for those of the taxes beside the ITBIS.

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

/// Mandatory amounts that a payload may leave out.
pub(crate) const ALWAYS_COMPUTED: [&str; 3] = ["Totales", "MontoTotal", "MontoItem"];

/// Mandatory members of ImpuestosAdicionales that a payload may leave out for taxes that its lines carry.
pub(crate) const COMPUTED_FOR_LINES: [&str; 2] = ["TasaImpuestoAdicional", "OtrosImpuestosAdicionales"];

/// What the amounts of a receipt must be. A field is absent where none is due.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Computed {
    /// Of each line, in the order of the receipt.
    pub lines: Vec<LineAmounts>,
    /// Of each entry of DescuentosORecargos.
    pub entries: Vec<EntryAmounts>,
    /// The header. MontoPeriodo and ValorPagar are always there, though a receipt need not state them.
    pub totales: Totales,
    /// The header when the ITBIS of prices that include it is computed from the rounded base, as the format words it.
    /// It can differ by a cent in each rate, and the authority accepts both.
    pub literal: Totales,
    /// The header in the other currency, when TipoCambio is given.
    pub otra_moneda: OtraMoneda,
    /// The subtotals of each page, in the order of the receipt.
    pub pages: Vec<Pagina>,
    /// What cannot be computed, and why.
    pub problems: Vec<Problem>,
}

impl Computed {
    /// The two amounts that a field of the header may state: the exact one, and the literal one where it differs.
    pub fn accepted(&self, field: impl Fn(&Totales) -> Option<&Monto>) -> impl Iterator<Item = &Monto> {
        let (exact, literal) = (field(&self.totales), field(&self.literal));
        exact
            .into_iter()
            .chain(literal.filter(|literal| Some(*literal) != exact))
    }
}

/// Computes every amount of a receipt, from what it states of its lines.
pub fn compute(document: &Document, ecf_type: ReceiptType, rates: &IscRates) -> Computed {
    header::compute(document, ecf_type, rates)
}
