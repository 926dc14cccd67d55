//! Why an amount cannot be computed.
//!
//! | code | what is wrong |
//! |---|---|
//! | `CALCULO-01` | an amount has more digits than any field |
//! | `CALCULO-02` | an amount would be below zero |
//! | `CALCULO-03` | the rate of a tax is not known for the day |
//! | `CALCULO-04` | a field that the tax of the line needs is missing |
//! | `CALCULO-05` | an ad valorem tax without the specific one beside it |
//! | `CALCULO-10` | a notice: amounts that were left out were computed |

use ecf_language::{Bilingual, Say, say};
use rust_decimal::Decimal;
use thiserror::Error;

use crate::catalogue::TipoImpuesto;
use crate::violation::{Grade, Violation};
use crate::{Fecha, Monto};

/// Why an amount cannot be computed. Each problem leads to the rejection of the receipt.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Problem {
    /// The amount has more digits than an amount allows.
    #[error("the amount has more than {} digits before the point", Monto::INTEGERS)]
    TooLarge {
        /// The field of the amount.
        path: Vec<String>,
    },
    /// Discounts exceed the amount that they reduce.
    #[error("{} would be {exact}: the discounts exceed what they reduce by {}; lower them, or give money back by a credit note (type 34)", field(.path).en, .exact.abs())]
    Negative {
        /// The field of the amount.
        path: Vec<String>,
        /// The negative result.
        exact: Decimal,
    },
    /// Neither the receipt nor our table has the rate.
    #[error("the rate of tax {} is not known for {}: give its TasaImpuestoAdicional in ImpuestosAdicionales", .tipo_impuesto.code(), day(*.fecha_emision).en)]
    RateUnknown {
        /// The field of the rate.
        path: Vec<String>,
        /// The tax.
        tipo_impuesto: TipoImpuesto,
        /// The day of issue.
        fecha_emision: Option<Fecha>,
    },
    /// A field that the formula of a tax needs is missing.
    #[error("{} is needed to compute tax {}, which the line carries", field(.path).en, .tipo_impuesto.code())]
    MissingForTax {
        /// The missing field.
        path: Vec<String>,
        /// The tax.
        tipo_impuesto: TipoImpuesto,
    },
    /// Taxes 023 to 039 require one of 006 to 022 on the same line.
    #[error("tax {} stands alone: the line must carry its specific tax (006 to 022) too", .tipo_impuesto.code())]
    SpecificMissing {
        /// The taxes of the line.
        path: Vec<String>,
        /// The tax without a specific one.
        tipo_impuesto: TipoImpuesto,
    },
}

impl Say for Problem {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::TooLarge { .. } => format!("el monto tiene más de {} dígitos antes del punto", Monto::INTEGERS),
            Self::Negative { path, exact } => format!(
                "{} sería {exact}: los descuentos superan en {} lo que reducen; bájelos, o devuelva dinero con una nota de \
                 crédito (tipo 34)",
                field(path).es,
                exact.abs()
            ),
            Self::RateUnknown {
                tipo_impuesto,
                fecha_emision,
                ..
            } => format!(
                "no se conoce la tasa del impuesto {} para {}: dé su TasaImpuestoAdicional en ImpuestosAdicionales",
                tipo_impuesto.code(),
                day(*fecha_emision).es
            ),
            Self::MissingForTax { path, tipo_impuesto } => format!(
                "se necesita {} para calcular el impuesto {}, que lleva la línea",
                field(path).es,
                tipo_impuesto.code()
            ),
            Self::SpecificMissing { tipo_impuesto, .. } => format!(
                "el impuesto {} está solo: la línea también debe llevar su impuesto específico (006 a 022)",
                tipo_impuesto.code()
            ),
        };
        Bilingual::of(self, spanish)
    }
}

fn day(fecha: Option<Fecha>) -> Bilingual {
    match fecha {
        Some(fecha) => Bilingual::same(fecha.to_string()),
        None => say!("a receipt without FechaEmision", "un comprobante sin FechaEmision"),
    }
}

fn field(path: &[String]) -> Bilingual {
    match path.last() {
        Some(name) => Bilingual::same(name.clone()),
        None => say!("the field", "el campo"),
    }
}

impl Problem {
    /// The field to correct.
    pub fn path(&self) -> &[String] {
        match self {
            Self::TooLarge { path }
            | Self::Negative { path, .. }
            | Self::RateUnknown { path, .. }
            | Self::MissingForTax { path, .. }
            | Self::SpecificMissing { path, .. } => path,
        }
    }

    /// The finding that reports the problem.
    pub fn violation(&self) -> Violation {
        let (code, kind) = match self {
            Self::TooLarge { .. } => ("CALCULO-01", "decimal_whole_digits"),
            Self::Negative { .. } => ("CALCULO-02", "greater_than_equal"),
            Self::RateUnknown { .. } => ("CALCULO-03", "missing"),
            Self::MissingForTax { .. } => ("CALCULO-04", "missing"),
            Self::SpecificMissing { .. } => ("CALCULO-05", "missing"),
        };
        let violation = Violation::rejected(self.path().to_vec(), code, kind, self.say());
        match self {
            Self::Negative { exact, .. } => violation.with_given(&exact.to_string()).with_expected("zero or more"),
            _ => violation,
        }
    }
}

/// The notice that fields of a block were computed.
pub(super) fn computed(path: &[&str], fields: &[Bilingual]) -> Violation {
    let fields = Bilingual::joined(fields, ", ");
    let message = say!(
        [fields],
        "computed, since left out: {fields}",
        "se calculó, porque se omitió: {fields}"
    );
    Violation::rejected(self::path(path), "CALCULO-10", "value_added", message).with_grade(Grade::Notice)
}

/// A path from its steps.
pub(super) fn path(steps: &[&str]) -> Vec<String> {
    steps.iter().map(|&step| step.to_owned()).collect()
}

/// The path of a field of a line.
pub(super) fn line_path(index: usize, field: &str) -> Vec<String> {
    path(&["DetallesItems", "Item", &index.to_string(), field])
}
