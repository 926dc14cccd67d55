//! Files that something handled as text on their way. Each kind of damage leaves a pattern that no intact file has.

use super::P12Error;

/// `1.2.840.113549`, the beginning of an object identifier in every file, up to its last byte: a CR.
const RSADSI: [u8; 5] = [0x2A, 0x86, 0x48, 0x86, 0xF7];
/// The end of the identifier of a bag, `113549.1.12.10.1`, whose 10 is a LF: with a CR before it, and with a CR in its place.
const BAG_WITH_CR_LF: [u8; 7] = [0xF7, b'\r', 1, 12, b'\r', b'\n', 1];
const BAG_WITH_CR: [u8; 6] = [0xF7, b'\r', 1, 12, b'\r', 1];
/// An intact file of this size has a zero byte: in its version numbers, parameters and random bytes.
const ALWAYS_HAS_A_NUL: usize = 256;

/// What happened to a file that does not open.
pub(super) fn of(file: &[u8]) -> Option<P12Error> {
    let replacements = file.windows(3).filter(|window| window == b"\xEF\xBF\xBD").count();
    if replacements > 2 {
        return Some(P12Error::MangledAsText { replacements });
    }
    // SEQUENCE, and a length of more than one byte.
    let [0x30, 0x80..=0xFF, ..] = file else { return None };
    // Keys and signatures are random bytes, which are never UTF-8 by chance.
    if std::str::from_utf8(file).is_ok() {
        return Some(P12Error::MangledAsUtf8);
    }
    if let Some(change) = changed_line_ends(file) {
        return Some(P12Error::MangledLineEnds { change });
    }
    (file.len() >= ALWAYS_HAS_A_NUL && !file.contains(&0)).then_some(P12Error::MangledWithoutNuls)
}

fn changed_line_ends(file: &[u8]) -> Option<&'static str> {
    let at = file.windows(RSADSI.len()).position(|window| window == RSADSI)?;
    match file[at + RSADSI.len()..] {
        [b'\r', b'\n', 1, ..] => return Some("CR became CR LF"),
        [b'\n', 1, ..] => return Some("CR became LF"),
        [1, ..] => return Some("every CR was left out"),
        _ => {}
    }
    let has = |bag: &[u8]| file.windows(bag.len()).any(|window| window == bag);
    if has(&BAG_WITH_CR_LF) {
        return Some("LF became CR LF");
    }
    if has(&BAG_WITH_CR) {
        return Some("LF became CR");
    }
    let line_feeds = file.iter().filter(|&&byte| byte == b'\n').count();
    let pairs = file.windows(2).filter(|window| window == b"\r\n").count();
    if line_feeds > 2 && line_feeds == pairs {
        return Some("LF became CR LF");
    }
    // Bytes are missing, yet not at the end.
    let lacks_few = missing(file).is_some_and(|missing| (1..=8).contains(&missing));
    (lacks_few && line_feeds > 0 && pairs == 0 && has_its_end(file)).then_some("CR LF became LF")
}

/// How many bytes the file has less than its first length says.
fn missing(file: &[u8]) -> Option<usize> {
    match *file {
        [0x30, 0x82, high, low, ..] => (4 + usize::from(u16::from_be_bytes([high, low]))).checked_sub(file.len()),
        _ => None,
    }
}

/// Whether the last two parts are the integrity check's salt and iteration count.
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
