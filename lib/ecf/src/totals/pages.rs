//! The subtotals of the printed pages. Each page is rounded separately. The last page with an amount takes the rounding
//! difference, so that the pages add up to the header.

use std::ops::Range;

use rust_decimal::Decimal;

use super::Computed;
use super::entries::Adjustments;
use super::exact::{Exact as _, ITBIS1, ITBIS2, TooLarge, sum};
use super::header::sum_of;
use super::lines::{monto, value};
use super::sums::Sums;
use super::taxes::Shares;
use crate::Monto;
use crate::document::{Document, Pagina, SubtotalImpuestoAdicional, Totales};

/// The subtotals that are not sums of others.
const PARTS: usize = 10;
const GRAVADO: [usize; 3] = [0, 1, 2];
const EXENTO: usize = 3;
const ITBIS: [usize; 3] = [4, 5, 6];
const ISC: usize = 7;
const OTROS: usize = 8;
const NO_FACTURABLE: usize = 9;

type Parts = [Option<Monto>; PARTS];

pub(super) fn compute(
    document: &Document,
    computed: &Computed,
    sums: &Sums,
    adjustments: &Adjustments,
    shares: Shares,
) -> Result<Vec<Pagina>, TooLarge> {
    let stated = &document.paginacion.pagina;
    if stated.is_empty() {
        return Ok(Vec::new());
    }
    let lines = &computed.lines;
    let whole = of_header(&computed.totales)?;
    let ranges: Vec<Range<usize>> = stated.iter().map(|page| range(page, lines.len())).collect();
    let mut pages = Vec::with_capacity(ranges.len());
    for range in &ranges {
        let page = Sums::of(&lines[range.clone()])?;
        pages.push(of_page(&page, sums, adjustments, shares, &whole)?);
    }
    if covers(&ranges, lines.len()) {
        for (part, total) in whole.iter().enumerate() {
            if let Some(total) = total {
                give_remainder(&mut pages, stated, part, total)?;
            }
        }
    }
    pages
        .iter()
        .zip(stated)
        .map(|(parts, stated)| pagina(parts, stated))
        .collect()
}

/// The indexes of the lines of a page.
fn range(page: &Pagina, lines: usize) -> Range<usize> {
    let (Some(first), Some(last)) = (page.no_linea_desde, page.no_linea_hasta) else {
        return 0..0;
    };
    let last = (last as usize).min(lines);
    let first = (first as usize).saturating_sub(1).min(last);
    first..last
}

/// Whether each line is on exactly one page, in order. Otherwise the pages need not add up to the header.
fn covers(ranges: &[Range<usize>], lines: usize) -> bool {
    let end = ranges
        .iter()
        .try_fold(0, |end, range| (range.start == end).then_some(range.end));
    end == Some(lines)
}

/// The parts in the header.
fn of_header(totales: &Totales) -> Result<Parts, TooLarge> {
    let taxes = &totales.impuestos_adicionales.impuesto_adicional;
    let (mut isc, mut otros) = (None, None);
    for tax in taxes {
        let (specific, ad_valorem) = (
            &tax.monto_impuesto_selectivo_consumo_especifico,
            &tax.monto_impuesto_selectivo_consumo_advalorem,
        );
        isc = sum_of([&isc, specific, ad_valorem])?;
        otros = sum_of([&otros, &tax.otros_impuestos_adicionales])?;
    }
    Ok([
        totales.monto_gravado_i1.clone(),
        totales.monto_gravado_i2.clone(),
        totales.monto_gravado_i3.clone(),
        totales.monto_exento.clone(),
        totales.total_itbis1.clone(),
        totales.total_itbis2.clone(),
        totales.total_itbis3.clone(),
        isc,
        otros,
        totales.monto_no_facturable.clone(),
    ])
}

/// The parts of one page. Global discounts and surcharges are distributed over the affected lines in proportion to
/// their amounts.
fn of_page(
    page: &Sums,
    whole_sums: &Sums,
    adjustments: &Adjustments,
    shares: Shares,
    whole: &Parts,
) -> Result<Parts, TooLarge> {
    let mut exact: [Option<Decimal>; PARTS] = [None; PARTS];
    for (group, gross) in page.groups.iter().enumerate().filter(|(_, gross)| !gross.is_empty()) {
        let all = whole_sums.groups[group].stated()?;
        let adjustment = adjustments.groups[group];
        let share = if all.is_zero() || adjustment.is_zero() {
            Decimal::ZERO
        } else {
            adjustment.times(gross.stated()?)?.over(all)?
        };
        let part = if group == 0 { NO_FACTURABLE } else { group - 1 };
        exact[part] = Some(gross.exact()?.plus(share)?);
    }
    for tax in &page.taxes {
        let part = if tax.tipo.in_itbis_base() { ISC } else { OTROS };
        exact[part] = Some(exact[part].unwrap_or_default().plus(tax.exact(shares)?)?);
    }
    if let Some(base) = exact[GRAVADO[0]] {
        exact[ITBIS[0]] = Some(base.plus(exact[ISC].unwrap_or_default())?.percent(ITBIS1)?);
    }
    exact[ITBIS[1]] = exact[GRAVADO[1]].map(|base| base.percent(ITBIS2)).transpose()?;
    exact[ITBIS[2]] = exact[GRAVADO[2]].map(|_| Decimal::ZERO);
    let mut parts = Parts::default();
    for (part, exact) in parts
        .iter_mut()
        .zip(exact)
        .zip(whole)
        .filter(|(_, whole)| whole.is_some())
        .map(|(pair, _)| pair)
    {
        *part = exact.map(monto).transpose()?;
    }
    Ok(parts)
}

