//! Recognizes a file and opens it, within bounds of memory and time.
//!
//! `calamine` trusts what a file says about itself: it reserves memory for the announced number of texts, and unpacks
//! without a limit. So every part is unpacked and counted here before `calamine` sees the file.

use std::io::{Cursor, Read as _};

use calamine::{Reader as _, Xlsx, XlsxError};
use ecf_language::{Bilingual, say};
use quick_xml::events::Event;
use zip::ZipArchive;

use crate::finding::{Finding, Findings, codes};

/// Upper bound of the file. The authority's workbooks have 0.4 MB.
pub const MAX_FILE_BYTES: usize = 5 * 1_024 * 1_024;
/// Upper bound of all parts of the file together, unpacked. The authority's workbooks have 7.2 MB.
pub const MAX_UNPACKED_BYTES: u64 = 32 * 1_024 * 1_024;

/// Upper bound of the part with styles, of which each takes much more memory than its text.
const MAX_STYLES_BYTES: u64 = 1_024 * 1_024;
/// Upper bound of the number of parts; the authority's workbooks have ten.
const MOST_PARTS: usize = 1_000;

const ZIP_MARK: &[u8] = b"PK\x03\x04";
/// OLE compound file: Excel 97 to 2003, or an encrypted package around a newer workbook.
const OLE_MARK: &[u8] = &[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1];

pub(crate) type Book<'b> = Xlsx<Cursor<&'b [u8]>>;

/// What is to be done with a file of another format.
fn save_as() -> Bilingual {
    say!(
        "save it as an Excel workbook (.xlsx)",
        "guárdelo como libro de Excel (.xlsx)"
    )
}

pub(crate) fn open(bytes: &[u8]) -> Result<Book<'_>, Finding> {
    if bytes.len() > MAX_FILE_BYTES {
        let message = say!(
            "the file has {} bytes, at most {MAX_FILE_BYTES} are read: send the workbook as the portal gave it",
            "el archivo tiene {} bytes y se leen {MAX_FILE_BYTES} como máximo: envíe el libro como lo entregó el portal",
            bytes.len()
        );
        return Err(Finding::new(codes::FILE_TOO_LARGE, message));
    }
    if bytes.starts_with(OLE_MARK) {
        return Err(if contains_utf16(bytes, "EncryptedPackage") {
            encrypted()
        } else {
            let save_as = save_as();
            let message = say!(
                [save_as],
                "the file is in the format of Excel 97 to 2003 (.xls): {save_as}",
                "el archivo está en el formato de Excel 97 a 2003 (.xls): {save_as}"
            );
            Finding::new(codes::IS_XLS, message)
        });
    }
    if !bytes.starts_with(ZIP_MARK) {
        return Err(not_zipped(bytes));
    }
    measure(bytes)?;
    Xlsx::new(Cursor::new(bytes)).map_err(|error| unreadable(&error))
}

/// Reads a workbook; a panic is a damaged file. `calamine` panics on some, such as those with the cell A99999999999.
pub(crate) fn guarded<T>(read: impl FnOnce() -> Result<T, Findings>) -> Result<T, Findings> {
    // Nothing that the panic may leave half done outlives the call.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(damaged("its parts contradict each other").into()))
}

/// The finding for what `calamine` refuses.
pub(crate) fn unreadable(error: &XlsxError) -> Finding {
    match error {
        XlsxError::Password => encrypted(),
        other => damaged(&other.to_string()),
    }
}

fn encrypted() -> Finding {
    let message = say!(
        "the workbook is protected by a password: save it without one",
        "el libro está protegido con una contraseña: guárdelo sin ella"
    );
    Finding::new(codes::IS_ENCRYPTED, message)
}

/// The reason is that of the reader, in English.
fn damaged(reason: &str) -> Finding {
    let message = say!(
        "the workbook is damaged ({reason}): download it again from the portal",
        "el libro está dañado ({reason}): descárguelo otra vez del portal"
    );
    Finding::new(codes::DAMAGED, message)
}

