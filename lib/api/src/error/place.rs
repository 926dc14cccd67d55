//! Names the field and the line of an error in the words of a person: `NombreItem, line 9: the text has 96 characters`.

use ecf_language::{Bilingual, Language, say};

/// The list of the lines of a document.
const LINES: &str = "Item";

/// The text with its field and place in front, where it does not name the field itself.
pub(super) fn placed(loc: &[String], text: &Bilingual, language: Language) -> String {
    let text = text.in_language(language);
    // The first step is the part of the request: body, query, path or header.
    let steps = loc.get(1..).unwrap_or_default();
    let field = steps.iter().rfind(|step| position(step).is_none());
    let field = field.filter(|name| !names(text, name));
    let place = place(steps).map(|place| place.in_language(language).to_owned());
    match (field, place) {
        (Some(field), Some(place)) => format!("{field}, {place}: {text}"),
        (Some(field), None) => format!("{field}: {text}"),
        (None, Some(place)) => format!("{place}: {text}"),
        (None, None) => text.to_owned(),
    }
}

/// The line, and the element of any other list, counted from 1.
fn place(steps: &[String]) -> Option<Bilingual> {
    let elements = steps.windows(2).filter_map(|pair| match pair {
        [list, element] if position(list).is_none() => Some((list, position(element)? + 1)),
        _ => None,
    });
    let (mut line, mut entry) = (None, None);
    for (list, number) in elements {
        if list == LINES {
            line = Some(number);
        } else {
            entry = Some(number);
        }
    }
    match (line, entry) {
        (Some(line), Some(entry)) => Some(say!(
            "entry {entry} of line {line}",
            "entrada {entry} de la línea {line}"
        )),
        (Some(line), None) => Some(say!("line {line}", "línea {line}")),
        (None, Some(entry)) => Some(say!("entry {entry}", "entrada {entry}")),
        (None, None) => None,
    }
}

fn position(step: &str) -> Option<usize> {
    step.parse().ok()
}

/// Whether the text contains the name as a word.
fn names(text: &str, name: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(name).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_and_the_line_stand_in_front_of_the_text() {
        let text = say!("the text has 96 characters", "el texto tiene 96 caracteres");
        let naming = say!("MontoItem is not 5", "MontoItem no es 5");
        for (loc, text, english, spanish) in [
            (
                "body",
                &text,
                "the text has 96 characters",
                "el texto tiene 96 caracteres",
            ),
            (
                "body/name",
                &text,
                "name: the text has 96 characters",
                "name: el texto tiene 96 caracteres",
            ),
            // This number is a position in bytes.
            (
                "body/17",
                &text,
                "the text has 96 characters",
                "el texto tiene 96 caracteres",
            ),
            (
                "body/payload/DetallesItems/Item/8/NombreItem",
                &text,
                "NombreItem, line 9: the text has 96 characters",
                "NombreItem, línea 9: el texto tiene 96 caracteres",
            ),
            (
                "body/events/1",
                &text,
                "events, entry 2: the text has 96 characters",
                "events, entrada 2: el texto tiene 96 caracteres",
            ),
            (
                "body/payload/DetallesItems/Item/8/TablaSubDescuento/SubDescuento/0/TipoSubDescuento",
                &text,
                "TipoSubDescuento, entry 1 of line 9: the text has 96 characters",
                "TipoSubDescuento, entrada 1 de la línea 9: el texto tiene 96 caracteres",
            ),
            (
                "body/payload/MontoItem",
                &naming,
                "MontoItem is not 5",
                "MontoItem no es 5",
            ),
            (
                "body/payload/DetallesItems/Item/0/MontoItem",
                &naming,
                "line 1: MontoItem is not 5",
                "línea 1: MontoItem no es 5",
            ),
            // A part of a word is not the name.
            (
                "body/payload/Monto",
                &naming,
                "Monto: MontoItem is not 5",
                "Monto: MontoItem no es 5",
            ),
        ] {
            let loc: Vec<String> = loc.split('/').map(str::to_owned).collect();
            assert_eq!(placed(&loc, text, Language::En), english);
            assert_eq!(placed(&loc, text, Language::Es), spanish);
        }
    }
}
