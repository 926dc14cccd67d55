//! Workbooks that cannot be sent: each gives a clear finding with its place, within bounded memory.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod sheets;

use std::io::{Cursor, Read as _, Write as _};

use ecf_workbook::{Findings, MAX_FILE_BYTES, codes, receipts};
use proptest::prelude::*;
use proptest::sample::Index;
use rust_xlsxwriter::{Format, Formula, Workbook, Worksheet};
use sheets::{Cells, Style, criteria, fill, headers, small, workbook};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// The upper bound of memory for any file. The authority's workbooks take a tenth of it.
const MOST_MEMORY: u64 = 256 * 1_024 * 1_024;

fn refused(bytes: &[u8]) -> Findings {
    let mut read = None;
    let used = allocation_counter::measure(|| read = Some(receipts(bytes, &criteria())));
    assert!(used.bytes_max < MOST_MEMORY, "{} bytes of memory", used.bytes_max);
    read.unwrap().expect_err("the workbook is broken")
}

/// The first finding that stops the run is this one, at this place.
#[track_caller]
fn expect(bytes: &[u8], code: &str, place: &str) {
    let findings = refused(bytes);
    assert!(findings.stop());
    let first = findings.list.iter().find(|finding| finding.code == code);
    let first = first.unwrap_or_else(|| panic!("no {code}: {findings:#?}"));
    let row = first.row.map(|row| row.to_string()).unwrap_or_default();
    let header = first.header.as_deref().unwrap_or_default();
    let sheet = first.sheet.as_deref().unwrap_or_default();
    assert_eq!(format!("{sheet}/{row}/{header}"), place, "{first:#?}");
    assert!(first.message.en.len() > 15, "{first:#?}");
    assert_ne!(first.message.en, first.message.es, "{first:#?}");
    assert_eq!(
        header.is_empty(),
        first.column.is_none() || first.code == codes::NO_HEADER,
        "{first:#?}"
    );
}

/// The small suite after a change of its rows.
fn changed(change: impl FnOnce(&mut Vec<Cells>, &mut Vec<Cells>)) -> Vec<u8> {
    let (_, mut rows, mut summaries) = small();
    change(&mut rows, &mut summaries);
    workbook(&rows, &summaries)
}

/// The small suite after a change of the sheet ECF. `column` finds a header's column.
fn redrawn(change: impl FnOnce(&mut Worksheet, &dyn Fn(&str) -> u16)) -> Vec<u8> {
    let (_, rows, summaries) = small();
    let mut book = Workbook::new();
    let sheet = book.add_worksheet().set_name("ECF").unwrap();
    fill(sheet, &rows, |_, _| Style::Text);
    let headers = headers(&rows);
    let column = |header: &str| {
        let place = headers.iter().position(|other| other == header).unwrap();
        u16::try_from(place).unwrap()
    };
    change(sheet, &column);
    fill(book.add_worksheet().set_name("RFCE").unwrap(), &summaries, |_, _| {
        Style::Text
    });
    book.save_to_buffer().unwrap()
}

