//! What is wrong with a document: one entry per finding, with the path of the field.
//!
//! The codes of the structure, given once and kept for good:
//!
//! | code | what is wrong |
//! |---|---|
//! | `ESTRUCTURA-01` | a mandatory field is missing |
//! | `ESTRUCTURA-02` | the field is not allowed in this type |
//! | `ESTRUCTURA-03` | an element stands more often than allowed |
//! | `ESTRUCTURA-04` | no field has this name |
//! | `ESTRUCTURA-05` | an object is due |
//! | `ESTRUCTURA-06` | a text or a number is due |
//! | `ESTRUCTURA-10` to `-13` | a text is empty, too long, has forbidden characters, has the wrong form |
//! | `ESTRUCTURA-14`, `-15` | a code is not in its catalogue, a type is none of the ten |
//! | `ESTRUCTURA-20` to `-23` | a decimal is none, has too many decimals, too many digits, the wrong sign |
//! | `ESTRUCTURA-24`, `-25` | a whole number is none, is out of range |
//! | `ESTRUCTURA-30`, `-31` | a date, a date with time is none |
//! | `ESTRUCTURA-32` to `-34` | an RNC, an e-NCF, the number of a modified receipt is none |
//! | `ESTRUCTURA-40`, `-41` | TipoeCF, the number's type is not that of the receipt |
//! | `ESTRUCTURA-42`, `-43` | the payload's number, its expiry is not the assigned one |
//! | `AVISO-01` | the payload was wrapped in `ECF` |
//! | `AVISO-02` | another name or shape was taken for the right one |
//! | `AVISO-03` | line breaks were replaced |
//! | `AVISO-04` | the check digit of an RNC does not fit |
//! | `AVISO-05` | FechaHoraFirma was ignored |
//! | `AVISO-06` | the anonymous buyer was filled in |
//! | `AVISO-20` | a text looks damaged by a wrong encoding |
//!
//! The codes of the fiscal rules are in [`rules::CATALOGUE`](crate::rules::CATALOGUE).

use crate::Node;
use crate::document::Document;
use crate::field::{Block, Field};

/// What a violation means for the receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// Worth knowing, and no obstacle.
    Notice,
    /// The tax authority would accept the receipt only conditionally.
    Conditional,
    /// The tax authority would reject the receipt.
    Rejected,
}

/// One finding about one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The JSON keys down to the field, from the document's root, with the 0-based position of repeated elements as
    /// text: `["DetallesItems", "Item", "3", "DescuentoMonto"]` is the fourth line. The path is always the canonical
    /// one, also when the payload used a tolerated other shape.
    pub path: Vec<String>,
    /// A permanent code such as `ESTRUCTURA-01`; the words may improve, the code stays.
    pub code: &'static str,
    /// The kind of error in the vocabulary of FastAPI, such as `missing`.
    pub kind: &'static str,
    /// One sentence for the programmer who has to repair it.
    pub message: String,
    /// What was given, shortened when long.
    pub given: Option<String>,
    /// The value that came, where `given` does not show it: the value under an unknown name, a list, an object.
    pub input: Option<Node>,
    /// What was expected.
    pub expected: Option<String>,
    /// Expected minus given, for amounts.
    pub difference: Option<String>,
    /// What it means for the receipt.
    pub grade: Grade,
}

impl Violation {
    /// A finding of grade *rejected* without further details.
    pub fn rejected(path: Vec<String>, code: &'static str, kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            path,
            code,
            kind,
            message: message.into(),
            given: None,
            input: None,
            expected: None,
            difference: None,
            grade: Grade::Rejected,
        }
    }

    /// Adds what was given, cut to a length that fits an answer.
    #[must_use]
    pub fn with_given(mut self, given: &str) -> Self {
        const LONGEST: usize = 120;
        self.given = Some(match given.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &given[..end]),
            None => given.to_owned(),
        });
        self
    }

    /// Adds what was expected.
    #[must_use]
    pub fn with_expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// Changes the grade.
    #[must_use]
    pub fn with_grade(mut self, grade: Grade) -> Self {
        self.grade = grade;
        self
    }
}

/// Sorts findings by where their fields stand in the document; unknown fields come last in their block.
pub fn sort_in_document_order(violations: &mut [Violation]) {
    violations.sort_by_cached_key(|violation| rank(&violation.path));
}

fn rank(path: &[String]) -> Vec<usize> {
    let mut fields: Option<&[Field]> = Some(Document::FIELDS);
    path.iter()
        .map(|step| {
            if let Ok(position) = step.parse::<usize>() {
                return position;
            }
            let place = fields.and_then(|fields| fields.iter().position(|field| field.name == step));
            let rank = place.unwrap_or(usize::MAX);
            fields = fields.zip(place).and_then(|(fields, place)| fields[place].children);
            rank
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &[&str]) -> Violation {
        Violation::rejected(
            path.iter().map(|&step| step.to_owned()).collect(),
            "ESTRUCTURA-01",
            "missing",
            "",
        )
    }

    #[test]
    fn findings_are_sorted_by_schema_order_and_line() {
        let mut found = [
            at(&["DetallesItems", "Item", "10", "NombreItem"]),
            at(&["DetallesItems", "Item", "2", "MontoItem"]),
            at(&["DetallesItems", "Item", "2", "Descripcion"]),
            at(&["DetallesItems", "Item", "2", "NombreItem"]),
            at(&["Encabezado", "Totales"]),
            at(&["Encabezado", "Emisor", "RNCEmisor"]),
        ];
        sort_in_document_order(&mut found);
        let order: Vec<String> = found.iter().map(|violation| violation.path.join("/")).collect();
        assert_eq!(
            order,
            [
                "Encabezado/Emisor/RNCEmisor",
                "Encabezado/Totales",
                "DetallesItems/Item/2/NombreItem",
                "DetallesItems/Item/2/MontoItem",
                "DetallesItems/Item/2/Descripcion",
                "DetallesItems/Item/10/NombreItem",
            ]
        );
    }

    #[test]
    fn a_long_text_is_shown_shortened() {
        let violation = at(&[]).with_given(&"ñ".repeat(500));
        assert_eq!(violation.given.unwrap().chars().count(), 121);
    }
}
