//! Receipts of many lines.

use ecf::{Document, ReceiptType};
use ecf_ri::{Format, Mode};
use serde_json::json;

use crate::paper::{flat, print, print_as, sizes, texts};
use crate::receipts::{issue, long, payload, wide};

/// The amounts after a label on each page; `None` where the label is missing.
fn amounts(pages: &[String], label: &str) -> Vec<Option<i64>> {
    let amount = |page: &String| {
        let lines: Vec<&str> = page.lines().map(str::trim).collect();
        let place = lines.iter().position(|line| *line == label)?;
        lines[place + 1]
            .replace("RD$ ", "")
            .replace([',', '.'], "")
            .parse()
            .ok()
    };
    pages.iter().map(amount).collect()
}

#[test]
fn a_thousand_lines_are_all_there_with_subtotals_on_every_page_but_the_last() {
    let signed = long(1_000);
    let pdf = print(&signed, Format::Letter);
    let pages = texts(&pdf);
    let count = pages.len();
    assert!((20..60).contains(&count), "{count}");
    for (index, page) in pages.iter().enumerate() {
        for words in [
            "FerreNorte",
            "e-NCF:",
            "Descripción",
            "Código de Seguridad:",
            &format!("Página No. {} de {count}", index + 1),
        ] {
            assert!(page.contains(words), "page {}: {words:?} is not in {page}", index + 1);
        }
        let is_last = index + 1 == count;
        assert_eq!(page.contains("Monto Total Página"), !is_last, "page {}", index + 1);
        assert_eq!(page.contains("Subtotal Exento Página"), !is_last);
        assert_eq!(page.lines().any(|line| line.trim() == "Total ITBIS"), is_last);
    }
    let all = pages.concat();
    for line in 1..=1_000 {
        assert!(
            all.contains(&format!("Artículo de catálogo número {line}\n")),
            "line {line}"
        );
    }
    let totales = Document::from_xml(&signed).unwrap().document.encabezado.totales;
    let total: i64 = totales
        .monto_total
        .unwrap()
        .to_string()
        .replace('.', "")
        .parse()
        .unwrap();
    let printed = amounts(&pages, "Monto Total Página");
    let before_last: i64 = printed[..count - 1].iter().map(|amount| amount.unwrap()).sum();
    assert!(
        printed[count - 1].is_none() && before_last < total,
        "{before_last} of {total}"
    );
}

#[test]
fn fifty_seven_lines_take_three_sheets_at_most_whatever_became_of_them() {
    let signed = long(57);
    for format in [Format::Letter, Format::A4] {
        for mode in Mode::ALL {
            let sheets = sizes(&print_as(&signed, format, mode)).len();
            assert!(sheets <= 3, "{format}, {mode:?}: {sheets}");
        }
    }
}

#[test]
fn pages_that_the_receipt_states_are_kept_with_the_subtotals_it_states() {
    let mut stated = payload(ReceiptType::E31);
    stated["Encabezado"]["IdDoc"]["TotalPaginas"] = json!(2);
    stated["Paginacion"] = json!({"Pagina": [
        {"PaginaNo": 1, "NoLineaDesde": 1, "NoLineaHasta": 3},
        {"PaginaNo": 2, "NoLineaDesde": 4, "NoLineaHasta": 4}
    ]});
    let signed = issue(ReceiptType::E31, &stated);
    let pages = texts(&print(&signed, Format::Letter));
    assert_eq!(pages.len(), 2);
    assert!(pages[0].contains("Página No. 1 de 2") && pages[1].contains("Página No. 2 de 2"));
    assert!(pages[0].contains("Agua embotellada") && pages[1].contains("Transporte a la obra"));
    let stated = Document::from_xml(&signed).unwrap().document.paginacion.pagina;
    let expected = stated[0]
        .monto_subtotal_pagina
        .clone()
        .unwrap()
        .to_string()
        .replace('.', "");
    assert_eq!(amounts(&pages, "Monto Total Página"), [expected.parse().ok(), None]);
}

#[test]
fn a_roll_is_one_sheet_as_long_as_it_takes() {
    let short = sizes(&print(&long(3), Format::Roll80));
    let longer = sizes(&print(&long(60), Format::Roll80));
    assert_eq!((short.len(), longer.len()), (1, 1));
    assert!(longer[0].1 > short[0].1 * 2.0);
    assert!((short[0].0 - 226.8).abs() < 0.1);
}

#[test]
fn a_roll_of_a_thousand_lines_goes_over_sheets_that_a_pdf_may_have() {
    let signed = long(1_000);
    let pdf = print(&signed, Format::Roll58);
    let sizes = sizes(&pdf);
    assert!(
        sizes.len() > 1 && sizes.iter().all(|(_, height)| *height <= 14_400.0),
        "{sizes:?}"
    );
    let text = flat(&pdf);
    assert!(text.contains("Artículo de catálogo número 1 ") && text.contains("Artículo de catálogo número 1000 "));
    assert!(text.contains(&format!("Página No. 1 de {}", sizes.len())) && text.contains("Monto Total Página"));
}

#[test]
fn a_line_goes_with_the_totals_to_the_last_page() {
    for lines in 10..40 {
        let pages = texts(&print(&long(lines), Format::Letter));
        let last = pages.last().unwrap();
        assert!(last.contains("Artículo de catálogo número"), "{lines} lines: {last}");
    }
}

#[test]
fn the_longest_names_and_amounts_fit_on_every_paper() {
    let signed = wide();
    for format in Format::ALL {
        let text = flat(&print(&signed, format));
        assert!(
            text.contains("4,444,444,444,444.4444") && text.contains("13,333,333,333,333.32"),
            "{format}: {text}"
        );
    }
}

#[test]
fn a_receipt_with_the_longest_of_everything_is_printed_in_every_mode() {
    let mut longest = payload(ReceiptType::E31);
    let wide = |length: usize| json!("W".repeat(length));
    let header = &mut longest["Encabezado"];
    for (block, name, length) in [
        ("Emisor", "RazonSocialEmisor", 150),
        ("Emisor", "NombreComercial", 149),
        ("Emisor", "Sucursal", 20),
        ("Emisor", "DireccionEmisor", 100),
        ("Emisor", "WebSite", 50),
        ("Emisor", "CodigoVendedor", 60),
        ("Emisor", "InformacionAdicionalEmisor", 250),
        ("Comprador", "RazonSocialComprador", 150),
        ("Comprador", "ContactoComprador", 80),
        ("Comprador", "DireccionComprador", 100),
        ("Comprador", "ContactoEntrega", 100),
        ("Comprador", "DireccionEntrega", 100),
        ("Comprador", "CodigoInternoComprador", 20),
        ("Comprador", "InformacionAdicionalComprador", 150),
        ("InformacionesAdicionales", "NumeroContenedor", 100),
        ("InformacionesAdicionales", "NumeroEmbarque", 25),
        ("Transporte", "Conductor", 20),
        ("Transporte", "NumeroAlbaran", 20),
    ] {
        header[block][name] = wide(length);
    }
    header["Comprador"]["CorreoComprador"] = json!(format!("{}@{}.example", "w".repeat(40), "w".repeat(31)));
    let signed = issue(ReceiptType::E31, &longest);
    for format in Format::ALL {
        for mode in Mode::ALL {
            let text = flat(&print_as(&signed, format, mode));
            assert!(text.contains("Transporte a la obra") && text.contains("Total ITBIS"));
        }
    }
}
