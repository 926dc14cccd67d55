//! Files that were handled as text. Each kind of damage leaves a pattern that no intact file has.

use ecf_language::{Bilingual, say};

use super::P12Error;

/// The beginning of `1.2.840.113549`, an object identifier in every file, without its last byte: a CR.
const RSADSI: [u8; 5] = [0x2A, 0x86, 0x48, 0x86, 0xF7];
/// The end of a bag's identifier, `113549.1.12.10.1`, whose 10 is a LF: after LF became CR LF, and after LF became CR.
const BAG_WITH_CR_LF: [u8; 7] = [0xF7, b'\r', 1, 12, b'\r', b'\n', 1];
const BAG_WITH_CR: [u8; 6] = [0xF7, b'\r', 1, 12, b'\r', 1];
/// From this size on, an intact file has a zero byte: in its version numbers, parameters or random bytes.
const ALWAYS_HAS_A_NUL: usize = 256;

/// The damage of a file that does not open, if its pattern is known.
pub(super) fn of(file: &[u8]) -> Option<P12Error> {
    let replacements = file.windows(3).filter(|window| window == b"\xEF\xBF\xBD").count();
    if replacements > 2 {
        return Some(P12Error::MangledAsText { replacements });
    }
    // A SEQUENCE with a length of more than one byte.
    let [0x30, 0x80..=0xFF, ..] = file else { return None };
    // Keys and signatures are random bytes, which are not valid UTF-8 by chance.
    if std::str::from_utf8(file).is_ok() {
        return Some(P12Error::MangledAsUtf8);
    }
    if let Some(change) = changed_line_ends(file) {
        return Some(P12Error::MangledLineEnds { change });
    }
    (file.len() >= ALWAYS_HAS_A_NUL && !file.contains(&0)).then_some(P12Error::MangledWithoutNuls)
}

fn changed_line_ends(file: &[u8]) -> Option<Bilingual> {
    let at = file.windows(RSADSI.len()).position(|window| window == RSADSI)?;
    match file[at + RSADSI.len()..] {
        [b'\r', b'\n', 1, ..] => return Some(say!("CR became CR LF", "CR pasó a CR LF")),
        [b'\n', 1, ..] => return Some(say!("CR became LF", "CR pasó a LF")),
        [1, ..] => return Some(say!("every CR was left out", "se omitió cada CR")),
        _ => {}
    }
    let has = |bag: &[u8]| file.windows(bag.len()).any(|window| window == bag);
    if has(&BAG_WITH_CR_LF) {
        return Some(say!("LF became CR LF", "LF pasó a CR LF"));
    }
    if has(&BAG_WITH_CR) {
        return Some(say!("LF became CR", "LF pasó a CR"));
    }
    let line_feeds = file.iter().filter(|&&byte| byte == b'\n').count();
    let pairs = file.windows(2).filter(|window| window == b"\r\n").count();
    if line_feeds > 2 && line_feeds == pairs {
        return Some(say!("LF became CR LF", "LF pasó a CR LF"));
    }
    // Bytes are missing, but not at the end.
    let lacks_few = missing(file).is_some_and(|missing| (1..=8).contains(&missing));
    (lacks_few && line_feeds > 0 && pairs == 0 && has_its_end(file)).then(|| say!("CR LF became LF", "CR LF pasó a LF"))
}

/// The difference between the length in the file's header and its actual length, in bytes.
fn missing(file: &[u8]) -> Option<usize> {
    match *file {
        [0x30, 0x82, high, low, ..] => (4 + usize::from(u16::from_be_bytes([high, low]))).checked_sub(file.len()),
        _ => None,
    }
}

/// Whether the file ends with the salt and iteration count of an integrity check.
fn has_its_end(file: &[u8]) -> bool {
    let ends_with = |salt: u8, count: u8| {
        let (salt_length, count_length) = (usize::from(salt), usize::from(count));
        let end = file.len().checked_sub(salt_length + count_length + 4);
        let end = end.map(|at| file.split_at(at).1);
        end.is_some_and(|end| end.starts_with(&[0x04, salt]) && end[2 + salt_length..].starts_with(&[0x02, count]))
    };
    [8, 16, 20]
        .iter()
        .any(|&salt| (1..=3).any(|count| ends_with(salt, count)))
}
