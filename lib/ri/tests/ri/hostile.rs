//! Hostile names are printed as plain text; unsigned content is not printed.

use ecf::{Environment, ReceiptType, StampHosts};
use ecf_ri::{Color, Design, Format, Logo, LogoError, Mode, Options, RiError, render};
use serde_json::json;

use crate::paper::{flat, images, print, texts, try_print};
use crate::receipts::{issue, payload, receipt};

#[test]
fn hostile_names_are_plain_text() {
    let mut hostile = payload(ReceiptType::E31);
    hostile["Encabezado"]["Comprador"]["RazonSocialComprador"] =
        json!("Total\u{202e}00.0 DOP\u{202c} <b>&amp;</b> (x) Tj \\) endobj");
    hostile["DetallesItems"]["Item"][0]["NombreItem"] = json!("Café ☕👨‍👩‍👧 \u{200b}\u{feff}y 東京");
    let signed = issue(ReceiptType::E31, &hostile);
    for format in Format::ALL {
        let text = flat(&print(&signed, format));
        assert!(text.contains("Total00.0 DOP <b>&amp;</b> (x) Tj \\) endobj"), "{text}");
        assert!(text.contains("Café \u{fffd} y \u{fffd}"), "{text}");
    }
}

#[test]
fn a_changed_or_unsigned_receipt_is_not_printed() {
    let signed = String::from_utf8(receipt(ReceiptType::E31)).unwrap();
    let changed = signed.replace("Cemento gris", "Cemento caro");
    assert_ne!(signed, changed);
    let error = try_print(changed.as_bytes(), Format::Letter, Mode::Accepted, &Design::default()).unwrap_err();
    assert!(matches!(error, RiError::Signature(_)), "{error}");
    for bytes in [&b""[..], b"<ECF/>", b"%PDF-1.7", &signed.as_bytes()[..signed.len() / 2]] {
        let error = try_print(bytes, Format::Roll80, Mode::Accepted, &Design::default()).unwrap_err();
        assert!(matches!(error, RiError::Signature(_)), "{error}");
    }
}

#[test]
fn signed_xml_that_is_no_receipt_is_not_printed() {
    let print = |xml: &str| {
        let signed = crate::receipts::sign(xml.as_bytes());
        try_print(&signed, Format::Letter, Mode::Accepted, &Design::default()).unwrap_err()
    };
    assert!(matches!(print("<RFCE></RFCE>"), RiError::Document(_)));
    let error = print("<ECF><Encabezado><IdDoc><TipoeCF>31</TipoeCF></IdDoc></Encabezado></ECF>");
    let RiError::Incomplete { paths } = error else {
        panic!("{error}")
    };
    assert!(paths.contains(&"FechaHoraFirma".to_owned()), "{paths:?}");
}

#[test]
fn an_address_that_no_code_holds_is_told() {
    let hosts = StampHosts {
        ecf: format!("https://{}", "x".repeat(3_000)),
        ..StampHosts::default()
    };
    let options = Options {
        environment: Environment::Ecf,
        hosts: &hosts,
        format: Format::Letter,
        mode: Mode::Accepted,
        design: &Design::default(),
    };
    let error = render(&receipt(ReceiptType::E31), &options).unwrap_err();
    assert!(matches!(error, RiError::AddressTooLong { .. }), "{error}");
}

/// A PNG of one colour, written by hand: one stored block, so that no encoder is needed.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |kind: &[u8; 4], data: &[u8]| {
        out.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
        out.extend(kind);
        out.extend(data);
        let checked: Vec<u8> = kind.iter().chain(data).copied().collect();
        out.extend(crc(&checked).to_be_bytes());
    };
    let mut head = Vec::new();
    head.extend(width.to_be_bytes());
    head.extend(height.to_be_bytes());
    head.extend([8, 2, 0, 0, 0]);
    chunk(b"IHDR", &head);
    let rows = vec![0_u8; (height * (1 + 3 * width)) as usize];
    let length = u16::try_from(rows.len()).unwrap();
    let mut data = vec![0x78, 0x01, 0x01];
    data.extend(length.to_le_bytes());
    data.extend((!length).to_le_bytes());
    data.extend(&rows);
    data.extend([0x00, 0x00]);
    // Adler-32 of zeros: the first sum stays one, the second counts the bytes.
    let adler = (u32::from(length) % 65_521) << 16 | 1;
    data.truncate(data.len() - 2);
    data.extend(adler.to_be_bytes());
    chunk(b"IDAT", &data);
    chunk(b"IEND", &[]);
    out
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 }
        })
    })
}

#[test]
fn a_logo_is_printed_and_a_damaged_one_is_refused_before() {
    let good = png(60, 30);
    let design = Design {
        logo: Some(Logo::read(&good).unwrap()),
        color: Color::new(0x1f, 0x3a, 0x5f),
        footer: None,
    };
    let signed = receipt(ReceiptType::E31);
    for format in Format::ALL {
        let with = try_print(&signed, format, Mode::Accepted, &design).unwrap();
        let without = print(&signed, format);
        assert_eq!(texts(&with), texts(&without));
        assert_eq!((images(&with), images(&without)), (1, 0));
    }
    let mut damaged = good.clone();
    damaged.truncate(good.len() / 2);
    assert!(matches!(Logo::read(&damaged), Err(LogoError::Unusable { .. })));
    let mut huge = good;
    huge[16..20].copy_from_slice(&30_000_u32.to_be_bytes());
    assert!(matches!(
        Logo::read(&huge),
        Err(LogoError::Pixels { width: 30_000, .. } | LogoError::Unusable { .. })
    ));
}
