//! The number must have the stated type, be authorised and in force, and be neither annulled nor used.

use jiff::civil::Date;

use super::{Case, Stop};
use crate::{dates, encf::Encf, settings::Sequence};

/// Every taxpayer owns these numbers until a sequence of its own is set.
const OPEN_NUMBERS: u64 = 10_000_000;
const OPEN_NUMBERS_OF_CONSUMER_INVOICES: u64 = 50_000_000;
const OPEN_UNTIL: Date = jiff::civil::date(2028, 12, 31);

pub(super) fn check(case: &Case<'_>, tipo: u8) -> Result<(), Stop> {
    let (rnc, text) = (&case.facts.rnc_emisor, &case.facts.encf);
    let encf = Encf::parse(text).filter(|encf| encf.tipo == tipo);
    let Some(encf) = encf else {
        return Err(Stop::free(format!("El e-NCF {text} no corresponde al tipo {tipo}.")));
    };
    let Some(until) = authorised_until(case, &encf) else {
        return Err(Stop::free(format!(
            "El e-NCF {text} no está autorizado para el RNC {rnc}."
        )));
    };
    let stated = case
        .document
        .root
        .text_at(&["Encabezado", "IdDoc", "FechaVencimientoSecuencia"]);
    if stated.is_some_and(|stated| dates::parse_date(stated) != Some(until)) {
        let until = dates::day_first(until);
        return Err(Stop::free(format!(
            "FechaVencimientoSecuencia no coincide con la fecha autorizada {until}."
        )));
    }
    // Types 32 and 34 state no expiry date. The date of their range is a formality, so it is not enforced.
    if stated.is_some() && dates::local(case.now).date() > until {
        return Err(Stop::free(format!("La secuencia del e-NCF {text} está vencida.")));
    }
    let annulled = case
        .state
        .is_annulled(case.environment, rnc, tipo, encf.number, encf.number)?;
    if annulled || case.state.is_used(case.environment, rnc, text, text)? {
        return Err(Stop::burned("1209", format!("La secuencia {text} ya fue utilizada.")));
    }
    Ok(())
}

fn authorised_until(case: &Case<'_>, encf: &Encf) -> Option<Date> {
    let settings = case.state.settings();
    let ours = |sequence: &&Sequence| {
        sequence.rnc == case.facts.rnc_emisor && sequence.ambiente.eq_ignore_ascii_case(case.environment.segment())
    };
    let mut authorised = settings.sequences.iter().filter(ours).peekable();
    if authorised.peek().is_some() {
        return authorised
            .find(|one| one.tipo == encf.tipo && (one.desde..=one.hasta).contains(&encf.number))
            .and_then(|one| dates::parse_date(&one.vencimiento));
    }
    let most = if encf.tipo == 32 {
        OPEN_NUMBERS_OF_CONSUMER_INVOICES
    } else {
        OPEN_NUMBERS
    };
    (1..=most).contains(&encf.number).then_some(OPEN_UNTIL)
}
