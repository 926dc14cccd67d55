//! `Paginacion`: the pages of the printed representation and their subtotals.

use ecf_language::{Bilingual, say};

use super::finding::{Path, at, id_doc};
use super::{Case, Findings, Rule, ZERO, sum};
use crate::Monto;
use crate::document::Pagina;
use crate::draft::Given;
use crate::violation::Grade;

pub(super) const RULES: &[Rule] = &[
    Rule::rejected(
        "PAGINA-01",
        "format, IdDoc: TotalPaginas",
        "TotalPaginas and Paginacion come together",
        count_and_pages_come_together,
    ),
    Rule::rejected(
        "PAGINA-02",
        "format, IdDoc: TotalPaginas",
        "there are as many pages as TotalPaginas says",
        pages_are_as_many_as_said,
    ),
    Rule::rejected(
        "PAGINA-03",
        "format, Pagina: PaginaNo",
        "pages are numbered 1, 2, 3 and so on",
        pages_are_numbered_without_gaps,
    ),
    Rule::rejected(
        "PAGINA-04",
        "format, Pagina: NoLineaDesde, NoLineaHasta",
        "the pages show every line once and in order",
        pages_show_every_line,
    ),
    Rule::conditional(
        "PAGINA-05",
        "IT §12; format, Pagina",
        "the amounts of a page are those of its lines, give or take one peso for each line of the receipt",
        amounts_follow_the_lines,
    ),
    Rule::conditional(
        "PAGINA-06",
        "IT §12; format, Pagina: MontoSubtotalPagina",
        "the pages add up to MontoTotal, give or take one peso for each line",
        pages_add_up_to_the_total,
    ),
];

fn pages<'a>(case: &Case<'a>) -> &'a [Pagina] {
    &case.document.paginacion.pagina
}

fn page(index: usize, field: &str) -> Path {
    at(&["Paginacion", "Pagina", &index.to_string(), field])
}

fn count_and_pages_come_together(case: &Case<'_>, out: &mut Findings<'_>) {
    let said = case.document.encabezado.id_doc.total_paginas;
    // TotalPaginas must exceed 1, so a single page has no valid number. The number is reported first: if only the page
    // were removed, the number would require pages again.
    if pages(case).len() == 1 {
        let message = say!(
            "TotalPaginas and Paginacion are for receipts of two pages or more, and Paginacion has one Pagina",
            "TotalPaginas y Paginacion son para comprobantes de dos páginas o más, y Paginacion tiene \
             una sola Pagina"
        );
        let path = said.map_or_else(|| at(&["Paginacion"]), |_| id_doc("TotalPaginas"));
        out.forbidden(path, message)
            .expected("neither TotalPaginas nor Paginacion, or all pages");
        return;
    }
    match said {
        Some(count) if pages(case).is_empty() => {
            let message = say!(
                "TotalPaginas is {count}, so Paginacion must list the {count} pages",
                "TotalPaginas es {count}, así que Paginacion debe traer las {count} páginas"
            );
            out.missing(at(&["Paginacion"]), message)
                .expected(format!("{count} Pagina entries, or no TotalPaginas"));
        }
        None if !pages(case).is_empty() => {
            let count = pages(case).len();
            let message = say!(
                "Paginacion lists {count} pages, so TotalPaginas is due",
                "Paginacion trae {count} páginas, así que se debe TotalPaginas"
            );
            out.missing(id_doc("TotalPaginas"), message).expected(count.to_string());
        }
        _ => {}
    }
}

fn pages_are_as_many_as_said(case: &Case<'_>, out: &mut Findings<'_>) {
    let count = pages(case).len();
    let said = case.document.encabezado.id_doc.total_paginas;
    if let Some(said) = said.filter(|said| count > 1 && usize::try_from(*said) != Ok(count)) {
        let message = say!(
            "TotalPaginas is {said}, and Paginacion has {count} Pagina entries",
            "TotalPaginas es {said}, y Paginacion tiene {count} entradas Pagina"
        );
        out.differs(id_doc("TotalPaginas"), said, count, message);
    }
}

fn pages_are_numbered_without_gaps(case: &Case<'_>, out: &mut Findings<'_>) {
    for ((index, given), expected) in pages(case).iter().enumerate().zip(1_u32..) {
        if given.pagina_no != Some(expected) {
            let number = match given.pagina_no {
                Some(number) => Bilingual::same(number.to_string()),
                None => say!("absent", "omitido"),
            };
            let message = say!(
                [number],
                "PaginaNo is {number} on the page that stands at place {expected}",
                "PaginaNo es {number} en la página que está en el lugar {expected}"
            );
            out.differs(page(index, "PaginaNo"), &number.en, expected, message);
        }
    }
}

