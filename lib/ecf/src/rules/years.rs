//! Dates whose year looks mistyped.

use ecf_language::{Bilingual, say};
use jiff::civil::Date;

use super::finding::{Path, emisor, id_doc, referencia};
use super::references::days_between;
use super::{Case, Findings, Rule};
use crate::catalogue::CodigoModificacion;
use crate::{Environment, Fecha};

pub(super) const RULES: &[Rule] = &[Rule::notice(
    "FECHA-01",
    "seen in practice: the year of before is typed on in January",
    "no date lies so far from the day of issue that its year looks typed wrong",
    years_are_plausible,
)];

/// Days between the day of issue and today from which the year looks wrong: a year, less a few days for mistakes around
/// New Year.
const ISSUED_LATE: i32 = 360;

/// Two years: notes on older receipts are rare.
const MODIFIED_LATE: i32 = 730;

/// Three years: sales on longer credit are rare.
const PAID_LATE: i32 = 1_095;

/// Certification workbooks prescribe dates of other years.
fn years_are_plausible(case: &Case<'_>, out: &mut Findings<'_>) {
    if case.environment == Environment::CerteCF {
        return;
    }
    let header = &case.document.encabezado;
    let Some(issue) = header.emisor.fecha_emision else {
        return;
    };
    let days = days_between(issue, case.today);
    if days >= ISSUED_LATE {
        let meant = nearest_before(issue, case.today);
        let what = say!(
            "FechaEmision {issue} is {days} days ago",
            "FechaEmision {issue} fue hace {days} días"
        );
        report(emisor("FechaEmision"), issue, &what, meant, out);
    }
    let reference = &case.document.informacion_referencia;
    let replaces = reference.codigo_modificacion == Some(CodigoModificacion::ReemplazaContingencia);
    let limit = if replaces { ISSUED_LATE } else { MODIFIED_LATE };
    if let Some(modified) = reference.fecha_ncf_modificado {
        let days = days_between(modified, issue);
        if days >= limit {
            let meant = nearest_before(modified, issue);
            let what = say!(
                "FechaNCFModificado {modified} is {days} days before FechaEmision {issue}",
                "FechaNCFModificado {modified} es {days} días antes de FechaEmision {issue}"
            );
            report(referencia("FechaNCFModificado"), modified, &what, meant, out);
        }
    }
    if let Some(last) = header.id_doc.fecha_limite_pago {
        let days = days_between(issue, last);
        if days >= PAID_LATE {
            let meant = (issue.date().year()..).take(2).filter_map(|year| in_year(last, year));
            let meant = meant.into_iter().find(|meant| *meant >= issue);
            let what = say!(
                "FechaLimitePago {last} is {days} days after FechaEmision {issue}",
                "FechaLimitePago {last} es {days} días después de FechaEmision {issue}"
            );
            report(id_doc("FechaLimitePago"), last, &what, meant, out);
        }
    }
}

fn report(path: Path, given: Fecha, what: &Bilingual, meant: Option<Fecha>, out: &mut Findings<'_>) {
    let likely = meant.map_or_else(Bilingual::default, |meant| {
        say!(", such as {meant}", ", por ejemplo {meant}")
    });
    let message = say!(
        [what, likely],
        "{what}: is the year typed wrong{likely}?",
        "{what}: ¿está mal escrito el año{likely}?"
    );
    let finding = out.wrong(path, message).given(given);
    if let Some(meant) = meant {
        finding.expected(meant.to_string());
    }
}

/// The same day and month in the latest year that does not exceed the limit.
fn nearest_before(given: Fecha, limit: Fecha) -> Option<Fecha> {
    let year = limit.date().year();
    let candidates = [year, year - 1].into_iter().filter_map(|year| in_year(given, year));
    candidates
        .into_iter()
        .find(|meant| *meant <= limit)
        .filter(|meant| *meant != given)
}

fn in_year(given: Fecha, year: i16) -> Option<Fecha> {
    let date = Date::new(year, given.date().month(), given.date().day()).ok()?;
    Fecha::try_from(date).ok()
}
