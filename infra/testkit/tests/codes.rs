//! `docs/errors.md` and its Spanish version list exactly the codes that exist.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ecf_testkit::{documented_codes, repository};

/// Functions that take a code, and the index of that argument. A literal argument is a code; a variable holds a code
/// from another such call.
const CALLS: [(&str, usize); 11] = [
    ("ApiError::bad_request(", 0),
    ("ApiError::unauthorized(", 0),
    ("ApiError::missing(", 0),
    ("ApiError::conflict(", 0),
    ("ApiError::unavailable_because(", 0),
    ("::coded(", 1),
    (".with_code(", 0),
    (".reject(", 1),
    (".reject_value(", 1),
    ("Fault::new(", 0),
    ("NotTaken::because(", 0),
];

/// Both documents must list the same codes, and exactly those of the sources.
#[test]
fn a11_every_code_is_documented_in_both_languages_and_no_other() {
    let (english, spanish) = (
        documented_codes("docs/errors.md"),
        documented_codes("docs/es/errores.md"),
    );
    assert!(english.len() > 200, "{}", english.len());
    let missing = |from: &BTreeSet<String>, of: &BTreeSet<String>| of.difference(from).cloned().collect::<Vec<_>>();
    assert_eq!(missing(&english, &spanish), [""; 0], "in docs/es/errores.md alone");
    assert_eq!(missing(&spanish, &english), [""; 0], "in docs/errors.md alone");

    let sources = Sources::read();
    let undocumented: Vec<_> = sources
        .codes
        .iter()
        .filter(|(code, _)| !english.contains(*code))
        .collect();
    assert!(
        undocumented.is_empty(),
        "add a row to both documents: {undocumented:#?}"
    );
    let rules: BTreeSet<String> = ecf::rules::CATALOGUE.iter().map(|rule| rule.code.to_owned()).collect();
    assert_eq!(missing(&english, &rules), [""; 0]);
    // The codes of single fields have one table, and the documents no others.
    let of_fields: BTreeSet<String> = ecf::codes::ALL.iter().map(|&code| code.to_owned()).collect();
    let documented = english.iter().filter(|code| code.starts_with("ESTRUCTURA-"));
    let documented: BTreeSet<String> = documented.cloned().collect();
    assert_eq!(
        missing(&of_fields, &documented),
        [""; 0],
        "documented, and not in the table"
    );
    for code in &of_fields {
        let files = &sources.codes[code];
        let expected = BTreeSet::from([repository("lib/ecf/src/codes.rs").display().to_string()]);
        assert_eq!(
            files, &expected,
            "{code} is written elsewhere: use its name in `ecf::codes`"
        );
    }

    let unknown: Vec<_> = english
        .iter()
        .filter(|code| !sources.literals.contains(*code))
        .collect();
    assert!(
        unknown.is_empty(),
        "documented, and nowhere in the sources: {unknown:?}"
    );
}

#[test]
fn a11_the_sources_are_read_as_they_are_written() {
    let mut sources = Sources::default();
    let text = r#"
        // ApiError::conflict("in_a_comment", ..)
        return Err(ApiError::conflict(
            "wrapped",
            format!("{} (a \"quoted\" word", one(two, "three")),
        ));
        let error = Self::coded(StatusCode::NOT_FOUND, "second", message);
        fields.reject_value(&name(1, 2), "third", "msg").with_code("fourth");
        Violation::rejected(path, "TOTALES-05", "value_error", message);
        ApiError::conflict(variable, "message");
        #[cfg(test)]
        mod tests { ApiError::conflict("in_a_test", "") }
    "#;
    sources.add(Path::new("a.rs"), text);
    let codes: Vec<&str> = sources.codes.keys().map(String::as_str).collect();
    assert_eq!(codes, ["TOTALES-05", "fourth", "second", "third", "wrapped"]);
}

/// The sources of functions and libraries, without tests.
#[derive(Default)]
struct Sources {
    /// Codes, each with the files that contain it.
    codes: BTreeMap<String, BTreeSet<String>>,
    /// All string literals, and some text between literals.
    literals: BTreeSet<String>,
}

impl Sources {
    fn read() -> Self {
        let mut sources = Self::default();
        for group in ["functions", "lib"] {
            for package in std::fs::read_dir(repository(group)).unwrap() {
                let package = package.unwrap();
                // The operator's commands have their own response format, and the testkit is not part of the service.
                if package.file_name() != "operator" && package.file_name() != "testkit" {
                    sources.walk(&package.path().join("src"));
                }
            }
        }
        sources
    }

    fn walk(&mut self, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.walk(&path);
            } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
                self.add(&path, &std::fs::read_to_string(&path).unwrap());
            }
        }
    }

    fn add(&mut self, path: &Path, text: &str) {
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let text: String = lines.flat_map(|line| [line, "\n"]).collect();
        // Some of these are between two literals, which is harmless.
        let parts = text.split('"');
        self.literals.extend(parts.clone().map(str::to_owned));
        let mut found: Vec<&str> = parts
            .filter(|part| is_rule(part) && !part.starts_with("UTF-"))
            .collect();
        for (call, place) in CALLS {
            for (at, _) in text.match_indices(call) {
                found.extend(argument(&text[at + call.len()..], place).and_then(literal));
            }
        }
        // The codes of an error type's variants.
        for (at, _) in text.match_indices("fn code(") {
            let body = text[at..].split("\n    }\n").next().unwrap_or_default();
            let arms = body.split("=> ").skip(1);
            found.extend(arms.filter_map(|arm| literal(arm.split([',', '\n']).next()?)));
        }
        for code in found {
            let files = self.codes.entry(code.to_owned()).or_default();
            files.insert(path.display().to_string());
        }
    }
}

/// Whether this is the code of a rule, such as `TOTALES-05`.
fn is_rule(text: &str) -> bool {
    text.split_once('-').is_some_and(|(block, number)| {
        !block.is_empty()
            && block.bytes().all(|letter| letter.is_ascii_uppercase())
            && number.len() == 2
            && number.bytes().all(|digit| digit.is_ascii_digit())
    })
}

/// The argument of a call with this index; `text` begins after the opening parenthesis.
fn argument(text: &str, place: usize) -> Option<&str> {
    let (mut depth, mut start, mut commas, mut in_literal, mut escaped) = (0, 0, 0, false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if in_literal => escaped = true,
            '"' => in_literal = !in_literal,
            _ if in_literal => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth > 0 => depth -= 1,
            ',' | ')' if depth == 0 => {
                if commas == place {
                    return Some(text[start..at].trim());
                }
                if letter == ')' {
                    return None;
                }
                (commas, start) = (commas + 1, at + 1);
            }
            _ => {}
        }
    }
    None
}

/// The text of a string literal.
fn literal(argument: &str) -> Option<&str> {
    argument.trim().strip_prefix('"')?.strip_suffix('"')
}
