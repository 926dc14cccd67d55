//! Which field a column is for. Headers are the names of elements, with one index for each repetition, such as
//! `TipoCodigo[2][1]`: second line, first code.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ecf::document::{self, Kind, Place};
use ecf::messages::{Acecf, Rfce};

/// The columns of a sheet.
#[derive(Debug)]
pub(crate) struct Columns {
    places: Vec<Place>,
    /// Place by lower-case name and number of indices.
    by_name: HashMap<(String, usize), usize>,
    /// The paths of elements that are repeated.
    repeated: HashSet<Vec<&'static str>>,
}

/// One step of the way to a value. Positions are those of the header, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum At {
    Name(&'static str),
    Position(usize),
}

/// Headers that do not name a field: the key of the row, and the placeholder of a container.
const NO_FIELD: [&str; 2] = ["casoprueba", "subtotalimpuestoadicionalpaginatabla"];
/// Upper bound of an index; no element is repeated more often.
const LARGEST_INDEX: usize = 10_000;

pub(crate) static RECEIPT: LazyLock<Columns> = LazyLock::new(|| Columns::new(document::places()));
pub(crate) static SUMMARY: LazyLock<Columns> = LazyLock::new(|| Columns::new(Rfce::places()));
pub(crate) static APPROVAL: LazyLock<Columns> = LazyLock::new(|| Columns::new(Acecf::places()));

impl Columns {
    fn new(places: Vec<Place>) -> Self {
        let mut by_name = HashMap::new();
        let mut repeated = HashSet::new();
        for (index, place) in places.iter().enumerate() {
            let names: Vec<&'static str> = place.path.iter().map(|step| step.name).collect();
            for (depth, step) in place.path.iter().enumerate() {
                if step.repeated {
                    repeated.insert(names[..=depth].to_vec());
                }
            }
            // Signing fills it in.
            if names == ["FechaHoraFirma"] {
                continue;
            }
            let key = (header_name(place).to_ascii_lowercase(), indices(place));
            let other = by_name.insert(key, index);
            debug_assert!(other.is_none(), "two fields have the column {names:?}");
        }
        Self {
            places,
            by_name,
            repeated,
        }
    }

    /// The place of a column's values, and what they are; `None` if the header does not name a field.
    pub(crate) fn find(&self, header: &str) -> Option<(Vec<At>, Kind)> {
        let (name, mut given) = split(header)?;
        let name = name.to_ascii_lowercase();
        let mut place = self.by_name.get(&(name.clone(), given.len()));
        // The additional taxes of a page have one more index than their container is repeated.
        if place.is_none() && given.last() == Some(&0) {
            place = self.by_name.get(&(name, given.len() - 1));
            place = place.filter(|place| self.is_of_page_taxes(**place));
            given.pop();
        }
        let place = &self.places[*place?];
        let mut given = given.into_iter();
        let mut path = Vec::with_capacity(place.path.len() + 2);
        for step in &place.path {
            path.push(At::Name(step.name));
            if step.repeated {
                // The only subtotal of the sheet has no index.
                path.push(At::Position(if step.name == SUBTOTAL { 0 } else { given.next()? }));
            }
        }
        Some((path, place.kind))
    }

    /// Whether the header is known and not a field.
    pub(crate) fn is_no_field(header: &str) -> bool {
        split(header).is_some_and(|(name, _)| NO_FIELD.contains(&name.to_ascii_lowercase().as_str()))
    }

    /// Whether the element with this path, without positions, is repeated.
    pub(crate) fn is_repeated(&self, path: &[&str]) -> bool {
        self.repeated.contains(path)
    }

    /// The header of the column for a path with positions counted from 0.
    pub(crate) fn header(&self, path: &[At]) -> Option<String> {
        let names: Vec<&str> = path
            .iter()
            .filter_map(|at| match at {
                At::Name(name) => Some(*name),
                At::Position(_) => None,
            })
            .collect();
        let index = self
            .places
            .iter()
            .position(|place| place.path.iter().map(|step| step.name).eq(names.iter().copied()))?;
        let mut header = header_name(&self.places[index]).to_owned();
        if !names.contains(&SUBTOTAL) {
            for at in path {
                if let At::Position(position) = at {
                    header.push_str(&format!("[{}]", position + 1));
                }
            }
        }
        if self.is_of_page_taxes(index) {
            header.push_str("[1]");
        }
        Some(header)
    }

    fn is_of_page_taxes(&self, place: usize) -> bool {
        let path = &self.places[place].path;
        path.iter().any(|step| step.name == "SubtotalImpuestoAdicional")
    }

    /// The static name of an element of these columns.
    pub(crate) fn name(&self, name: &str) -> Option<&'static str> {
        let steps = self.places.iter().flat_map(|place| &place.path);
        steps.map(|step| step.name).find(|known| *known == name)
    }
}