fn pages_show_every_line(case: &Case<'_>, out: &mut Findings<'_>) {
    let last_line = u32::try_from(case.lines.len()).unwrap_or(u32::MAX);
    let mut next = 1;
    for (index, given) in pages(case).iter().enumerate() {
        let (Some(first), Some(last)) = (given.no_linea_desde, given.no_linea_hasta) else {
            let absent = if given.no_linea_desde.is_none() {
                "NoLineaDesde"
            } else {
                "NoLineaHasta"
            };
            out.missing(
                page(index, absent),
                say!("{absent} is due in every Pagina", "cada Pagina lleva {absent}"),
            );
            return;
        };
        if first != next {
            let message = say!(
                "the page starts with line {first}, the one before ended with {}",
                "la página empieza con la línea {first}, la anterior terminó con la {}",
                next - 1
            );
            out.differs(page(index, "NoLineaDesde"), first, next, message);
            return;
        }
        if last < first || last > last_line {
            let message = say!(
                "the page ends with line {last}, but it starts with {first} and the last line is {last_line}",
                "la página termina con la línea {last}, pero empieza con la {first} y la última línea \
                 es la {last_line}"
            );
            let expected = format!("{first} to {last_line}");
            out.differs(page(index, "NoLineaHasta"), last, expected, message);
            return;
        }
        next = last + 1;
    }
    let ends_early = !pages(case).is_empty() && next <= last_line;
    if ends_early {
        let message = say!(
            "the pages end with line {}, the last line is {last_line}",
            "las páginas terminan con la línea {}, la última línea es la {last_line}",
            next - 1
        );
        let index = pages(case).len() - 1;
        out.differs(page(index, "NoLineaHasta"), next - 1, last_line, message);
    }
}

/// Reads one amount of a page.
type Pick = fn(&Pagina) -> Option<&Monto>;

/// Parts come before their sums.
const AMOUNTS: [(&str, Pick); 11] = [
    ("SubtotalMontoGravado1Pagina", |page| {
        page.subtotal_monto_gravado1_pagina.as_ref()
    }),
    ("SubtotalMontoGravado2Pagina", |page| {
        page.subtotal_monto_gravado2_pagina.as_ref()
    }),
    ("SubtotalMontoGravado3Pagina", |page| {
        page.subtotal_monto_gravado3_pagina.as_ref()
    }),
    ("SubtotalMontoGravadoPagina", |page| {
        page.subtotal_monto_gravado_pagina.as_ref()
    }),
    ("SubtotalExentoPagina", |page| page.subtotal_exento_pagina.as_ref()),
    ("SubtotalItbis1Pagina", |page| page.subtotal_itbis1_pagina.as_ref()),
    ("SubtotalItbis2Pagina", |page| page.subtotal_itbis2_pagina.as_ref()),
    ("SubtotalItbis3Pagina", |page| page.subtotal_itbis3_pagina.as_ref()),
    ("SubtotalItbisPagina", |page| page.subtotal_itbis_pagina.as_ref()),
    ("SubtotalImpuestoAdicionalPagina", |page| {
        page.subtotal_impuesto_adicional_pagina.as_ref()
    }),
    ("MontoSubtotalPagina", |page| page.monto_subtotal_pagina.as_ref()),
];

fn amounts_follow_the_lines(case: &Case<'_>, out: &mut Findings<'_>) {
    if !case.sums_are_known {
        return;
    }
    for (index, (given, computed)) in pages(case).iter().zip(&case.computed.pages).enumerate() {
        // Without a range, the content of the page is unknown.
        if given.no_linea_desde.is_none() || given.no_linea_hasta.is_none() {
            continue;
        }
        let as_given = case.given.and_then(|given| given.pages().get(index));
        let mut is_refused = false;
        for (name, pick) in AMOUNTS {
            let Some(stated) = pick(given) else { continue };
            let was_given = as_given.is_none_or(|page| pick(page).is_some());
            // A sum that was computed from refused amounts is not a second mistake.
            if !was_given && is_refused {
                continue;
            }
            let expected = pick(computed).map_or(ZERO, Monto::value);
            let found = out.of_given(was_given).tolerated(
                || page(index, name),
                stated.value(),
                &[expected],
                case.tolerance,
                &say!(
                    "{name} is not what the lines of the page give",
                    "{name} no es lo que dan las líneas de la página"
                ),
            );
            is_refused |= found.is_some_and(|finding| finding.grade() > Grade::Notice);
        }
    }
}

fn pages_add_up_to_the_total(case: &Case<'_>, out: &mut Findings<'_>) {
    let sum_of_pages = sum(pages(case).iter().map(|page| page.monto_subtotal_pagina.as_ref()));
    let Some((pages, total)) = sum_of_pages.zip(case.monto_total()) else {
        return;
    };
    let as_given = case.given.map_or_else(|| self::pages(case), Given::pages);
    let was_given = as_given.iter().all(|page| page.monto_subtotal_pagina.is_some());
    out.of_given(was_given).tolerated(
        || at(&["Paginacion"]),
        pages,
        &[total],
        case.tolerance,
        &say!(
            "the MontoSubtotalPagina do not add up to MontoTotal",
            "los MontoSubtotalPagina no suman MontoTotal"
        ),
    );
}
