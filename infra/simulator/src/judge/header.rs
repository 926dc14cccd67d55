//! The buyer, by type and amount, and header fields that depend on each other.

use rust_decimal::Decimal;

use super::{Findings, SUMMARY_BELOW};
use crate::xml::Element;

pub(super) fn check(root: &Element, tipo: u8, findings: &mut Findings) {
    let header = |block: &str, name: &str| root.text_at(&["Encabezado", block, name]);
    let total: Option<Decimal> = header("Totales", "MontoTotal").and_then(|text| text.parse().ok());
    let reaches_threshold = total.is_some_and(|total| total >= Decimal::from(SUMMARY_BELOW));
    if tipo == 32 && !reaches_threshold {
        findings.error(
            "0",
            "Las facturas de consumo menores de 250,000.00 se envían como resumen.",
        );
    }
    let identified = header("Comprador", "RNCComprador")
        .or(header("Comprador", "IdentificadorExtranjero"))
        .is_some();
    exclusive(root, findings);
    if (tipo == 44 || (tipo == 32 && reaches_threshold)) && !identified {
        findings.error("0", "Falta RNCComprador o IdentificadorExtranjero.");
    }
    if tipo == 32 && reaches_threshold && header("Comprador", "RazonSocialComprador").is_none() {
        findings.error("0", "Falta RazonSocialComprador.");
    }
    // FechaLimitePago is conditional (2) in all types but two: type 43 does not have the field (0), in 47 it is
    // optional (3).
    let states_a_last_day = !matches!(tipo, 43 | 47);
    if states_a_last_day && header("IdDoc", "TipoPago") == Some("2") && header("IdDoc", "FechaLimitePago").is_none() {
        findings.error("0", "FechaLimitePago es obligatoria cuando TipoPago es 2.");
    }
    let pages = root.get("Paginacion").map(|paging| paging.children.len().to_string());
    if pages.as_deref() != header("IdDoc", "TotalPaginas") {
        findings.error("0", "TotalPaginas no coincide con Paginacion.");
    }
}

pub(super) fn check_summary(root: &Element, findings: &mut Findings) {
    let total = root
        .text_at(&["Encabezado", "Totales", "MontoTotal"])
        .and_then(|text| text.parse().ok());
    if total.is_none_or(|total: Decimal| total >= Decimal::from(SUMMARY_BELOW)) {
        findings.error("0", "El resumen solo admite facturas de consumo menores de 250,000.00.");
    }
    exclusive(root, findings);
}

fn exclusive(root: &Element, findings: &mut Findings) {
    let given = |name| root.at(&["Encabezado", "Comprador", name]).is_some();
    if given("RNCComprador") && given("IdentificadorExtranjero") {
        findings.error("0", "RNCComprador e IdentificadorExtranjero se excluyen.");
    }
}