const SUBTOTAL: &str = "Subtotal";

/// The name of a field in the header.
fn header_name(place: &Place) -> &'static str {
    let names: Vec<&'static str> = place.path.iter().rev().map(|step| step.name).take(2).collect();
    match names.as_slice() {
        ["eNCF", ..] => "ENCF",
        ["MontoSubRecargo", ..] => "MontosubRecargo",
        ["NumeroLinea", "DescuentoORecargo"] => "NumeroLineaDoR",
        [name, ..] => name,
        [] => "",
    }
}

/// The number of indices that a header has.
fn indices(place: &Place) -> usize {
    let repeated = place.path.iter().filter(|step| step.repeated && step.name != SUBTOTAL);
    repeated.count()
}

/// Name and indices, which are counted from 1 in the header and from 0 here.
fn split(header: &str) -> Option<(&str, Vec<usize>)> {
    let (name, rest) = match header.find('[') {
        Some(place) => header.split_at(place),
        None => (header, ""),
    };
    let mut indices = Vec::new();
    let mut rest = rest;
    while !rest.is_empty() {
        let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
        let index: usize = index.parse().ok().filter(|index| (1..=LARGEST_INDEX).contains(index))?;
        indices.push(index - 1);
        rest = after;
    }
    Some((name, indices))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(header: &str) -> String {
        let (path, _) = RECEIPT.find(header).unwrap_or_else(|| panic!("{header}"));
        let steps: Vec<String> = path
            .iter()
            .map(|at| match at {
                At::Name(name) => (*name).to_owned(),
                At::Position(position) => position.to_string(),
            })
            .collect();
        steps.join("/")
    }

    #[test]
    fn every_family_of_headers_has_its_place() {
        for (header, expected) in [
            ("ENCF", "Encabezado/IdDoc/eNCF"),
            (
                "FormaPago[7]",
                "Encabezado/IdDoc/TablaFormasPago/FormaDePago/6/FormaPago",
            ),
            (
                "TelefonoEmisor[3]",
                "Encabezado/Emisor/TablaTelefonoEmisor/TelefonoEmisor/2",
            ),
            (
                "TipoImpuesto[4]",
                "Encabezado/Totales/ImpuestosAdicionales/ImpuestoAdicional/3/TipoImpuesto",
            ),
            (
                "TipoImpuesto[62][2]",
                "DetallesItems/Item/61/TablaImpuestoAdicional/ImpuestoAdicional/1/TipoImpuesto",
            ),
            ("NumeroLinea[1]", "DetallesItems/Item/0/NumeroLinea"),
            (
                "MontoITBISRetenido[2]",
                "DetallesItems/Item/1/Retencion/MontoITBISRetenido",
            ),
            (
                "MontosubRecargo[1][5]",
                "DetallesItems/Item/0/TablaSubRecargo/SubRecargo/4/MontoSubRecargo",
            ),
            ("NumeroSubTotal", "Subtotales/Subtotal/0/NumeroSubTotal"),
            (
                "NumeroLineaDoR[2]",
                "DescuentosORecargos/DescuentoORecargo/1/NumeroLinea",
            ),
            (
                "SubtotalOtrosImpuesto[2][1]",
                "Paginacion/Pagina/1/SubtotalImpuestoAdicional/SubtotalOtrosImpuesto",
            ),
            ("NCFModificado", "InformacionReferencia/NCFModificado"),
        ] {
            assert_eq!(path(header), expected);
            let (place, _) = RECEIPT.find(header).unwrap();
            assert_eq!(RECEIPT.header(&place).as_deref(), Some(header));
        }
    }

    #[test]
    fn headers_that_are_no_field_are_not_found() {
        for header in [
            "FechaHoraFirma",
            "Encabezado",
            "NumeroLinea",
            "NumeroLinea[0]",
            "NumeroLinea[1][1]",
            "NumeroLinea[x]",
            "NumeroLinea[1",
            "NumeroLinea[99999999999999999999]",
            "TotalITBIS[1]",
            "",
        ] {
            assert!(RECEIPT.find(header).is_none(), "{header}");
        }
        assert!(Columns::is_no_field("CasoPrueba"));
        assert!(Columns::is_no_field("SubtotalImpuestoAdicionalPaginaTabla[1]"));
    }

    #[test]
    fn every_field_has_one_column() {
        for columns in [&*RECEIPT, &*SUMMARY, &*APPROVAL] {
            let fields = columns
                .places
                .iter()
                .filter(|place| place.path[0].name != "FechaHoraFirma");
            assert_eq!(columns.by_name.len(), fields.count());
        }
    }
}