/// An archive of these parts.
fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The workbook with one part replaced, or added.
fn patched(bytes: &[u8], name: &str, change: impl FnOnce(String) -> String) -> Vec<u8> {
    let mut zip = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut parts: Vec<(String, Vec<u8>)> = Vec::new();
    for index in 0..zip.len() {
        let mut part = zip.by_index(index).unwrap();
        let mut content = Vec::new();
        part.read_to_end(&mut content).unwrap();
        parts.push((part.name().unwrap().into_owned(), content));
    }
    let part = parts.iter_mut().find(|(other, _)| other == name).unwrap();
    part.1 = change(String::from_utf8(std::mem::take(&mut part.1)).unwrap()).into_bytes();
    let parts: Vec<(&str, &[u8])> = parts
        .iter()
        .map(|(name, content)| (name.as_str(), content.as_slice()))
        .collect();
    archive(&parts)
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn the_small_suite_itself_is_accepted() {
    let (numbered, rows, summaries) = small();
    let suite = receipts(&workbook(&rows, &summaries), &criteria()).unwrap_or_else(|findings| panic!("{findings:#?}"));
    assert_eq!((suite.receipts.len(), suite.summaries.len()), (numbered.len(), 1));
}

#[test]
fn files_that_are_no_workbook() {
    const OLE: &[u8] = &[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1];
    let ole = |stream: &str| [OLE, &[0; 512], &utf16(stream), &[0; 512]].concat();
    let whole = changed(|_, _| {});
    let office = |part: &str| archive(&[("[Content_Types].xml", b"<Types/>"), (part, b"<x/>")]);
    for (bytes, code) in [
        (Vec::new(), codes::NOT_A_WORKBOOK),
        (
            b"CasoPrueba,ENCF\n130000001E310000000001,E310000000001\n".to_vec(),
            codes::IS_TEXT,
        ),
        (
            "\u{feff}Version;Año\r\n1.0;2026\r\n".as_bytes().to_vec(),
            codes::IS_TEXT,
        ),
        (
            b"<html><table><tr><td>ENCF</td></tr></table></html>".to_vec(),
            codes::IS_TEXT,
        ),
        (b"%PDF-1.7\n1 0 obj".to_vec(), codes::NOT_A_WORKBOOK),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec(), codes::NOT_A_WORKBOOK),
        (ole("Workbook"), codes::IS_XLS),
        (ole("EncryptedPackage"), codes::IS_ENCRYPTED),
        (vec![b'x'; 50 * 1_024 * 1_024], codes::FILE_TOO_LARGE),
        ([whole.clone(), vec![0; MAX_FILE_BYTES]].concat(), codes::FILE_TOO_LARGE),
        (office("word/document.xml"), codes::NOT_A_WORKBOOK),
        (office("content.xml"), codes::NOT_A_WORKBOOK),
        (office("xl/workbook.bin"), codes::NOT_A_WORKBOOK),
        (whole[..whole.len() / 2].to_vec(), codes::DAMAGED),
        (b"PK\x03\x04".to_vec(), codes::DAMAGED),
        (
            patched(&whole, "xl/worksheets/sheet1.xml", |xml| {
                xml[..xml.len() / 2].to_owned()
            }),
            codes::DAMAGED,
        ),
        (
            patched(&whole, "xl/workbook.xml", |_| "<workbook>".to_owned()),
            codes::DAMAGED,
        ),
        // A row that no 32 bits hold.
        (
            patched(&whole, "xl/worksheets/sheet1.xml", |xml| {
                xml.replacen("r=\"A2\"", "r=\"A99999999999\"", 1)
            }),
            codes::DAMAGED,
        ),
    ] {
        let findings = refused(&bytes);
        let found: Vec<&str> = findings.list.iter().map(|finding| finding.code).collect();
        assert_eq!(found, [code], "{findings:#?}");
    }
}

/// Small files that unpack to much, or announce much.
#[test]
fn files_that_would_take_much_memory() {
    let whole = changed(|_, _| {});
    let blanks = |count: usize| " ".repeat(count);
    let sheet = "xl/worksheets/sheet1.xml";
    let bomb = patched(&whole, sheet, |xml| {
        xml.replace("<sheetData>", &format!("<sheetData>{}", blanks(60_000_000)))
    });
    assert!(bomb.len() < MAX_FILE_BYTES);
    expect(&bomb, codes::UNPACKS_TOO_LARGE, "//");
    let styles = |_| {
        format!(
            "<styleSheet><cellXfs>{}</cellXfs></styleSheet>",
            "<xf/>".repeat(1_000_000)
        )
    };
    expect(
        &patched(&whole, "xl/styles.xml", styles),
        codes::UNPACKS_TOO_LARGE,
        "//",
    );
    let announced = |_| "<sst uniqueCount=\"99999999999999\"><si><t>a</t></si></sst>".to_owned();
    expect(
        &patched(&whole, "xl/sharedStrings.xml", announced),
        codes::DAMAGED,
        "//",
    );
    let parts: Vec<String> = (0..2_000).map(|index| format!("part{index}.xml")).collect();
    let parts: Vec<(&str, &[u8])> = parts.iter().map(|name| (name.as_str(), b"<x/>".as_slice())).collect();
    expect(&archive(&parts), codes::UNPACKS_TOO_LARGE, "//");
    // Just below the bound on cells, all with content.
    let rows: String = (10..110)
        .map(|row| format!("<row r=\"{row}\">{}</row>", "<c><v>1</v></c>".repeat(16_000)))
        .collect();
    let many = patched(&whole, sheet, |xml| {
        xml.replace("</sheetData>", &format!("{rows}</sheetData>"))
    });
    expect(&many, codes::TOO_MANY_ROWS, "ECF//");
    // One cell at the far corner must not reserve a rectangle.
    let corner = patched(&whole, sheet, |xml| {
        xml.replace(
            "</sheetData>",
            "<row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row></sheetData>",
        )
    });
    expect(&corner, codes::NO_HEADER, "ECF/1048576/");
    let shared = patched(&whole, sheet, |xml| {
        let cell =
            "<row r=\"7\"><c r=\"B7\"><f t=\"shared\" si=\"4294967295\" ref=\"A1:B2\">1</f></c></row></sheetData>";
        xml.replace("</sheetData>", cell)
    });
    refused(&shared);
}

