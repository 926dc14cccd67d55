//! Finds the entries of a catalogue that a text may mean.

use ecf_language::Bilingual;

use super::super::Catalogue;
use super::super::hints::distance;
use super::{alternatives, words};

/// A code with its words.
type Entry = (&'static str, &'static str);

/// Upper bound of the entries that are named.
const MOST: usize = 4;

/// The entries that the text may mean, at most four. `also` lists other names, each with its code.
pub(crate) fn meant_codes(catalogue: Catalogue, also: &[(&str, &str)], field: &str, text: &str) -> Vec<Entry> {
    const LONGEST: usize = 100;
    if text.len() > LONGEST {
        return Vec::new();
    }
    if field.starts_with("Municipio") || field.starts_with("Provincia") {
        return places(catalogue, field.starts_with("Provincia"), text);
    }
    let entry = |code: &str| catalogue.iter().find(|(known, _)| *known == code).copied();
    let bare = text.trim();
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let same = |code: &str| {
        code.eq_ignore_ascii_case(bare)
            || (digits(bare) && digits(code) && code.trim_start_matches('0') == bare.trim_start_matches('0'))
    };
    if let Some(found) = catalogue.iter().find(|(code, _)| same(code)) {
        return vec![*found];
    }
    let given = words(text);
    let joined = given.concat();
    let named = also.iter().find(|(name, _)| words(name).concat() == joined);
    if let Some(found) = named.and_then(|(_, code)| entry(code)) {
        return vec![found];
    }
    if let Some(Some(found)) = meant_switch(catalogue, text) {
        return vec![found];
    }
    by_words(catalogue.iter().map(|entry| (*entry, words(entry.1))), &given, 0)
}

/// For an indicator with codes 0 and 1, or only 1: the meaning of yes and no. The inner `None` means that the field
/// should be left out.
pub(crate) fn meant_switch(catalogue: Catalogue, text: &str) -> Option<Option<Entry>> {
    if !catalogue.iter().all(|(code, _)| matches!(*code, "0" | "1")) {
        return None;
    }
    let code = match words(text).concat().as_str() {
        "true" | "si" | "yes" | "y" | "s" | "on" | "x" | "verdadero" => "1",
        "false" | "no" | "n" | "off" | "falso" => "0",
        _ => return None,
    };
    Some(catalogue.iter().find(|(known, _)| *known == code).copied())
}

/// `43 (Unidad)`, or several with `or`.
pub(crate) fn listed(entries: &[Entry]) -> Bilingual {
    let named: Vec<String> = entries
        .iter()
        .map(|(code, words)| {
            if words.is_empty() {
                (*code).to_owned()
            } else {
                format!("{code} ({words})")
            }
        })
        .collect();
    alternatives(&named)
}

/// The distance between a given and a known word; smaller is better.
fn fit(given: &str, known: &str) -> Option<usize> {
    const SHORTEST_PREFIX: usize = 4;
    if given == known {
        return Some(0);
    }
    if stem(given) == stem(known) {
        return Some(1);
    }
    let prefix = known.starts_with(given) || (known.len() >= SHORTEST_PREFIX && given.starts_with(known));
    prefix.then_some(2)
}

/// The word without plural and gender endings.
fn stem(word: &str) -> &str {
    let singular = word.strip_suffix('s').unwrap_or(word);
    singular.strip_suffix(['a', 'e', 'o']).unwrap_or(singular)
}

/// The entries that contain all given words, best matches first and with the fewest other words. `slack` admits
/// slightly worse matches when nothing matches exactly.
fn by_words(entries: impl Iterator<Item = (Entry, Vec<String>)> + Clone, given: &[String], slack: usize) -> Vec<Entry> {
    if given.is_empty() {
        return Vec::new();
    }
    let rank = |known: &[String]| -> Option<usize> {
        let fits = given
            .iter()
            .map(|word| known.iter().filter_map(|known| fit(word, known)).min())
            .sum::<Option<usize>>()?;
        Some(fits + known.len().saturating_sub(given.len()))
    };
    let mut found: Vec<(usize, Entry)> = entries
        .clone()
        .filter_map(|(entry, known)| Some((rank(&known)?, entry)))
        .collect();
    if found.is_empty() {
        let joined = given.join(" ");
        let few = (joined.len() + 2) / 4;
        let close = entries.filter_map(|(entry, known)| {
            let changes = distance(&joined, &known.join(" "));
            (joined.len() >= 4 && changes <= few).then_some((changes, entry))
        });
        found.extend(close);
    }
    found.sort_by_key(|(rank, _)| *rank);
    let worst = match found.first() {
        Some((0, _)) | None => 0,
        Some((best, _)) => best + slack,
    };
    found
        .into_iter()
        .take_while(|(rank, _)| *rank <= worst)
        .map(|(_, entry)| entry)
        .take(MOST)
        .collect()
}

/// Provinces, or municipalities and districts, by name or by the first digits of their code.
fn places(catalogue: Catalogue, province: bool, text: &str) -> Vec<Entry> {
    let wanted = |code: &str| code.ends_with("0000") == province;
    let bare = text.trim();
    if !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit()) {
        let padded = format!("{bare:0>width$}", width = bare.len().next_multiple_of(2));
        let code = format!("{padded:0<6}");
        return catalogue
            .iter()
            .filter(|(known, _)| *known == code && wanted(known))
            .copied()
            .collect();
    }
    let given: Vec<String> = words(text).iter().flat_map(|word| expanded(word)).collect();
    let named = |kind: fn(&str) -> bool| {
        let entries = catalogue.iter().filter(move |(code, _)| kind(code));
        entries.map(|entry| (*entry, place_words(entry.1))).collect::<Vec<_>>()
    };
    let provinces = || by_words(named(|code| code.ends_with("0000")).into_iter(), &given, 1);
    if province {
        return provinces();
    }
    let found = by_words(named(is_municipality).into_iter(), &given, 1);
    if !found.is_empty() {
        return found;
    }
    let districts = by_words(named(|code| !code.ends_with("00")).into_iter(), &given, 1);
    if !districts.is_empty() {
        return districts;
    }
    // Only a province is named: its municipalities.
    let Some((province, _)) = provinces().first().copied() else {
        return Vec::new();
    };
    let inside = catalogue
        .iter()
        .filter(|(code, _)| is_municipality(code) && code[..2] == province[..2]);
    inside.take(MOST).copied().collect()
}

fn is_municipality(code: &str) -> bool {
    code.ends_with("00") && !code.ends_with("0000")
}

/// The name of a place without the word for its kind.
fn place_words(name: &str) -> Vec<String> {
    let mut words = words(name);
    words.retain(|word| !matches!(word.as_str(), "provincia" | "municipio" | "d" | "m"));
    words
}

/// Usual abbreviations in names of places, expanded.
fn expanded(word: &str) -> Vec<String> {
    let whole: &[&str] = match word {
        "provincia" | "municipio" | "prov" | "mun" => &[],
        "sto" => &["santo"],
        "sta" => &["santa"],
        "dgo" => &["domingo"],
        "stgo" => &["santiago"],
        "pto" => &["puerto"],
        "dn" => &["distrito", "nacional"],
        other => &[other],
    };
    whole.iter().map(|&word| word.to_owned()).collect()
}