fn not_zipped(bytes: &[u8]) -> Finding {
    if bytes.is_empty() {
        let message = say!("the file is empty", "el archivo está vacío");
        return Finding::new(codes::NOT_A_WORKBOOK, message);
    }
    let save_as = save_as();
    let sample = &bytes[..bytes.len().min(4_096)];
    let binary = |byte: &u8| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r');
    if sample.starts_with(b"%PDF") || sample.iter().any(binary) {
        let message = say!(
            [save_as],
            "the file is not an Excel workbook: {save_as}",
            "el archivo no es un libro de Excel: {save_as}"
        );
        return Finding::new(codes::NOT_A_WORKBOOK, message);
    }
    let message = say!(
        [save_as],
        "the file is text, such as CSV, which loses zeros and accents: {save_as}",
        "el archivo es texto, por ejemplo CSV, que pierde ceros y acentos: {save_as}"
    );
    Finding::new(codes::IS_TEXT, message)
}

/// Unpacks every part once without storing it, so that no announced size has to be trusted.
fn measure(bytes: &[u8]) -> Result<(), Finding> {
    let too_large = || {
        let message = say!(
            "the workbook unpacks to more than {MAX_UNPACKED_BYTES} bytes, and is not read",
            "el libro ocupa más de {MAX_UNPACKED_BYTES} bytes al descomprimirse y no se lee"
        );
        Finding::new(codes::UNPACKS_TOO_LARGE, message)
    };
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(&error.to_string()))?;
    if archive.len() > MOST_PARTS {
        return Err(too_large());
    }
    let (mut total, mut is_xlsx) = (0, false);
    for index in 0..archive.len() {
        let part = archive.by_index(index).map_err(|error| damaged(&error.to_string()))?;
        let name = part
            .name()
            .map_err(|error| damaged(&error.to_string()))?
            .to_ascii_lowercase();
        is_xlsx |= name.ends_with("workbook.xml");
        let limit = if name.ends_with("styles.xml") {
            MAX_STYLES_BYTES
        } else {
            MAX_UNPACKED_BYTES - total
        };
        let mut part = part.take(limit + 1);
        let size = if name.ends_with("sharedstrings.xml") {
            let mut text = Vec::new();
            part.read_to_end(&mut text)
                .map_err(|error| damaged(&error.to_string()))?;
            announces_no_more(&text)?;
            text.len() as u64
        } else {
            std::io::copy(&mut part, &mut std::io::sink()).map_err(|error| damaged(&error.to_string()))?
        };
        if size > limit {
            return Err(too_large());
        }
        total += size;
        if total > MAX_UNPACKED_BYTES {
            return Err(too_large());
        }
    }
    if is_xlsx {
        return Ok(());
    }
    let save_as = save_as();
    let message = say!(
        [save_as],
        "the file is an archive and not an Excel workbook: {save_as}",
        "el archivo es un comprimido y no un libro de Excel: {save_as}"
    );
    Err(Finding::new(codes::NOT_A_WORKBOOK, message))
}

/// Refuses shared texts that announce more entries than the part has bytes: `calamine` reserves memory for them.
fn announces_no_more(part: &[u8]) -> Result<(), Finding> {
    let text = std::str::from_utf8(part).map_err(|error| damaged(&error.to_string()))?;
    let mut reader = quick_xml::Reader::from_str(text);
    loop {
        match reader.read_event().map_err(|error| damaged(&error.to_string()))? {
            Event::Start(start) | Event::Empty(start) if start.local_name().as_ref() == "sst" => {
                for attribute in start.attributes() {
                    let attribute = attribute.map_err(|error| damaged(&error.to_string()))?;
                    let announced = attribute.value.trim().parse::<u64>();
                    let is_count = attribute.key.as_ref() == "uniqueCount";
                    if is_count && !announced.is_ok_and(|count| count <= part.len() as u64) {
                        return Err(damaged("its shared texts announce more entries than there are"));
                    }
                }
                return Ok(());
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

fn contains_utf16(bytes: &[u8], word: &str) -> bool {
    let word: Vec<u8> = word.encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes.windows(word.len()).any(|window| window == word)
}
