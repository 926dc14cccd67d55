//! A row as the tree of a document, with the way back from each value to its cell.

use std::collections::{BTreeMap, HashMap};

use ecf::{Node, Violation};
use ecf_language::{Bilingual, say};

use crate::cell::{self, Value};
use crate::columns::{At, Columns};
use crate::finding::{Finding, Findings, codes};
use crate::sheet::{Headers, RawRow, Sheet};

/// A cell with content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Counted from 0.
    pub(crate) column: u32,
    pub(crate) header: String,
    /// The text of the field.
    pub(crate) text: String,
    at: Vec<At>,
}

/// A row whose cells are assigned to fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    sheet: String,
    headers: Headers,
    /// As the spreadsheet counts, from 1.
    pub(crate) number: u32,
    pub(crate) cells: Vec<Cell>,
    /// The content of `CasoPrueba`.
    pub(crate) key: Option<String>,
    /// The document below its root.
    pub(crate) document: Node,
    /// The cell of each value, by its path in the document.
    places: BTreeMap<Vec<String>, usize>,
    /// For each list of the document, the positions that its entries have in the headers.
    positions: HashMap<Vec<String>, Vec<usize>>,
}

/// The columns of a sheet that are fields, by column.
pub(crate) type Assigned = BTreeMap<u32, (Vec<At>, ecf::document::Kind)>;

/// Assigns columns to fields, and reports headers that are given twice or that do not name a field although cells below them
/// have content.
pub(crate) fn assign(sheet: &Sheet, columns: &Columns, findings: &mut Findings) -> Assigned {
    let mut assigned = Assigned::new();
    let mut taken: HashMap<Vec<At>, u32> = HashMap::new();
    for (column, header) in sheet.headers.iter() {
        let at = |finding: Finding| {
            let finding = finding.in_sheet(&sheet.name).in_row(1);
            finding.in_column(*column).under(header)
        };
        let first_cell = || {
            let value = |row: &RawRow| row.cells.iter().any(|(place, _)| place == column);
            sheet.rows.iter().find(|row| value(row)).map(|row| row.number)
        };
        let Some((place, kind)) = columns.find(header) else {
            if !is_key(header)
                && let Some(row) = first_cell()
            {
                let message = if Columns::is_no_field(header) {
                    say!(
                        "{header} stands for a group of fields and has no value of its own: leave its cells empty",
                        "{header} representa un grupo de campos y no tiene valor propio: deje sus celdas vacías"
                    )
                } else {
                    say!(
                        "{header} is no field of this sheet, and row {row} has a value in its column",
                        "{header} no es un campo de esta hoja y la fila {row} tiene un valor en su columna"
                    )
                };
                findings.push(at(Finding::new(codes::UNKNOWN_HEADER, message)));
            }
            continue;
        };
        if let Some(other) = taken.insert(place.clone(), *column) {
            let message = say!(
                "{header} is also the header of column {}: one of both is wrong",
                "{header} es también el encabezado de la columna {}: uno de los dos está mal",
                crate::finding::letters(other)
            );
            findings.push(at(Finding::new(codes::HEADER_TWICE, message)));
            continue;
        }
        assigned.insert(*column, (place, kind));
    }
    assigned
}

fn is_key(header: &str) -> bool {
    header.eq_ignore_ascii_case("CasoPrueba")
}

impl Row {
    /// The row's document. Cells that cannot be used are findings and missing in it.
    pub(crate) fn read(raw: RawRow, sheet: &Sheet, assigned: &Assigned, findings: &mut Findings) -> Self {
        let mut cells: Vec<Cell> = Vec::new();
        let mut key = None;
        for (column, value) in raw.cells {
            let header = sheet.headers.get(&column);
            let at = |finding: Finding| {
                let finding = finding.in_sheet(&sheet.name).in_row(raw.number).in_column(column);
                match header {
                    Some(header) => finding.under(header),
                    None => finding,
                }
            };
            let shown = |finding: Finding| match &value {
                Value::Text(text) => finding.with_cell(text),
                _ => finding,
            };
            let Some(header) = header else {
                let message = say!(
                    "the cell has a value, and its column has no header: header and rows are shifted, or the cell does not belong here",
                    "la celda tiene un valor y su columna no tiene encabezado: el encabezado y las filas están corridos, o la celda no va aquí"
                );
                findings.push(shown(at(Finding::new(codes::NO_HEADER, message))));
                continue;
            };
            let Some((place, kind)) = assigned.get(&column) else {
                if is_key(header) {
                    key = cell::meant(&value, ecf::document::Kind::Text).ok();
                }
                continue;
            };
            match cell::meant(&value, *kind) {
                Ok(text) => cells.push(Cell {
                    column,
                    header: header.clone(),
                    text,
                    at: place.clone(),
                }),
                Err((code, message)) => findings.push(shown(at(Finding::new(code, message)))),
            }
        }
        Self::of(sheet, raw.number, key, cells)
    }

