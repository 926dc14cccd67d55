//! Workbooks that cannot be sent: a clear answer each, and nothing is stored or sent.

use std::io::{Cursor, Write as _};

use ecf_testkit::Queue;
use rust_xlsxwriter::{Workbook, Worksheet};
use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::sheets::{Cells, Style, fill, headers, small, workbook};
use crate::{RUNS, World};

fn changed(change: impl FnOnce(&mut Vec<Cells>, &mut Vec<Cells>)) -> Vec<u8> {
    let (_, mut rows, mut summaries) = small();
    change(&mut rows, &mut summaries);
    workbook(&rows, &summaries)
}

fn redrawn(change: impl FnOnce(&mut Worksheet, &[String])) -> Vec<u8> {
    let (_, rows, summaries) = small();
    let mut book = Workbook::new();
    let sheet = book.add_worksheet().set_name("ECF").unwrap();
    fill(sheet, &rows, |_, _| Style::Text);
    change(sheet, &headers(&rows));
    fill(book.add_worksheet().set_name("RFCE").unwrap(), &summaries, |_, _| {
        Style::Text
    });
    book.save_to_buffer().unwrap()
}

fn column(headers: &[String], header: &str) -> u16 {
    let place = headers.iter().position(|other| other == header).unwrap();
    u16::try_from(place).unwrap()
}

fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Twenty workbooks, each with the code of its first finding.
fn broken() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    const OLE: &[u8] = &[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1];
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let ole = |stream: &str| [OLE, &[0; 512], &utf16(stream), &[0; 512]].concat();
    let whole = changed(|_, _| {});
    let renamed = |name: &str| {
        let (_, rows, summaries) = small();
        let mut book = Workbook::new();
        fill(book.add_worksheet().set_name(name).unwrap(), &rows, |_, _| Style::Text);
        fill(book.add_worksheet().set_name("RFCE").unwrap(), &summaries, |_, _| {
            Style::Text
        });
        book.save_to_buffer().unwrap()
    };
    let error = redrawn(|sheet, headers| {
        let formula = rust_xlsxwriter::Formula::new("=B2*2").set_result("#REF!");
        sheet
            .write_formula(1, column(headers, "MontoItem[1]"), formula)
            .unwrap();
    });
    let date = redrawn(|sheet, headers| {
        let format = rust_xlsxwriter::Format::new().set_num_format("dd-mm-yyyy");
        let place = column(headers, "MontoItem[1]");
        sheet.write_number_with_format(1, place, 45_000.0, &format).unwrap();
    });
    let merged = redrawn(|sheet, headers| {
        let place = column(headers, "MontoItem[1]");
        let format = rust_xlsxwriter::Format::new();
        sheet.merge_range(1, place, 2, place, "10.00", &format).unwrap();
    });
    vec![
        ("csv", b"CasoPrueba,ENCF\n1,E310000000001\n".to_vec(), "LIBRO-02"),
        ("html", b"<html><table></table></html>".to_vec(), "LIBRO-02"),
        ("xls", ole("Workbook"), "LIBRO-03"),
        ("password", ole("EncryptedPackage"), "LIBRO-04"),
        ("pdf", b"%PDF-1.7\n1 0 obj".to_vec(), "LIBRO-05"),
        ("docx", archive(&[("word/document.xml", b"<x/>")]), "LIBRO-05"),
        ("cut", whole[..whole.len() / 2].to_vec(), "LIBRO-06"),
        ("missing sheet", renamed("Hoja1"), "HOJA-01"),
        (
            "shifted header",
            redrawn(|sheet, headers| {
                sheet.clear_cell(0, 0);
                for (place, header) in (1..).zip(headers) {
                    sheet.write_string(0, place, header).unwrap();
                }
            }),
            "CELDA-06",
        ),
        (
            "missing column",
            redrawn(|sheet, headers| {
                sheet.write_string(0, column(headers, "ENCF"), "Número").unwrap();
            }),
            "HOJA-03",
        ),
        (
            "unknown header",
            redrawn(|sheet, headers| {
                sheet
                    .write_string(0, column(headers, "NombreItem[1]"), "NombreItm[1]")
                    .unwrap();
            }),
            "HOJA-04",
        ),
        ("formula with an error", error, "CELDA-02"),
        ("merged", merged, "CELDA-03"),
        (
            "key of another row",
            changed(|rows, _| {
                rows[4].insert("CasoPrueba".into(), "130000001E310000000008".into());
            }),
            "FILA-01",
        ),
        ("number twice", changed(|rows, _| rows.push(rows[4].clone())), "FILA-02"),
        (
            "no invoice of a note",
            changed(|rows, _| {
                rows.remove(4);
            }),
            "FILA-03",
        ),
        ("no summary", changed(|_, summaries| summaries.clear()), "HOJA-03"),
        (
            "summary of nothing",
            changed(|rows, _| {
                rows.remove(2);
            }),
            "FILA-06",
        ),
        ("wrong type", date, "CELDA-04"),
        (
            "another company",
            changed(|rows, _| {
                rows[4].insert("RNCEmisor".into(), "131880681".into());
            }),
            "FILA-08",
        ),
    ]
}

#[tokio::test]
async fn twenty_broken_workbooks_are_refused_with_their_place_and_nothing_is_sent() {
    let world = World::start().await;
    let broken = broken();
    assert_eq!(broken.len(), 20);
    for (name, bytes, code) in broken {
        let refused = world.begin(name, &bytes, None).await.expect(422);
        let findings = refused["detail"].as_array().unwrap();
        let codes: Vec<_> = findings.iter().map(|finding| finding["ctx"]["code"].clone()).collect();
        assert!(codes.contains(&json!(code)), "{name}: {refused:#}");
        for finding in findings {
            assert_eq!(finding["loc"], json!(["body", "workbook"]), "{name}");
            assert!(finding["msg"].as_str().unwrap().len() > 15, "{name}: {finding}");
        }
    }
    // Fifty megabytes are refused before they are read.
    let large = world.begin("50 MB", &vec![b'x'; 50 * 1_024 * 1_024], None).await;
    large.expect(413);
    // The workbook of approvals is judged too.
    let refused = world
        .begin("approvals", &crate::small(), Some(b"a,b\n1,2\n"))
        .await
        .expect(422);
    assert_eq!(refused["detail"][0]["loc"], json!(["body", "approvals"]), "{refused:#}");
    let list = world.get(RUNS).await.expect(200);
    assert_eq!(list["total"], 0);
    assert!(world.stack.take_messages(Queue::Certification).await.is_empty());
    assert!(world.stack.objects("workbook").await.is_empty());
}