#[test]
fn sheets_and_headers_that_are_wrong() {
    let (_, rows, summaries) = small();
    let named = |first: &str, second: &str| {
        let mut book = Workbook::new();
        fill(book.add_worksheet().set_name(first).unwrap(), &rows, |_, _| Style::Text);
        fill(book.add_worksheet().set_name(second).unwrap(), &summaries, |_, _| {
            Style::Text
        });
        book.save_to_buffer().unwrap()
    };
    expect(&named("Hoja1", "RFCE"), codes::NO_SHEET, "//");
    expect(&named("ECF", "Hoja2"), codes::NO_SHEET, "//");
    let titled = {
        let mut book = Workbook::new();
        let sheet = book.add_worksheet().set_name("ECF").unwrap();
        sheet.write_string(0, 0, "Pruebas").unwrap();
        for (column, header) in (0..).zip(headers(&rows)) {
            sheet.write_string(1, column, &header).unwrap();
        }
        book.save_to_buffer().unwrap()
    };
    expect(&titled, codes::HEADER_SHIFTED, "ECF/2/");
    // The header is one column further right than the rows.
    let right = redrawn(|sheet, _| {
        sheet.clear_cell(0, 0);
        for (column, header) in (1..).zip(headers(&small().1)) {
            sheet.write_string(0, column, &header).unwrap();
        }
    });
    expect(&right, codes::NO_HEADER, "ECF/2/");
    let number = |sheet: &mut Worksheet, column: &dyn Fn(&str) -> u16, with: &str| {
        sheet.write_string(0, column("ENCF"), with).unwrap();
    };
    expect(
        &redrawn(|sheet, column| number(sheet, column, "Número")),
        codes::NO_COLUMN,
        "ECF/1/",
    );
    let misspelt = redrawn(|sheet, column| {
        sheet.write_string(0, column("NombreItem[1]"), "NombreItm[1]").unwrap();
    });
    expect(&misspelt, codes::UNKNOWN_HEADER, "ECF/1/NombreItm[1]");
    let placeholder = changed(|rows, _| {
        rows[0].insert("SubtotalImpuestoAdicionalPaginaTabla[1]".to_owned(), "1.00".to_owned());
    });
    expect(
        &placeholder,
        codes::UNKNOWN_HEADER,
        "ECF/1/SubtotalImpuestoAdicionalPaginaTabla[1]",
    );
    let twice = redrawn(|sheet, column| {
        sheet.write_string(0, column("ZonaVenta"), "montototal").unwrap();
    });
    assert!(
        refused(&twice)
            .list
            .iter()
            .any(|finding| finding.code == codes::HEADER_TWICE)
    );
    expect(&changed(|rows, _| rows.clear()), codes::NO_COLUMN, "ECF/1/");
    let empty = redrawn(|sheet, _| {
        for row in 1..=5 {
            sheet.clear_cell(row, 0);
            for column in 0..u16::try_from(headers(&small().1).len()).unwrap() {
                sheet.clear_cell(row, column);
            }
        }
    });
    expect(&empty, codes::NO_ROWS, "ECF//");
    let long = redrawn(|sheet, _| {
        for row in 6..600 {
            sheet.write_string(row, 0, "x").unwrap();
        }
    });
    expect(&long, codes::TOO_MANY_ROWS, "ECF//");
}

