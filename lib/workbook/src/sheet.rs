//! Reads a sheet: its header, and the cells of each row that have content.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use calamine::{DataRef, ExcelDateTime, ExcelDateTimeType, Reader as _};
use ecf_language::{Bilingual, say};

use crate::cell::{NumberFormat, Value};
use crate::file::{Book, unreadable};
use crate::finding::{Finding, Findings, codes};

/// The filler of a cell whose element must not appear.
const FILLER: &str = "#e";
/// Upper bound of rows; the authority's workbooks have 25.
const MOST_ROWS: usize = 500;
/// Upper bound of cells with content; the authority's workbooks have some thousand.
const MOST_CELLS: usize = 200_000;
/// Upper bound of merged regions that are judged one by one.
const MOST_REGIONS: usize = 1_000;

/// Headers by column, counted from 0.
pub(crate) type Headers = Arc<BTreeMap<u32, String>>;

/// A sheet without its empty cells.
#[derive(Debug)]
pub(crate) struct Sheet {
    pub(crate) name: String,
    pub(crate) headers: Headers,
    pub(crate) rows: Vec<RawRow>,
}

/// A row below the header.
#[derive(Debug)]
pub(crate) struct RawRow {
    /// As the spreadsheet counts, from 1.
    pub(crate) number: u32,
    /// In the order of columns.
    pub(crate) cells: Vec<(u32, Value)>,
}

/// The name of the sheet as the workbook spells it.
pub(crate) fn find(book: &Book<'_>, wanted: &str) -> Option<String> {
    let names = book.sheet_names();
    let same = |name: &&String| name.trim().eq_ignore_ascii_case(wanted);
    names.iter().find(same).cloned()
}

/// Reads a sheet. `key` is a header that the header row has.
///
/// # Errors
///
/// When the sheet cannot be used at all. Findings about single cells are added to `findings`.
pub(crate) fn read(book: &mut Book<'_>, name: &str, key: &str, findings: &mut Findings) -> Result<Sheet, Finding> {
    let at = |finding: Finding| finding.in_sheet(name);
    let mut rows = values(book, name).map_err(at)?;
    add_formulas(book, name, &mut rows).map_err(at)?;
    let is_1904 = book.has_1904_epoch();
    for value in rows.values_mut().flat_map(BTreeMap::values_mut) {
        if let Value::Number { serial, number, .. } = value {
            *serial = Some(ExcelDateTime::new(*number, ExcelDateTimeType::DateTime, is_1904));
        }
    }
    let headers = headers(&mut rows, name, key).map_err(at)?;
    if rows.is_empty() {
        let message = say!(
            "{name} has a header and no rows",
            "{name} tiene encabezado y ninguna fila"
        );
        return Err(at(Finding::new(codes::NO_ROWS, message)));
    }
    let merged = book
        .merge_cells_by_sheet_name(name)
        .map_err(|error| at(unreadable(&error)))?;
    if merged.len() > MOST_REGIONS {
        let message = say!(
            "{name} has more than {MOST_REGIONS} merged regions: undo the merging",
            "{name} tiene más de {MOST_REGIONS} regiones combinadas: sepárelas"
        );
        return Err(at(Finding::new(codes::MERGED, message)));
    }
    for region in merged {
        judge_region((region.start, region.end), &headers, &rows, name, findings);
    }
    let rows = rows.into_iter().map(|(row, cells)| RawRow {
        number: row + 1,
        cells: cells.into_iter().collect(),
    });
    Ok(Sheet {
        name: name.to_owned(),
        rows: rows.collect(),
        headers: Arc::new(headers),
    })
}

/// The cells that have content, by row and column.
type Filled = BTreeMap<u32, BTreeMap<u32, Value>>;

fn values(book: &mut Book<'_>, name: &str) -> Result<Filled, Finding> {
    let mut rows = Filled::new();
    let mut count = 0;
    let mut cells = book.worksheet_cells_reader(name).map_err(|error| unreadable(&error))?;
    let formats: Vec<NumberFormat> = cells
        .styles()
        .iter()
        .map(|style| {
            let format = style.number_format.as_ref();
            NumberFormat::of(format.map_or("General", |format| &format.format_code))
        })
        .collect();
    while let Some((cell, style)) = cells.next_cell_with_style_id().map_err(|error| unreadable(&error))? {
        let format = formats.get(style).copied().unwrap_or_default();
        if let Some(value) = value_of(cell.get_value(), format) {
            let (row, column) = cell.get_position();
            rows.entry(row).or_default().insert(column, value);
            count += 1;
            within_bounds(&rows, count, name)?;
        }
    }
    Ok(rows)
}

fn within_bounds(rows: &Filled, count: usize, name: &str) -> Result<(), Finding> {
    // The header is a row too.
    if rows.len() <= MOST_ROWS + 1 && count <= MOST_CELLS {
        return Ok(());
    }
    let message = say!(
        "{name} has more than {MOST_ROWS} rows, or {MOST_CELLS} cells with content",
        "{name} tiene más de {MOST_ROWS} filas, o {MOST_CELLS} celdas con contenido"
    );
    Err(Finding::new(codes::TOO_MANY_ROWS, message))
}

