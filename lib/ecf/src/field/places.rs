//! Where values stand in a document, for readers of tables: the certification workbook names its columns after elements.

use super::{Field, Form};

/// One element of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Step {
    /// The XML element, which is also the JSON key.
    pub name: &'static str,
    /// Whether its parent may contain it several times.
    pub repeated: bool,
}

/// The kind of a value: what a cell that holds a number or a date means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Free text, e-NCF, e-mail addresses.
    Text,
    /// A decimal number.
    Decimal,
    /// A whole number.
    Integer,
    /// One of a list of codes, with their words.
    Code(&'static [(&'static str, &'static str)]),
    /// `dd-MM-yyyy`.
    Fecha,
    /// `dd-MM-yyyy HH:mm:ss`.
    FechaHora,
    /// 9 or 11 digits.
    Rnc,
}

/// The place of one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The elements from below the root down to the value.
    pub path: Vec<Step>,
    /// What the value is.
    pub kind: Kind,
}

/// All values of a block, in the order of the schema, in any receipt type.
pub(crate) fn places_of(fields: &'static [Field]) -> Vec<Place> {
    let mut places = Vec::new();
    add(fields, &mut Vec::new(), &mut places);
    places
}

fn add(fields: &'static [Field], path: &mut Vec<Step>, places: &mut Vec<Place>) {
    for field in fields {
        path.push(Step {
            name: field.name,
            repeated: field.repeated,
        });
        match field.children {
            Some(children) => add(children, path, places),
            None => places.push(Place {
                path: path.clone(),
                kind: kind_of(&field.form),
            }),
        }
        path.pop();
    }
}

fn kind_of(form: &Form) -> Kind {
    match form {
        Form::Block | Form::Text { .. } | Form::Encf | Form::Ncf | Form::ReceiptType => Kind::Text,
        Form::Decimal { .. } => Kind::Decimal,
        Form::Integer { .. } => Kind::Integer,
        Form::Code(catalogue) => Kind::Code(catalogue),
        Form::Fecha => Kind::Fecha,
        Form::FechaHora => Kind::FechaHora,
        Form::Rnc => Kind::Rnc,
    }
}