    fn of(sheet: &Sheet, number: u32, key: Option<String>, cells: Vec<Cell>) -> Self {
        let mut row = Self {
            sheet: sheet.name.clone(),
            headers: sheet.headers.clone(),
            number,
            key,
            document: Node::Null,
            places: BTreeMap::new(),
            positions: HashMap::new(),
            cells,
        };
        let paths: Vec<(usize, Vec<At>)> = row
            .cells
            .iter()
            .enumerate()
            .map(|(index, cell)| (index, cell.at.clone()))
            .collect();
        let paths: Vec<(usize, &[At])> = paths.iter().map(|(index, at)| (*index, at.as_slice())).collect();
        row.document = if paths.is_empty() {
            Node::Object(Vec::new())
        } else {
            row.build(&paths, &mut Vec::new())
        };
        row
    }

    /// The tree of the cells whose paths begin at the same element, which has the given path.
    fn build(&mut self, cells: &[(usize, &[At])], path: &mut Vec<String>) -> Node {
        if let [(index, [])] = cells {
            self.places.insert(path.clone(), *index);
            return Node::Text(self.cells[*index].text.as_str().into());
        }
        let mut order: Vec<At> = Vec::new();
        let mut groups: HashMap<At, Vec<(usize, &[At])>> = HashMap::new();
        for (index, at) in cells {
            if let Some((first, rest)) = at.split_first() {
                let group = groups.entry(*first).or_insert_with(|| {
                    order.push(*first);
                    Vec::new()
                });
                group.push((*index, rest));
            }
        }
        if matches!(order.first(), Some(At::Position(_))) {
            order.sort();
            let positions = order.iter().filter_map(|at| match at {
                At::Position(position) => Some(*position),
                At::Name(_) => None,
            });
            self.positions.insert(path.clone(), positions.collect());
        }
        let mut members = Vec::new();
        let mut elements = Vec::new();
        for (place, at) in order.iter().enumerate() {
            match at {
                At::Name(name) => {
                    path.push((*name).to_owned());
                    members.push(((*name).into(), self.build(&groups[at], path)));
                }
                At::Position(_) => {
                    path.push(place.to_string());
                    elements.push(self.build(&groups[at], path));
                }
            }
            path.pop();
        }
        if elements.is_empty() {
            Node::Object(members)
        } else {
            Node::Array(elements)
        }
    }

    /// The text of a field by the header of its column.
    pub(crate) fn text(&self, header: &str) -> Option<&str> {
        let same = |cell: &&Cell| cell.header.eq_ignore_ascii_case(header);
        self.cells.iter().find(same).map(|cell| cell.text.as_str())
    }

    /// The cells by the path of their value in the document.
    pub(crate) fn by_path(&self) -> impl Iterator<Item = (&[String], &Cell)> {
        self.places
            .iter()
            .map(|(path, index)| (path.as_slice(), &self.cells[*index]))
    }

    /// A finding about the row.
    pub(crate) fn finding(&self, code: &'static str, message: Bilingual) -> Finding {
        Finding::new(code, message).in_sheet(&self.sheet).in_row(self.number)
    }

    /// A finding about the cell below a header, or about its absence.
    pub(crate) fn finding_at(&self, header: &str, code: &'static str, message: Bilingual) -> Finding {
        let same = |(_, other): &(&u32, &String)| other.eq_ignore_ascii_case(header);
        let (column, header) = match self.headers.iter().find(same) {
            Some((column, spelling)) => (Some(*column), spelling.as_str()),
            None => (None, header),
        };
        let mut finding = self.finding(code, message).under(header);
        if let Some(column) = column {
            finding = finding.in_column(column);
        }
        match self.text(header) {
            Some(text) => finding.with_cell(text),
            None => finding,
        }
    }

    /// The finding about a field of the document, at its cell. A field that is missing is placed at its column, and a
    /// group of fields at its first cell.
    pub(crate) fn finding_of(&self, violation: Violation, columns: &Columns) -> Finding {
        let first_below = || {
            let (path, index) = self.places.range(violation.path.clone()..).next()?;
            let is_below = !violation.path.is_empty() && path.starts_with(&violation.path);
            is_below.then(|| self.cells[*index].header.clone())
        };
        match self.header_of(&violation.path, columns).or_else(first_below) {
            Some(header) => Finding {
                grade: violation.grade,
                message: Box::new(violation.message),
                ..self.finding_at(&header, violation.code, Bilingual::default())
            },
            None => {
                let message = match violation.path.as_slice() {
                    [] => violation.message,
                    path => Bilingual::same(format!("{}: ", path.join("/"))).then(&violation.message),
                };
                Finding {
                    grade: violation.grade,
                    message: Box::new(message),
                    ..self.finding(violation.code, Bilingual::default())
                }
            }
        }
    }

    /// The header of the column for a path of the document.
    fn header_of(&self, path: &[String], columns: &Columns) -> Option<String> {
        let mut way = Vec::new();
        for (depth, step) in path.iter().enumerate() {
            way.push(match step.parse::<usize>() {
                Ok(place) => {
                    let positions = self.positions.get(&path[..depth]);
                    let position = positions.and_then(|positions| positions.get(place));
                    At::Position(position.copied().unwrap_or(place))
                }
                Err(_) => At::Name(columns.name(step)?),
            });
        }
        columns.header(&way)
    }
}
