//! References to another document: notes (33, 34), replacements (code 4), consumer invoices (code 5).

use rust_decimal::Decimal;

use super::{Case, Findings, Stop};
use crate::{dates, encf::Encf, state::Record, xml::Element};

/// A credit note returns ITBIS for 30 days; from the 31st day it does not.
const DAYS_WITH_ITBIS: i32 = 30;

pub(super) fn check(case: &Case<'_>, tipo: u8, findings: &mut Findings) -> Result<(), Stop> {
    let Some(reference) = case.document.root.get("InformacionReferencia") else {
        return Ok(());
    };
    let value = |name: &str| reference.text_at(&[name]);
    let (Some(modified), Some(code)) = (value("NCFModificado"), value("CodigoModificacion")) else {
        return Ok(());
    };
    let modified = modified.to_ascii_uppercase();
    let allowed: &[&str] = match tipo {
        31 => &["4", "5"],
        33 => &["2", "3", "4"],
        34 => &["1", "2", "3", "4"],
        _ => &["4"],
    };
    if !allowed.contains(&code) {
        findings.error(
            "0",
            format!("CodigoModificacion {code} no se admite en el tipo {tipo}."),
        );
    }
    if tipo == 34 {
        check_days(case, reference, findings);
    }
    // Paper numbers (series B, A, P) were never reported here, so they cannot be verified: they pass.
    if modified.len() != 13 {
        return Ok(());
    }
    let issuer = value("RNCOtroContribuyente").unwrap_or(&case.facts.rnc_emisor);
    let visible = case.state.documents_by_number(case.environment, issuer, &modified)?;
    let original = visible
        .into_iter()
        .rfind(|record| record.codigo_at(case.now).is_accepted());
    let Some(original) = original else {
        findings.error("614", format!("El NCF modificado {modified} no ha sido emitido."));
        return Ok(());
    };
    if matches!(tipo, 33 | 34) {
        check_note(case, &original, code, issuer, findings)?;
    }
    Ok(())
}

fn check_note(
    case: &Case<'_>,
    original: &Record,
    code: &str,
    issuer: &str,
    findings: &mut Findings,
) -> Result<(), Stop> {
    if Encf::parse(&original.facts.encf).is_some_and(|encf| matches!(encf.tipo, 33 | 34)) {
        findings.error("0", "Una nota no puede modificar otra nota.");
        return Ok(());
    }
    if original.facts.rnc_comprador != case.facts.rnc_comprador {
        findings.error("0", "El comprador de la nota no es el del comprobante modificado.");
    }
    let notes = case.state.notes_on(case.environment, issuer, &original.facts.encf)?;
    if notes
        .iter()
        .any(|note| note.facts.codigo_modificacion.as_deref() == Some("1"))
    {
        findings.error(
            "0",
            format!(
                "El comprobante {} ya fue anulado por una nota de crédito.",
                original.facts.encf
            ),
        );
        return Ok(());
    }
    if Encf::parse(&case.facts.encf).is_none_or(|encf| encf.tipo != 34) {
        return Ok(());
    }
    let total = |record: &Record| amount(record.facts.monto_total.as_deref());
    let balance = notes.iter().fold(total(original), |balance, note| {
        // A debit note raises the amount that may still be credited.
        if note.facts.encf.starts_with("E33") {
            balance + total(note)
        } else {
            balance - total(note)
        }
    });
    let credited = amount(case.facts.monto_total.as_deref());
    if credited > balance {
        findings.error(
            "0",
            format!("MontoTotal {credited} excede el balance {balance} del comprobante modificado."),
        );
    } else if code == "1" && credited != balance {
        findings.error("0", format!("Para anular, MontoTotal debe ser {balance}."));
    }
    Ok(())
}

fn check_days(case: &Case<'_>, reference: &Element, findings: &mut Findings) {
    let date = |text: Option<&str>| text.and_then(dates::parse_date);
    let original = date(reference.text_at(&["FechaNCFModificado"]));
    let note = date(case.facts.fecha_emision.as_deref());
    let Some((original, note)) = original.zip(note) else {
        return;
    };
    let days = note.since(original).map_or(0, |span| span.get_days());
    let expected = if days > DAYS_WITH_ITBIS { "1" } else { "0" };
    let stated = case
        .document
        .root
        .text_at(&["Encabezado", "IdDoc", "IndicadorNotaCredito"]);
    if stated != Some(expected) {
        findings.error(
            "0",
            format!("IndicadorNotaCredito debe ser {expected}: han pasado {days} días."),
        );
    }
}

fn amount(text: Option<&str>) -> Decimal {
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}
