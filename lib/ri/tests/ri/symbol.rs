//! The QR code, read from the image of the page.

use ecf::{Document, Environment, ReceiptType, Stamp, StampHosts};
use ecf_ri::Format;
use rqrr::PreparedImage;

use crate::paper::{Picture, picture, print};
use crate::receipts::{long, receipt};

/// The contents of a page's QR codes, and the position of the first in millimetres: left, top, right, bottom.
fn codes(picture: &Picture, dpi: f32) -> Vec<(String, [f32; 4])> {
    let mut image = PreparedImage::prepare_from_greyscale(picture.width, picture.height, |x, y| {
        picture.pixels[y * picture.width + x]
    });
    let grids = image.detect_grids();
    let read = grids.iter().map(|grid| {
        let (_, content) = grid.decode().unwrap();
        let mm = |pixels: i32| pixels as f32 / dpi * 25.4;
        let [top_left, _, bottom_right, _] = grid.bounds;
        (
            content,
            [mm(top_left.x), mm(top_left.y), mm(bottom_right.x), mm(bottom_right.y)],
        )
    });
    read.collect()
}

/// The resolution of the printers that use this paper.
fn dpi(format: Format) -> f32 {
    if is_roll(format) { 203.2 } else { 300.0 }
}

fn is_roll(format: Format) -> bool {
    format.as_str().starts_with("roll")
}

fn stamp(signed: &[u8]) -> String {
    let document = Document::from_xml(signed).unwrap().document;
    let text = String::from_utf8(signed.to_vec()).unwrap();
    let (_, value) = text.split_once("<SignatureValue>").unwrap();
    let code = &value[..6];
    Stamp::of(&document, Environment::TesteCF, code)
        .unwrap()
        .url(&StampHosts::default())
}

#[test]
fn the_code_of_every_type_on_every_paper_reads_as_its_stamp() {
    for receipt_type in ReceiptType::ALL {
        let signed = receipt(receipt_type);
        let page = if receipt_type == ReceiptType::E32 {
            "https://fc.dgii.gov.do/testecf/consultatimbrefc?"
        } else {
            "https://ecf.dgii.gov.do/testecf/consultatimbre?"
        };
        assert!(stamp(&signed).starts_with(page));
        for format in Format::ALL {
            let found = codes(&picture(&print(&signed, format), 0, dpi(format)), dpi(format));
            let contents: Vec<&str> = found.iter().map(|(content, _)| content.as_str()).collect();
            assert_eq!(contents, [stamp(&signed)], "type {receipt_type} on {format}");
        }
    }
}

#[test]
fn the_code_is_large_enough_free_around_and_away_from_the_edges() {
    let signed = receipt(ReceiptType::E31);
    for format in Format::ALL {
        let dpi = dpi(format);
        let page = picture(&print(&signed, format), 0, dpi);
        let [left, top, right, bottom] = codes(&page, dpi)[0].1;
        assert!(
            right - left >= 21.9 && bottom - top >= 21.9,
            "{format}: {}",
            right - left
        );
        let mm = |pixels: usize| pixels as f32 / dpi * 25.4;
        let [page_width, page_height] = [page.page.0, page.page.1 - page.top].map(|points| points / 72.0 * 25.4);
        if is_roll(format) {
            let middle = page_width / 2.0;
            assert!(((left + right) / 2.0 - middle).abs() < 0.6, "{format}: {left} {right}");
        } else {
            assert!(left >= 19.9 && page_height - bottom >= 20.0, "{left} {bottom}");
        }
        // The three millimetres around the code are blank.
        for (index, shade) in page.pixels.iter().enumerate() {
            let (x, y) = (mm(index % page.width), mm(index / page.width));
            let within =
                |margin: f32| x > left - margin && x < right + margin && y > top - margin && y < bottom + margin;
            assert!(
                !within(2.8) || within(0.3) || *shade > 200,
                "{format}: {shade} at {x} {y}"
            );
        }
    }
}

#[test]
fn the_code_is_on_every_page() {
    let signed = long(120);
    let pdf = print(&signed, Format::Letter);
    let pages = crate::paper::sizes(&pdf).len();
    assert!(pages > 2);
    for page in 0..pages {
        assert_eq!(codes(&picture(&pdf, page, 300.0), 300.0)[0].0, stamp(&signed));
    }
}
