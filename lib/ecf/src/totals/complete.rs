//! Fills in missing amounts. Stated amounts never change, and missing sums are computed from the amounts in the
//! completed receipt.

use ecf_language::{Bilingual, say};

use super::exact::TooLarge;
use super::header::{self, amount_field, sum_of};
use super::lines::value;
use super::problem::{Problem, computed, path};
use super::setting::is_norma_1007;
use super::{Computed, LineAmounts, currency, exact, pages};
use crate::Monto;
use crate::document::{Document, ImpuestoAdicional, Item, OtraMoneda, Pagina, Totales};
use crate::violation::Violation;

/// Counts the filled-in fields of a block.
#[derive(Default)]
struct Filled(Vec<(&'static str, usize)>);

impl Filled {
    fn fill<T: Clone>(&mut self, field: &mut Option<T>, name: &'static str, amount: Option<&T>) {
        if let (None, Some(amount)) = (&field, amount) {
            *field = Some(amount.clone());
            self.count(name);
        }
    }

    fn count(&mut self, name: &'static str) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => self.0.push((name, 1)),
        }
    }

    /// One notice for the block; `None` when nothing was filled in.
    fn notice(self, path: &[&str]) -> Option<Violation> {
        let named = |(name, count): (&'static str, usize)| match count {
            1 => Bilingual::same(name),
            times => say!("{name} ({times} times)", "{name} ({times} veces)"),
        };
        let fields: Vec<Bilingual> = self.0.into_iter().map(named).collect();
        (!fields.is_empty()).then(|| computed(path, &fields))
    }
}

/// Fills a field of one block from the same field of another.
macro_rules! fill {
    ($filled:expr, $block:expr, $amounts:expr; $($field:ident $name:literal),+ $(,)?) => {
        $($filled.fill(&mut $block.$field, $name, $amounts.$field.as_ref());)+
    };
}

/// Fills in missing amounts, and returns notices that name them.
///
/// Amounts that cannot be computed stay absent; `amounts.problems` says why.
pub(crate) fn complete(document: &mut Document, amounts: &mut Computed) -> Vec<Violation> {
    let mut notices = Vec::new();
    let mut lines = Filled::default();
    for (item, line) in document.detalles_items.item.iter_mut().zip(&amounts.lines) {
        fill_line(item, line, &mut lines);
    }
    notices.extend(lines.notice(&["DetallesItems"]));

    let mut entries = Filled::default();
    let list = &mut document.descuentos_o_recargos.descuento_o_recargo;
    for (entry, amounts) in list.iter_mut().zip(&amounts.entries) {
        fill!(entries, entry, amounts;
            monto_descuentoo_recargo "MontoDescuentooRecargo",
            monto_descuentoo_recargo_otra_moneda "MontoDescuentooRecargoOtraMoneda",
        );
    }
    notices.extend(entries.notice(&["DescuentosORecargos"]));

    let mut sums = |filled: Result<Option<Violation>, TooLarge>, steps: &[&str]| match filled {
        Ok(notice) => notices.extend(notice),
        Err(TooLarge) => amounts.problems.push(Problem::TooLarge { path: path(steps) }),
    };
    let norma_1007 = document
        .descuentos_o_recargos
        .descuento_o_recargo
        .iter()
        .filter(|entry| is_norma_1007(entry));
    let norma_1007 = exact::sum(norma_1007.map(|entry| value(entry.monto_descuentoo_recargo.as_ref())));
    let header = &mut document.encabezado;
    let filled = norma_1007.and_then(|norma_1007| fill_totales(&mut header.totales, &amounts.totales, norma_1007));
    sums(filled, &["Encabezado", "Totales", "MontoTotal"]);
    if header.otra_moneda.tipo_cambio.is_some() {
        let filled = fill_otra_moneda(&mut header.otra_moneda, &amounts.otra_moneda);
        sums(filled, &["Encabezado", "OtraMoneda", "MontoTotalOtraMoneda"]);
    }
    sums(
        fill_pages(&mut document.paginacion.pagina, &amounts.pages),
        &["Paginacion"],
    );
    notices
}

fn fill_line(item: &mut Item, line: &LineAmounts, filled: &mut Filled) {
    for (sub, amount) in item
        .tabla_sub_descuento
        .sub_descuento
        .iter_mut()
        .zip(&line.sub_descuentos)
    {
        filled.fill(&mut sub.monto_sub_descuento, "MontoSubDescuento", amount.as_ref());
    }
    for (sub, amount) in item.tabla_sub_recargo.sub_recargo.iter_mut().zip(&line.sub_recargos) {
        filled.fill(&mut sub.monto_sub_recargo, "MontoSubRecargo", amount.as_ref());
    }
    fill!(filled, item, line;
        precio_unitario_item "PrecioUnitarioItem",
        descuento_monto "DescuentoMonto",
        recargo_monto "RecargoMonto",
        monto_item "MontoItem",
    );
    fill!(filled, item.otra_moneda_detalle, line.otra_moneda_detalle;
        precio_otra_moneda "PrecioOtraMoneda",
        descuento_otra_moneda "DescuentoOtraMoneda",
        recargo_otra_moneda "RecargoOtraMoneda",
        monto_item_otra_moneda "MontoItemOtraMoneda",
    );
}

fn fill_totales(
    totales: &mut Totales,
    amounts: &Totales,
    norma_1007: rust_decimal::Decimal,
) -> Result<Option<Violation>, TooLarge> {
    let mut filled = Filled::default();
    fill!(filled, totales, amounts;
        monto_gravado_i1 "MontoGravadoI1",
        monto_gravado_i2 "MontoGravadoI2",
        monto_gravado_i3 "MontoGravadoI3",
        monto_exento "MontoExento",
        itbis1 "ITBIS1",
        itbis2 "ITBIS2",
        itbis3 "ITBIS3",
        total_itbis1 "TotalITBIS1",
        total_itbis2 "TotalITBIS2",
        total_itbis3 "TotalITBIS3",
        monto_no_facturable "MontoNoFacturable",
        total_itbis_retenido "TotalITBISRetenido",
        total_isr_retencion "TotalISRRetencion",
    );
    fill_taxes(totales, amounts, &mut filled);

    let taxed = sum_of([
        &totales.monto_gravado_i1,
        &totales.monto_gravado_i2,
        &totales.monto_gravado_i3,
    ])?;
    filled.fill(&mut totales.monto_gravado_total, "MontoGravadoTotal", taxed.as_ref());
    let itbis = sum_of([&totales.total_itbis1, &totales.total_itbis2, &totales.total_itbis3])?;
    filled.fill(&mut totales.total_itbis, "TotalITBIS", itbis.as_ref());
    let mut additional = None;
    for tax in &totales.impuestos_adicionales.impuesto_adicional {
        additional = sum_of([
            &additional,
            &tax.monto_impuesto_selectivo_consumo_especifico,
            &tax.monto_impuesto_selectivo_consumo_advalorem,
            &tax.otros_impuestos_adicionales,
        ])?;
    }
    filled.fill(
        &mut totales.monto_impuesto_adicional,
        "MontoImpuestoAdicional",
        additional.as_ref(),
    );
    let total = header::monto_total(totales)?;
    filled.fill(&mut totales.monto_total, "MontoTotal", Some(&total));
    // The other sums are optional. They are added only when they can differ from MontoTotal.
    if totales.monto_no_facturable.is_some() {
        let period = header::monto_periodo(totales)?;
        filled.fill(&mut totales.monto_periodo, "MontoPeriodo", Some(&period));
    }
    if totales.monto_avance_pago.is_some() || totales.saldo_anterior.is_some() || !norma_1007.is_zero() {
        let left = header::valor_pagar(totales, norma_1007)?;
        filled.fill(&mut totales.valor_pagar, "ValorPagar", Some(&left));
    }
    Ok(filled.notice(&["Encabezado", "Totales"]))
}

/// Fills the entries of the additional taxes. A list without any amount only overrides rates, and missing taxes are
/// added. A list with amounts is the caller's own: a tax missing there is reported as a fault.
fn fill_taxes(totales: &mut Totales, amounts: &Totales, filled: &mut Filled) {
    let list = &mut totales.impuestos_adicionales.impuesto_adicional;
    let states_amounts = list.iter().any(has_amount);
    for amount in &amounts.impuestos_adicionales.impuesto_adicional {
        let Some(tipo) = amount.tipo_impuesto else { continue };
        match list.iter_mut().find(|tax| tax.tipo_impuesto == Some(tipo)) {
            Some(tax) => {
                fill!(filled, tax, amount; tasa_impuesto_adicional "TasaImpuestoAdicional");
                if !has_amount(tax) {
                    let mut amount = amount.clone();
                    let amount = amount_field(&mut amount, tipo.class()).take();
                    filled.fill(amount_field(tax, tipo.class()), "ImpuestosAdicionales", amount.as_ref());
                }
            }
            None if !states_amounts => {
                list.push(amount.clone());
                filled.count("ImpuestosAdicionales");
            }
            None => {}
        }
    }
}

/// Whether an entry states the amount of its tax.
pub(crate) fn has_amount(tax: &ImpuestoAdicional) -> bool {
    let amounts: [&Option<Monto>; 3] = [
        &tax.otros_impuestos_adicionales,
        &tax.monto_impuesto_selectivo_consumo_especifico,
        &tax.monto_impuesto_selectivo_consumo_advalorem,
    ];
    amounts.iter().any(|amount| amount.is_some())
}

fn fill_otra_moneda(there: &mut OtraMoneda, amounts: &OtraMoneda) -> Result<Option<Violation>, TooLarge> {
    let mut filled = Filled::default();
    fill!(filled, there, amounts;
        monto_gravado1_otra_moneda "MontoGravado1OtraMoneda",
        monto_gravado2_otra_moneda "MontoGravado2OtraMoneda",
        monto_gravado3_otra_moneda "MontoGravado3OtraMoneda",
        monto_exento_otra_moneda "MontoExentoOtraMoneda",
        total_itbis1_otra_moneda "TotalITBIS1OtraMoneda",
        total_itbis2_otra_moneda "TotalITBIS2OtraMoneda",
        total_itbis3_otra_moneda "TotalITBIS3OtraMoneda",
    );
    let taxes = &amounts.impuestos_adicionales_otra_moneda;
    if there
        .impuestos_adicionales_otra_moneda
        .impuesto_adicional_otra_moneda
        .is_empty()
        && !taxes.impuesto_adicional_otra_moneda.is_empty()
    {
        there.impuestos_adicionales_otra_moneda = taxes.clone();
        filled.count("ImpuestosAdicionalesOtraMoneda");
    }
    let mut summed = there.clone();
    currency::sum_up(&mut summed)?;
    fill!(filled, there, summed;
        monto_gravado_total_otra_moneda "MontoGravadoTotalOtraMoneda",
        total_itbis_otra_moneda "TotalITBISOtraMoneda",
        monto_impuesto_adicional_otra_moneda "MontoImpuestoAdicionalOtraMoneda",
        monto_total_otra_moneda "MontoTotalOtraMoneda",
    );
    Ok(filled.notice(&["Encabezado", "OtraMoneda"]))
}

fn fill_pages(pages: &mut [Pagina], amounts: &[Pagina]) -> Result<Option<Violation>, TooLarge> {
    let mut filled = Filled::default();
    for (page, amounts) in pages.iter_mut().zip(amounts) {
        fill!(filled, page, amounts;
            subtotal_monto_gravado1_pagina "SubtotalMontoGravado1Pagina",
            subtotal_monto_gravado2_pagina "SubtotalMontoGravado2Pagina",
            subtotal_monto_gravado3_pagina "SubtotalMontoGravado3Pagina",
            subtotal_exento_pagina "SubtotalExentoPagina",
            subtotal_itbis1_pagina "SubtotalItbis1Pagina",
            subtotal_itbis2_pagina "SubtotalItbis2Pagina",
            subtotal_itbis3_pagina "SubtotalItbis3Pagina",
            subtotal_monto_no_facturable_pagina "SubtotalMontoNoFacturablePagina",
        );
        fill!(filled, page.subtotal_impuesto_adicional, amounts.subtotal_impuesto_adicional;
            subtotal_impuesto_selectivo_consumo_especifico_pagina "SubtotalImpuestoSelectivoConsumoEspecificoPagina",
            subtotal_otros_impuesto "SubtotalOtrosImpuesto",
        );
        let mut summed = page.clone();
        pages::sum_up(&mut summed)?;
        fill!(filled, page, summed;
            subtotal_monto_gravado_pagina "SubtotalMontoGravadoPagina",
            subtotal_itbis_pagina "SubtotalItbisPagina",
            subtotal_impuesto_adicional_pagina "SubtotalImpuestoAdicionalPagina",
            monto_subtotal_pagina "MontoSubtotalPagina",
        );
    }
    Ok(filled.notice(&["Paginacion"]))
}
