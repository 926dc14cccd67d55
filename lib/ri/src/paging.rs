//! Which lines are on which sheet, and the subtotals of each sheet.

use std::ops::Range;

use ecf::document::{Document, Pagina};

use crate::receipt::Receipt;

/// The content of one sheet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    pub(crate) lines: Range<usize>,
    /// "n de m"; `None` on a receipt of one sheet.
    pub(crate) number: Option<(u32, u32)>,
    /// On every page except the last.
    pub(crate) subtotals: Option<Box<Pagina>>,
    pub(crate) is_last: bool,
}

/// The heights of the lines, and the room for lines on a sheet.
pub(crate) struct Room<'a> {
    pub(crate) heights: &'a [f32],
    /// On a sheet with subtotals.
    pub(crate) page: f32,
    /// On the sheet with the totals.
    pub(crate) last: f32,
}

/// Distributes the lines over sheets. Pages that the receipt states are kept. A page that needs more than one sheet
/// continues on the next with the same number.
pub(crate) fn parts_of(receipt: &Receipt, room: &Room<'_>) -> Vec<Part> {
    match stated(&receipt.document) {
        Some(pages) => of_stated(&pages, &receipt.document.paginacion.pagina, room),
        None => of_sheets(receipt, room),
    }
}

/// Distributes the lines over as few sheets as possible, ignoring pages that the receipt states.
pub(crate) fn of_sheets(receipt: &Receipt, room: &Room<'_>) -> Vec<Part> {
    let ranges = cut(0..room.heights.len(), room, true);
    let count = ranges.len();
    let mut subtotals = if count > 1 {
        subtotals(receipt, &ranges)
    } else {
        Vec::new()
    };
    subtotals.resize_with(count, || None);
    ranges
        .into_iter()
        .zip(subtotals)
        .enumerate()
        .map(|(index, (lines, page))| {
            let is_last = index + 1 == count;
            Part {
                lines,
                number: (count > 1).then(|| (index as u32 + 1, count as u32)),
                subtotals: page.filter(|_| !is_last).map(Box::new),
                is_last,
            }
        })
        .collect()
}

/// The pages that the receipt states, if there are several and each line is on exactly one, in order.
fn stated(document: &Document) -> Option<Vec<Range<usize>>> {
    let pages = &document.paginacion.pagina;
    let mut end = 0;
    let mut ranges = Vec::with_capacity(pages.len());
    for page in pages {
        let (first, last) = (page.no_linea_desde? as usize, page.no_linea_hasta? as usize);
        if first != end + 1 || last < first {
            return None;
        }
        ranges.push(end..last);
        end = last;
    }
    (ranges.len() > 1 && end == document.detalles_items.item.len()).then_some(ranges)
}

fn of_stated(ranges: &[Range<usize>], pages: &[Pagina], room: &Room<'_>) -> Vec<Part> {
    let count = ranges.len();
    let mut parts = Vec::new();
    for (index, (range, page)) in ranges.iter().zip(pages).enumerate() {
        let is_last_page = index + 1 == count;
        let sheets = cut(range.clone(), room, is_last_page);
        let last_sheet = sheets.len() - 1;
        for (sheet, lines) in sheets.into_iter().enumerate() {
            let ends_page = sheet == last_sheet;
            parts.push(Part {
                lines,
                number: Some((page.pagina_no.unwrap_or(index as u32 + 1), count as u32)),
                subtotals: (ends_page && !is_last_page).then(|| Box::new(page.clone())),
                is_last: ends_page && is_last_page,
            });
        }
    }
    parts
}

/// The subtotals of pages that the receipt does not state; empty where they cannot be computed.
fn subtotals(receipt: &Receipt, ranges: &[Range<usize>]) -> Vec<Option<Pagina>> {
    let mut paged = receipt.document.clone();
    paged.paginacion.pagina = ranges
        .iter()
        .map(|range| Pagina {
            no_linea_desde: Some(range.start as u32 + 1),
            no_linea_hasta: Some(range.end as u32),
            ..Pagina::default()
        })
        .collect();
    receipt.computed_for(&paged).pages.into_iter().map(Some).collect()
}

/// Cuts lines into sheets. Every sheet has at least one line, except that the last may hold the totals alone.
fn cut(lines: Range<usize>, room: &Room<'_>, ends_receipt: bool) -> Vec<Range<usize>> {
    let mut sheets = Vec::new();
    let mut start = lines.start;
    loop {
        let rest: f32 = room.heights[start..lines.end].iter().sum();
        if start == lines.end || rest <= if ends_receipt { room.last } else { room.page } {
            sheets.push(start..lines.end);
            return sheets;
        }
        let mut end = start + 1;
        let mut used = room.heights[start];
        while end < lines.end && used + room.heights[end] <= room.page {
            used += room.heights[end];
            end += 1;
        }
        // Moves one line to the sheet of the totals, so that they are not alone on it.
        if ends_receipt && end == lines.end && end > start + 1 && room.heights[end - 1] <= room.last {
            end -= 1;
        }
        sheets.push(start..end);
        start = end;
        if start == lines.end && !ends_receipt {
            return sheets;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The end of each sheet.
    fn ends(heights: &[f32], page: f32, last: f32) -> Vec<usize> {
        let sheets = cut(0..heights.len(), &Room { heights, page, last }, true);
        sheets.into_iter().map(|sheet| sheet.end).collect()
    }

    #[test]
    fn lines_that_fit_above_the_totals_need_one_sheet() {
        assert_eq!(ends(&[10.0; 5], 100.0, 50.0), [5]);
        assert_eq!(ends(&[], 100.0, 50.0), [0]);
    }

    #[test]
    fn a_line_goes_with_the_totals_that_do_not_fit() {
        assert_eq!(ends(&[10.0; 6], 100.0, 50.0), [5, 6]);
        assert_eq!(ends(&[10.0; 24], 100.0, 50.0), [10, 20, 24]);
    }

    #[test]
    fn totals_stand_alone_below_a_line_that_leaves_no_room() {
        assert_eq!(ends(&[80.0], 100.0, 50.0), [1, 1]);
        assert_eq!(ends(&[120.0, 10.0], 100.0, 50.0), [1, 2]);
        assert_eq!(ends(&[10.0], -5.0, -5.0), [1, 1], "a head that leaves no room at all");
    }

    #[test]
    fn a_sheet_that_does_not_end_the_receipt_uses_all_its_room() {
        let heights = [10.0; 15];
        let room = Room {
            heights: &heights,
            page: 100.0,
            last: 50.0,
        };
        assert_eq!(cut(0..15, &room, false), [0..10, 10..15]);
    }
}