/// The stated amount of a part.
fn stated_part(page: &Pagina, part: usize) -> Option<&Monto> {
    let additional = &page.subtotal_impuesto_adicional;
    let parts: [&Option<Monto>; PARTS] = [
        &page.subtotal_monto_gravado1_pagina,
        &page.subtotal_monto_gravado2_pagina,
        &page.subtotal_monto_gravado3_pagina,
        &page.subtotal_exento_pagina,
        &page.subtotal_itbis1_pagina,
        &page.subtotal_itbis2_pagina,
        &page.subtotal_itbis3_pagina,
        &additional.subtotal_impuesto_selectivo_consumo_especifico_pagina,
        &additional.subtotal_otros_impuesto,
        &page.subtotal_monto_no_facturable_pagina,
    ];
    parts[part].as_ref()
}

fn give_remainder(pages: &mut [Parts], stated: &[Pagina], part: usize, total: &Monto) -> Result<(), TooLarge> {
    let last = pages
        .iter()
        .rposition(|page| page[part].is_some())
        .unwrap_or(pages.len() - 1);
    let others = pages.iter().zip(stated).enumerate().filter(|(index, _)| *index != last);
    let others = sum(others.map(|(_, (page, stated))| value(stated_part(stated, part).or(page[part].as_ref()))))?;
    pages[last][part] = Some(monto(total.value().minus(others)?)?);
    Ok(())
}

fn pagina(parts: &Parts, stated: &Pagina) -> Result<Pagina, TooLarge> {
    // The schema requires an additional tax to be more than zero.
    let positive = |part: usize| parts[part].clone().filter(|amount| *amount > Monto::zero());
    let part = |part: usize| parts[part].clone();
    let mut page = Pagina {
        pagina_no: stated.pagina_no,
        no_linea_desde: stated.no_linea_desde,
        no_linea_hasta: stated.no_linea_hasta,
        subtotal_monto_gravado1_pagina: part(GRAVADO[0]),
        subtotal_monto_gravado2_pagina: part(GRAVADO[1]),
        subtotal_monto_gravado3_pagina: part(GRAVADO[2]),
        subtotal_exento_pagina: part(EXENTO),
        subtotal_itbis1_pagina: part(ITBIS[0]),
        subtotal_itbis2_pagina: part(ITBIS[1]),
        subtotal_itbis3_pagina: part(ITBIS[2]),
        subtotal_impuesto_adicional: SubtotalImpuestoAdicional {
            subtotal_impuesto_selectivo_consumo_especifico_pagina: positive(ISC),
            subtotal_otros_impuesto: positive(OTROS),
        },
        subtotal_monto_no_facturable_pagina: part(NO_FACTURABLE),
        ..Pagina::default()
    };
    sum_up(&mut page)?;
    Ok(page)
}

/// Computes the sums of a page from the parts that are present; stated sums do not change.
pub(super) fn sum_up(page: &mut Pagina) -> Result<(), TooLarge> {
    let fill = |field: &mut Option<Monto>, amount: Option<Monto>| {
        if field.is_none() {
            *field = amount;
        }
    };
    let taxed = sum_of([
        &page.subtotal_monto_gravado1_pagina,
        &page.subtotal_monto_gravado2_pagina,
        &page.subtotal_monto_gravado3_pagina,
    ])?;
    let itbis = sum_of([
        &page.subtotal_itbis1_pagina,
        &page.subtotal_itbis2_pagina,
        &page.subtotal_itbis3_pagina,
    ])?;
    let additional = &page.subtotal_impuesto_adicional;
    let additional = sum_of([
        &additional.subtotal_impuesto_selectivo_consumo_especifico_pagina,
        &additional.subtotal_otros_impuesto,
    ])?;
    fill(&mut page.subtotal_monto_gravado_pagina, taxed);
    fill(&mut page.subtotal_itbis_pagina, itbis);
    fill(&mut page.subtotal_impuesto_adicional_pagina, additional);
    let total = sum_of([
        &page.subtotal_monto_gravado_pagina,
        &page.subtotal_exento_pagina,
        &page.subtotal_itbis_pagina,
        &page.subtotal_impuesto_adicional_pagina,
    ])?;
    fill(&mut page.monto_subtotal_pagina, Some(total.unwrap_or_else(Monto::zero)));
    Ok(())
}