#[test]
fn cells_that_cannot_be_used() {
    const HEADER: &str = "MontoItem[1]";
    let cell = |write: &dyn Fn(&mut Worksheet, u16)| redrawn(|sheet, column| write(sheet, column(HEADER)));
    let formula = |result: &str| {
        let formula = Formula::new("=B2*2").set_result(result);
        cell(&|sheet, column| {
            sheet.write_formula(1, column, formula.clone()).unwrap();
        })
    };
    let without = patched(&formula("NO-VALUE"), "xl/worksheets/sheet1.xml", |xml| {
        assert!(xml.contains("<v>NO-VALUE</v>"));
        xml.replace("<v>NO-VALUE</v>", "")
    });
    expect(&without, codes::FORMULA_WITHOUT_VALUE, "ECF/2/MontoItem[1]");
    expect(&formula("#REF!"), codes::CELL_ERROR, "ECF/2/MontoItem[1]");
    let boolean = cell(&|sheet, column| {
        sheet.write_boolean(1, column, true).unwrap();
    });
    expect(&boolean, codes::WRONG_CELL_TYPE, "ECF/2/MontoItem[1]");
    let date = cell(&|sheet, column| {
        let format = Format::new().set_num_format("dd-mm-yyyy");
        sheet.write_number_with_format(1, column, 45_000.0, &format).unwrap();
    });
    expect(&date, codes::WRONG_CELL_TYPE, "ECF/2/MontoItem[1]");
    let long = cell(&|sheet, column| {
        sheet.write_number(1, column, 1_234_567_890_123_456.0).unwrap();
    });
    expect(&long, codes::DIGITS_LOST, "ECF/2/MontoItem[1]");
    let down = redrawn(|sheet, column| {
        let format = Format::new();
        let column = column(HEADER);
        sheet.merge_range(1, column, 3, column, "20.00", &format).unwrap();
    });
    expect(&down, codes::MERGED, "ECF/2/MontoItem[1]");
    let across = redrawn(|sheet, column| {
        let column = column(HEADER);
        sheet
            .merge_range(1, column - 1, 1, column, "20.00", &Format::new())
            .unwrap();
    });
    assert!(
        refused(&across)
            .list
            .iter()
            .any(|finding| finding.code == codes::MERGED)
    );
    let stray = redrawn(|sheet, _| {
        sheet.write_string(2, 500, "x").unwrap();
    });
    expect(&stray, codes::NO_HEADER, "ECF/3/");
}

#[test]
fn rows_that_the_authority_would_refuse() {
    let set = |header: &'static str, value: &'static str| {
        changed(move |rows, _| {
            rows[0].insert(header.to_owned(), value.to_owned());
        })
    };
    for (header, value, code, at) in [
        ("MontoItem[1]", "20,00", ecf::codes::NOT_A_DECIMAL, "MontoItem[1]"),
        ("MontoItem[1]", "20.005", ecf::codes::TOO_MANY_DECIMALS, "MontoItem[1]"),
        ("TipoeCF", "99", ecf::codes::UNKNOWN_TYPE, "TipoeCF"),
        ("TipoeCF", "31", ecf::codes::NUMBER_OF_OTHER_TYPE, "ENCF"),
        ("FechaEmision", "2026-11-01", ecf::codes::NOT_A_DATE, "FechaEmision"),
        (
            "IndicadorFacturacion[2]",
            "7",
            ecf::codes::NOT_IN_CATALOGUE,
            "IndicadorFacturacion[2]",
        ),
        ("RNCComprador", "13-1996035", ecf::codes::NOT_AN_RNC, "RNCComprador"),
        // Credit notes have no forms of payment.
        ("FormaPago[3]", "1", ecf::codes::NOT_ALLOWED, "FormaPago[3]"),
        ("ENCF", "E34000000001", ecf::codes::NOT_AN_ENCF, "ENCF"),
        ("NCFModificado", "E310000000099", codes::NO_REFERENCE, "NCFModificado"),
        (
            "FechaNCFModificado",
            "31-10-2026",
            codes::OTHER_REFERENCE_DATE,
            "FechaNCFModificado",
        ),
        ("RNCEmisor", "131996035", codes::OTHER_COMPANY, "RNCEmisor"),
        // Line breaks are replaced, so the cell would be changed.
        ("NombreItem[1]", "Ñame\ny yuca", codes::WOULD_DIFFER, "NombreItem[1]"),
    ] {
        let findings = refused(&set(header, value));
        let found = findings.list.iter().find(|finding| finding.code == code);
        let found = found.unwrap_or_else(|| panic!("{header} {value}: no {code}: {findings:#?}"));
        assert_eq!(
            (found.sheet.as_deref(), found.row),
            (Some("ECF"), Some(2)),
            "{found:#?}"
        );
        assert_eq!(found.header.as_deref(), Some(at), "{found:#?}");
        assert!(found.column.is_some() && found.cell.is_some(), "{found:#?}");
    }
    let lost = changed(|rows, _| {
        rows[0].remove("NombreItem[2]");
    });
    // The column still has its header, because other rows use it.
    expect(&lost, ecf::codes::MISSING, "ECF/2/NombreItem[2]");
    let untyped = changed(|rows, _| {
        rows[0].remove("TipoeCF");
    });
    expect(&untyped, ecf::codes::MISSING, "ECF/2/TipoeCF");
    // Nothing is filled in that no cell says.
    let unnumbered = changed(|rows, _| {
        rows[0].remove("NumeroLinea[1]");
    });
    let findings = refused(&unnumbered);
    assert!(
        findings.list.iter().any(|finding| finding.code == codes::WOULD_DIFFER),
        "{findings:#?}"
    );
    let shifted = changed(|rows, _| {
        rows[0].insert("CasoPrueba".to_owned(), "130000001E340000000009".to_owned());
    });
    expect(&shifted, codes::OTHER_KEY, "ECF/2/CasoPrueba");
    let twice = changed(|rows, _| {
        let again = rows[4].clone();
        rows.push(again);
    });
    expect(&twice, codes::NUMBER_TWICE, "ECF/7/ENCF");
    expect(
        &changed(|_, summaries| summaries.truncate(0)),
        codes::NO_COLUMN,
        "RFCE/1/",
    );
    let no_summary = changed(|rows, _| {
        let mut other = rows[2].clone();
        other.insert("ENCF".to_owned(), "E320000000009".to_owned());
        other.insert("CasoPrueba".to_owned(), "130000001E320000000009".to_owned());
        rows.push(other);
    });
    expect(&no_summary, codes::NO_SUMMARY, "ECF/7/ENCF");
    let no_invoice = changed(|rows, _| {
        rows.remove(2);
    });
    expect(&no_invoice, codes::NO_FULL_INVOICE, "RFCE/2/ENCF");
    let total = changed(|_, summaries| {
        summaries[0].insert("MontoTotal".to_owned(), "1.00".to_owned());
    });
    expect(&total, codes::SUMMARY_DIFFERS, "RFCE/2/MontoTotal");
    let coded = changed(|_, summaries| {
        summaries[0].insert("CodigoSeguridadeCF".to_owned(), "abcdef".to_owned());
    });
    expect(&coded, codes::WOULD_DIFFER, "RFCE/2/CodigoSeguridadeCF");
    let circle = changed(|rows, _| {
        rows[0].insert("NCFModificado".to_owned(), "E330000000001".to_owned());
        rows[1].insert("NCFModificado".to_owned(), "E340000000001".to_owned());
    });
    expect(&circle, "REFERENCIA-03", "ECF/2/NCFModificado");
}

