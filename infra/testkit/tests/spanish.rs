//! Every sentence for callers exists in Spanish too. The sources are read, so that a case that no test reaches counts.
//!
//! That there are two sentences, the compiler holds: `say!` takes two formats, and a `Say` covers its type by a `match`.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeSet;
use std::path::Path;

use ecf_testkit::repository;

/// Words that most English sentences have, and no Spanish one.
const ENGLISH: [&str; 30] = [
    "the", "is", "of", "and", "not", "are", "was", "were", "with", "must", "this", "that", "from", "which", "its",
    "than", "does", "cannot", "should", "been", "into", "their", "there", "where", "when", "more", "give", "needs",
    "expected", "or",
];

/// An English format and its Spanish one, or a Spanish sentence alone.
#[derive(Debug, PartialEq, Eq)]
struct Sentence {
    english: Option<String>,
    spanish: String,
}

#[test]
fn no_spanish_sentence_is_an_english_one() {
    let mut found = Vec::new();
    for group in ["functions", "lib"] {
        for package in std::fs::read_dir(repository(group)).unwrap() {
            walk(&package.unwrap().path().join("src"), &mut found);
        }
    }
    assert!(found.len() > 700, "{} sentences", found.len());
    let wrong: Vec<_> = found.iter().filter_map(complaint).collect();
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn sentences_are_read_as_they_are_written() {
    let source = r#"
// say!("in a comment", "y su texto")
let text = say!([what], "{what} has {0} \"lines\"", "{what} tiene {0} \"líneas\"", count(1, "x"));
say!(
    "a long one, \
     wrapped",
    "una larga, \
     partida"
);
impl Say for Missing {
    fn say(&self) -> Bilingual {
        Bilingual::of(self, format!("falta {}", self.name))
    }
}
let other = "not for callers";
#[cfg(test)]
mod tests { say!("in a test", "en una prueba"); }
"#;
    let sentence = |english: Option<&str>, spanish: &str| Sentence {
        english: english.map(str::to_owned),
        spanish: spanish.to_owned(),
    };
    assert_eq!(
        sentences(source),
        [
            sentence(Some(r#"{what} has {0} \"lines\""#), r#"{what} tiene {0} \"líneas\""#),
            sentence(Some("a long one, wrapped"), "una larga, partida"),
            sentence(None, "falta {}"),
        ]
    );
    for (english, spanish) in [
        (Some("one line"), "one line"),
        (Some("{encf} is used"), "el número se usó"),
        (None, "the file is empty"),
    ] {
        assert!(complaint(&sentence(english, spanish)).is_some(), "{spanish}");
    }
    assert_eq!(complaint(&sentence(Some("{}: {x}"), "{}: {x}")), None);
}

fn walk(folder: &Path, found: &mut Vec<Sentence>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            found.extend(sentences(&std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// What is wrong with a sentence: it is English, or it does not show what the English one shows.
fn complaint(sentence: &Sentence) -> Option<String> {
    let Sentence { english, spanish } = sentence;
    let text = outside(spanish);
    // `date_from` is the name of a field.
    let mut words = text.split(|character: char| !character.is_alphanumeric() && character != '_');
    if let Some(word) = words.find(|word| ENGLISH.contains(word)) {
        return Some(format!("{word:?} in {spanish:?}"));
    }
    let english = english.as_ref()?;
    if english == spanish && outside(english).contains(char::is_alphabetic) {
        return Some(format!("the same in both languages: {spanish:?}"));
    }
    let lost: Vec<_> = names(english).difference(&names(spanish)).cloned().collect();
    // The words of a library are in English, so the Spanish sentence leaves them out.
    let lost: Vec<_> = lost
        .into_iter()
        .filter(|name| !["error", "why"].contains(&name.as_str()))
        .collect();
    (!lost.is_empty()).then(|| format!("{lost:?} is not in {spanish:?}"))
}

/// The names between braces, without their format.
fn names(format: &str) -> BTreeSet<String> {
    let parts = format.split('{').skip(1).filter_map(|part| part.split_once('}'));
    let name = |inside: &str| inside.split(':').next().unwrap_or_default().to_owned();
    parts
        .map(|(inside, _)| name(inside))
        .filter(|name| !name.is_empty())
        .collect()
}

/// The text outside of braces.
fn outside(format: &str) -> String {
    let parts = format.split('{');
    parts
        .enumerate()
        .map(|(place, part)| {
            if place == 0 {
                part
            } else {
                part.split_once('}').map_or("", |(_, after)| after)
            }
        })
        .collect()
}

fn sentences(source: &str) -> Vec<Sentence> {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let source: String = lines.flat_map(|line| [line, "\n"]).collect();
    let mut found = Vec::new();
    for call in source.split("say!(").skip(1) {
        let mut literals = literals(call);
        if let (Some(english), Some(spanish)) = (literals.next(), literals.next()) {
            found.push(Sentence {
                english: Some(english),
                spanish,
            });
        }
    }
    for block in source.split("impl Say for ").skip(1) {
        let block = block.split("\n}").next().unwrap_or_default();
        if block.contains("say!(") {
            continue;
        }
        found.extend(literals(block).map(|spanish| Sentence { english: None, spanish }));
    }
    found
}

/// The string literals of a piece of source, without the line breaks that only wrap them.
fn literals(source: &str) -> impl Iterator<Item = String> {
    let mut rest = source;
    std::iter::from_fn(move || {
        let start = rest.find('"')? + 1;
        let mut is_escaped = false;
        let end = rest[start..].find(|character| {
            let ends = character == '"' && !is_escaped;
            is_escaped = character == '\\' && !is_escaped;
            ends
        })?;
        let literal = &rest[start..start + end];
        rest = &rest[start + end + 1..];
        let mut pieces = literal.split("\\\n");
        let first = pieces.next().unwrap_or_default().to_owned();
        Some(pieces.fold(first, |text, piece| text + piece.trim_start()))
    })
}
