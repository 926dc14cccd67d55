//! Hints for a name that no row declares: known mistakes, names of other blocks, the nearest name.

use ecf_language::{Bilingual, say};

use super::Block as _;
use super::Field;
use crate::Document;

/// A hint for the caller.
pub(super) struct Hint {
    pub(super) message: Bilingual,
    pub(super) expected: Option<String>,
}

/// Other names that are accepted for a field, with a notice.
const ALIASES: [(&str, &str); 1] = [("Telefono", "TelefonoEmisor")];

/// Names that programs use by mistake: parent, wrong name, correct name. They are refused, since accepting them would
/// hide a mistake that recurs in the next field.
const SLIPS: [(&str, &str, &str); 25] = [
    ("Item", "Descripcion", "NombreItem"),
    ("Item", "Nombre", "NombreItem"),
    ("Item", "Cantidad", "CantidadItem"),
    ("Item", "Precio", "PrecioUnitarioItem"),
    ("Item", "PrecioUnitario", "PrecioUnitarioItem"),
    ("Item", "Monto", "MontoItem"),
    ("Emisor", "RNC", "RNCEmisor"),
    ("Emisor", "RazonSocial", "RazonSocialEmisor"),
    ("Emisor", "Direccion", "DireccionEmisor"),
    ("Comprador", "RNC", "RNCComprador"),
    ("Comprador", "RazonSocial", "RazonSocialComprador"),
    ("Totales", "Total", "MontoTotal"),
    ("Totales", "ITBIS", "TotalITBIS"),
    ("IdDoc", "NCF", "eNCF"),
    ("IdDoc", "TipoComprobante", "TipoeCF"),
    ("Encabezado", "Cliente", "Comprador"),
    ("Encabezado", "Vendedor", "Emisor"),
    ("Emisor", "Nombre", "RazonSocialEmisor"),
    ("Emisor", "Email", "CorreoEmisor"),
    ("Emisor", "Correo", "CorreoEmisor"),
    ("Emisor", "Fecha", "FechaEmision"),
    ("Comprador", "Nombre", "RazonSocialComprador"),
    ("Comprador", "Cedula", "RNCComprador"),
    ("Comprador", "Email", "CorreoComprador"),
    ("Comprador", "Correo", "CorreoComprador"),
];

pub(super) fn is_alias(key: &str, name: &str) -> bool {
    ALIASES.iter().any(|(alias, meant)| *alias == key && *meant == name)
}

pub(super) fn for_unknown(key: &str, parent: Option<&str>, fields: &[Field]) -> Hint {
    let place = place(parent);
    if let Some(meant) = slip(key, parent).or_else(|| nearest_name(key, fields.iter().map(|field| field.name))) {
        return Hint {
            message: say!(
                [place],
                "{key} is no field of {place}; did you mean {meant}?",
                "{key} no es un campo de {place}; ¿quiso decir {meant}?"
            ),
            expected: Some(meant.to_owned()),
        };
    }
    if let Some(home) = home_of(key, Document::FIELDS, "") {
        let expected = home.en.clone().into_owned();
        return Hint {
            message: say!(
                [place, home],
                "{key} is no field of {place}: it belongs under {home}",
                "{key} no es un campo de {place}: va en {home}"
            ),
            expected: Some(expected),
        };
    }
    none(key, parent)
}

/// A hint without advice: the name is unknown.
pub(super) fn none(key: &str, parent: Option<&str>) -> Hint {
    let place = place(parent);
    Hint {
        message: say!(
            [place],
            "{key} is no field of {place}",
            "{key} no es un campo de {place}"
        ),
        expected: None,
    }
}

fn place(parent: Option<&str>) -> Bilingual {
    match parent {
        Some(name) => Bilingual::same(name.to_owned()),
        None => say!("the payload", "el payload"),
    }
}

fn slip(key: &str, parent: Option<&str>) -> Option<&'static str> {
    SLIPS
        .iter()
        .find(|(place, wrong, _)| Some(*place) == parent && wrong.eq_ignore_ascii_case(key))
        .map(|(_, _, right)| *right)
}

/// The name with the smallest distance to the given one, if that distance is small.
pub fn nearest_name<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let lower = given.to_lowercase();
    names
        .into_iter()
        .map(|name| (distance(&lower, &name.to_lowercase()), name))
        .min()
        .filter(|(changes, name)| *changes <= (name.len() / 4).max(1))
        .map(|(_, name)| name)
}

/// The path of the block that declares the name.
fn home_of(key: &str, fields: &[Field], path: &str) -> Option<Bilingual> {
    fields.iter().find_map(|field| {
        if field.name == key {
            return Some(if path.is_empty() {
                say!("the root of the payload", "la raíz del payload")
            } else {
                Bilingual::same(path.to_owned())
            });
        }
        let below = if path.is_empty() {
            field.name.to_owned()
        } else {
            format!("{path}/{}", field.name)
        };
        field.children.and_then(|children| home_of(key, children, &below))
    })
}

/// How many characters must be added, dropped or changed (Levenshtein distance). Very long names are cut, so that a
/// hostile key costs little.
pub(super) fn distance(left: &str, right: &str) -> usize {
    const LONGEST: usize = 80;
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (above, character) in left.chars().take(LONGEST).enumerate() {
        let mut diagonal = above;
        row[0] = above + 1;
        for (index, other) in right.iter().enumerate() {
            let changed = diagonal + usize::from(character != *other);
            diagonal = row[index + 1];
            row[index + 1] = changed.min(row[index] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_counts_changes() {
        for (left, right, expected) in [
            ("", "abc", 3),
            ("abc", "abc", 0),
            ("montototal", "montotota", 1),
            ("ab", "ba", 2),
        ] {
            assert_eq!(distance(left, right), expected, "{left} {right}");
        }
    }

    #[test]
    fn an_unknown_name_is_told_where_it_belongs() {
        let hint = for_unknown("MontoTotal", None, Document::FIELDS);
        assert_eq!(hint.expected.as_deref(), Some("Encabezado/Totales"));
        let hint = for_unknown("DetalleItems", None, Document::FIELDS);
        assert_eq!(hint.expected.as_deref(), Some("DetallesItems"));
        assert_eq!(for_unknown("Whatever", None, Document::FIELDS).expected, None);
    }
}