/// `None` when the cell is empty or has the filler.
fn value_of(data: &DataRef<'_>, format: NumberFormat) -> Option<Value> {
    let text = |text: &str| {
        let content = text.trim();
        (!content.is_empty() && content != FILLER).then(|| Value::Text(text.to_owned()))
    };
    match data {
        DataRef::Empty => None,
        DataRef::String(given) => text(given),
        DataRef::SharedString(given) => text(given),
        DataRef::Int(number) => text(&number.to_string()),
        DataRef::Float(number) => Some(Value::Number {
            number: *number,
            format,
            serial: None,
        }),
        DataRef::DateTime(date) if date.is_duration() => Some(Value::Other(say!("a duration", "una duración"))),
        DataRef::DateTime(date) => Some(Value::Date(*date)),
        DataRef::DateTimeIso(date) => Some(Value::Iso(date.clone())),
        DataRef::DurationIso(_) => Some(Value::Other(say!("a duration", "una duración"))),
        DataRef::Bool(true) => Some(Value::Other(Bilingual::same("TRUE"))),
        DataRef::Bool(false) => Some(Value::Other(Bilingual::same("FALSE"))),
        DataRef::Error(error) => Some(Value::Error(error.to_string())),
    }
}

/// Marks formulas without a stored value. `calamine` shows those cells as empty.
fn add_formulas(book: &mut Book<'_>, name: &str, rows: &mut Filled) -> Result<(), Finding> {
    let mut count = 0;
    let mut cells = book.worksheet_cells_reader(name).map_err(|error| unreadable(&error))?;
    while let Some(record) = cells
        .next_cell_with_formula_metadata()
        .map_err(|error| unreadable(&error))?
    {
        if record.formula.is_some() && record.value == DataRef::Empty {
            let (row, column) = record.pos;
            rows.entry(row).or_default().insert(column, Value::Formula);
            count += 1;
            within_bounds(rows, count, name)?;
        }
    }
    Ok(())
}

/// Takes the header off the rows.
fn headers(rows: &mut Filled, name: &str, key: &str) -> Result<BTreeMap<u32, String>, Finding> {
    let names = |cells: &BTreeMap<u32, Value>| -> BTreeMap<u32, String> {
        cells
            .iter()
            .filter_map(|(column, value)| match value {
                // Some headers have a blank at the end.
                Value::Text(text) => Some((*column, text.split_whitespace().collect())),
                _ => None,
            })
            .collect()
    };
    let is_header = |cells: &BTreeMap<u32, Value>| {
        let found = names(cells);
        found.values().any(|header| header.eq_ignore_ascii_case(key))
    };
    if let Some(first) = rows.get(&0).filter(|cells| is_header(cells)) {
        let headers = names(first);
        rows.remove(&0);
        return Ok(headers);
    }
    if let Some((row, _)) = rows.iter().find(|(_, cells)| is_header(cells)) {
        let row = row + 1;
        let message = say!(
            "the header of {name} is in row {row}, it must be in row 1: remove the rows above",
            "el encabezado de {name} está en la fila {row} y debe estar en la fila 1: quite las filas de arriba"
        );
        return Err(Finding::new(codes::HEADER_SHIFTED, message).in_row(row));
    }
    let message = say!(
        "no column of {name} has the header {key} in row 1: download the workbook again",
        "ninguna columna de {name} tiene el encabezado {key} en la fila 1: descargue el libro otra vez"
    );
    Err(Finding::new(codes::NO_COLUMN, message).in_row(1))
}

/// A merged region is read if its meaning is clear: it is empty, or it covers one row and, beside its first column,
/// only columns without a header. Everything else is a finding, since one value would stand for several cells.
fn judge_region(
    ((first_row, first_column), (last_row, last_column)): ((u32, u32), (u32, u32)),
    headers: &BTreeMap<u32, String>,
    rows: &Filled,
    sheet: &str,
    findings: &mut Findings,
) {
    if first_row > last_row || first_column > last_column {
        return;
    }
    let other_headers = headers
        .range(first_column..=last_column)
        .any(|(column, _)| *column != first_column);
    let filled: HashMap<u32, Vec<u32>> = rows
        .range(first_row..=last_row)
        .map(|(row, cells)| {
            let columns = cells.range(first_column..=last_column).map(|(column, _)| *column);
            (*row, columns.collect())
        })
        .filter(|(_, columns): &(u32, Vec<u32>)| !columns.is_empty())
        .collect();
    let clear = first_row == last_row && !other_headers;
    let into_header = first_row == 0 && last_row > 0 && headers.range(first_column..=last_column).next().is_some();
    if (filled.is_empty() || clear) && !into_header {
        return;
    }
    let letters = crate::finding::letters;
    let message = say!(
        "the cells {}{}:{}{} are merged, so one value stands for several cells: undo the merging and fill in each cell",
        "las celdas {}{}:{}{} están combinadas, así que un valor está por varias celdas: sepárelas y llene cada una",
        letters(first_column),
        first_row + 1,
        letters(last_column),
        last_row + 1,
    );
    let finding = Finding::new(codes::MERGED, message)
        .in_sheet(sheet)
        .in_row(first_row + 1)
        .in_column(first_column);
    findings.push(match headers.get(&first_column) {
        Some(header) => finding.under(header),
        None => finding,
    });
}