/// Pieces that break XML, references and numbers.
const PIECES: [&str; 14] = [
    "",
    "<",
    "</c>",
    "<row r=\"4294967295\">",
    "<c r=\"ZZZZZZ99999999999\"><v>1</v></c>",
    "<c r=\"A4294967296\" t=\"s\"><v>99999999999</v></c>",
    "<c t=\"e\"><v>#NADA</v></c>",
    "<c s=\"99999\"><v>1e308</v></c>",
    "<c><v>NaN</v></c>",
    "<f t=\"shared\" si=\"18446744073709551615\" ref=\"A1:ZZZ9\">A1</f>",
    "<c t=\"inlineStr\"><is><t>&x;</t></is></c>",
    "<mergeCells><mergeCell ref=\"B9:A1\"/></mergeCells>",
    "&#0;",
    "\u{feff}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_damaged_workbook_is_read_or_refused_and_never_panics(
        part in proptest::sample::select(vec![
            "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/workbook.xml", "xl/styles.xml",
            "xl/_rels/workbook.xml.rels", "_rels/.rels",
        ]),
        changes in proptest::collection::vec((any::<Index>(), 0_usize..40, 0..PIECES.len()), 1..4),
    ) {
        let (_, rows, summaries) = small();
        let damaged = patched(&workbook(&rows, &summaries), part, |xml| {
            changes.iter().fold(xml, |xml, (place, length, piece)| {
                let ends: Vec<usize> = xml.char_indices().map(|(end, _)| end).collect();
                let start = ends[place.index(ends.len())];
                let end = ends.iter().copied().find(|end| *end >= start + length).unwrap_or(xml.len());
                format!("{}{}{}", &xml[..start], PIECES[*piece], &xml[end..])
            })
        });
        if let Err(findings) = receipts(&damaged, &criteria()) {
            prop_assert!(findings.stop() && !findings.list.is_empty());
        }
    }
}
