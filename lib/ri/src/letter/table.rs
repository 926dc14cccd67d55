//! The lines as a table that is as wide as the paper allows.

use std::ops::Range;

use super::{GRAY, RULE};
use crate::content::{Column, Line, Lines};
use crate::design::Color;
use crate::font::Weight;
use crate::sheet::{Align, Cell, Element, Role, Sheet, Span, Style, Table};

/// Type sizes, tried in this order until the columns fit.
const SIZES: [f32; 6] = [8.5, 8.0, 7.5, 7.0, 6.5, 6.0];
/// Space left and right of each text.
const PADDING: f32 = 4.0;
/// Space above and below each line.
const LEADING: f32 = 1.5;
/// The smallest width of a description.
const DESCRIPTION: f32 = 130.0;
/// Upper bound of the rows of a description, so that every line fits on one sheet. The law requires only the name.
const DESCRIPTION_LINES: usize = 16;
/// A wider title of several words is broken into rows.
const TITLE_WIDTH: f32 = 46.0;

/// The measured table.
pub(super) struct LineTable<'a> {
    content: &'a Lines,
    columns: Vec<(Column, Span)>,
    /// Columns that did not fit; their values are written below the description.
    below: Vec<Column>,
    description: Span,
    /// The position of the `E`.
    mark: Span,
    size: f32,
}

impl<'a> LineTable<'a> {
    pub(super) fn new(lines: &'a Lines, span: Span) -> Self {
        SIZES
            .iter()
            .find_map(|size| Self::fit(lines, &lines.columns, span, *size))
            .unwrap_or_else(|| Self::narrow(lines, span))
    }

    /// Only the essential columns, in the largest type that fits.
    fn narrow(lines: &'a Lines, span: Span) -> Self {
        let essential: Vec<Column> = lines
            .columns
            .iter()
            .copied()
            .filter(|column| column.is_essential())
            .collect();
        SIZES
            .iter()
            .chain(&[5.0, 4.5, 4.0])
            .find_map(|size| Self::fit(lines, &essential, span, *size))
            .expect("three columns of the longest amounts fit in a type of four points")
    }

    fn fit(lines: &'a Lines, columns: &[Column], span: Span, size: f32) -> Option<Self> {
        let widths: Vec<f32> = columns.iter().map(|column| width(lines, *column, size)).collect();
        let exempt = lines.lines.iter().any(|line| line.exempt);
        let mark = if exempt { size + PADDING } else { 0.0 };
        let description = span.width - widths.iter().sum::<f32>() - mark;
        if description < DESCRIPTION {
            return None;
        }
        let mut x = span.x;
        let mut placed = Vec::with_capacity(columns.len());
        let (mut mark_x, mut description_x) = (x, x);
        for (column, width) in columns.iter().zip(widths) {
            placed.push((*column, Span { x, width }));
            x += width;
            if *column == Column::Cantidad {
                mark_x = x;
                description_x = x + mark;
                x = description_x + description;
            }
        }
        Some(Self {
            content: lines,
            columns: placed,
            below: lines
                .columns
                .iter()
                .copied()
                .filter(|column| !columns.contains(column))
                .collect(),
            description: inner(Span {
                x: description_x,
                width: description,
            }),
            mark: Span {
                x: mark_x + PADDING,
                width: mark,
            },
            size,
        })
    }

    fn style(&self) -> Style {
        Style::regular(self.size)
    }

    fn small(&self) -> Style {
        Style::regular(self.size - 1.0).colored(GRAY)
    }

    fn title(&self) -> Style {
        Style::bold(self.size - 0.5)
    }

    fn title_lines(&self) -> usize {
        let titles = self.columns.iter().map(|(column, span)| {
            let lines = self.title().lines(self.content.title(*column), inner(*span).width);
            lines.len()
        });
        titles.max().unwrap_or(1)
    }

    pub(super) fn head_height(&self) -> f32 {
        self.title_lines() as f32 * self.title().line_height() + 2.0 * LEADING
    }

    /// The rows below the name: the description, and values without a column of their own.
    fn more(&self, line: &Line) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(description) = &line.description {
            lines = self.small().lines(description, self.description.width);
            if lines.len() > DESCRIPTION_LINES {
                lines.truncate(DESCRIPTION_LINES - 1);
                lines.push("…".to_owned());
            }
        }
        for column in &self.below {
            if let Some(cell) = line.cell(*column) {
                lines.extend(self.small().lines(
                    &format!("{}: {cell}", self.content.title(*column)),
                    self.description.width,
                ));
            }
        }
        lines
    }

    pub(super) fn height(&self, index: usize) -> f32 {
        let line = &self.content.lines[index];
        let names = self.style().lines(&line.name, self.description.width).len() as f32;
        let mut height = names * self.style().line_height() + self.more(line).len() as f32 * self.small().line_height();
        for (column, span) in self.columns.iter().filter(|(column, _)| column.is_words()) {
            let words = line.cell(*column).unwrap_or_default();
            let lines = self.style().lines(words, inner(*span).width).len() as f32;
            height = height.max(lines * self.style().line_height());
        }
        height + 2.0 * LEADING
    }

    /// Writes the head and these lines; returns where they end.
    pub(super) fn write(&self, sheet: &mut Sheet, lines: Range<usize>, y: f32, is_first: bool, color: Color) -> f32 {
        let whole = self.whole();
        sheet.fill(whole, y, self.head_height(), color);
        let title = self.title().colored(color.contrast());
        let mut titles: Vec<(&str, Span, Align)> = self
            .columns
            .iter()
            .map(|(column, span)| (self.content.title(*column), inner(*span), align(*column)))
            .collect();
        titles.insert(1, ("Descripción", self.description, Align::Left));
        for (text, span, align) in titles {
            let mut element = Element::new(Role::Cell {
                table: Table::Lines,
                row: 0,
                kind: Cell::ColumnHead,
            });
            element.write(
                &title.lines(text, span.width),
                span,
                y + LEADING,
                Style { align, ..title },
            );
            sheet.elements.push(if is_first { element } else { element.repeated() });
        }
        let mut y = y + self.head_height();
        for index in lines {
            self.write_line(sheet, index, y);
            y += self.height(index);
            sheet.fill(whole, y - 0.4, 0.4, RULE);
        }
        y
    }

    fn write_line(&self, sheet: &mut Sheet, index: usize, y: f32) {
        let line = &self.content.lines[index];
        let y = y + LEADING;
        let role = Role::Cell {
            table: Table::Lines,
            row: index + 1,
            kind: Cell::Data,
        };
        for (place, (column, span)) in self.columns.iter().enumerate() {
            let style = Style {
                align: align(*column),
                ..self.style()
            };
            sheet.text(
                role.clone(),
                line.cell(*column).unwrap_or_default(),
                inner(*span),
                y,
                style,
            );
            if place == 0 {
                self.write_description(sheet, role.clone(), line, y);
            }
        }
    }

    /// The mark of exempt lines is left of the name, without a title.
    fn write_description(&self, sheet: &mut Sheet, role: Role, line: &Line, y: f32) {
        let mut element = Element::new(role);
        if line.exempt {
            let mark = Style {
                weight: Weight::Bold,
                ..self.style()
            };
            element.write(&["E ".to_owned()], self.mark, y, mark);
        }
        let names = self.style().lines(&line.name, self.description.width);
        let y = element.write(&names, self.description, y, self.style());
        element.write(&self.more(line), self.description, y, self.small());
        sheet.elements.push(element);
    }

    fn whole(&self) -> Span {
        let (_, first) = self.columns[0];
        let (_, last) = self.columns[self.columns.len() - 1];
        Span {
            x: first.x,
            width: last.x + last.width - first.x,
        }
    }
}

fn align(column: Column) -> Align {
    if column.is_words() { Align::Left } else { Align::Right }
}

fn inner(span: Span) -> Span {
    Span {
        x: span.x + PADDING,
        width: span.width - 2.0 * PADDING,
    }
}

/// The width of the widest text of a column. Words and titles may be broken.
fn width(lines: &Lines, column: Column, size: f32) -> f32 {
    let style = Style::regular(size);
    let cells = lines.lines.iter().filter_map(|line| line.cell(column));
    let widest = cells.map(|cell| style.width(cell)).fold(0.0, f32::max);
    let widest = if column.is_words() {
        widest.min(TITLE_WIDTH * 1.3)
    } else {
        widest
    };
    let title = Style::bold(size - 0.5);
    let words = lines
        .title(column)
        .split(' ')
        .map(|word| title.width(word))
        .fold(0.0, f32::max);
    let title = title.width(lines.title(column)).min(TITLE_WIDTH).max(words);
    widest.max(title) + 2.0 * PADDING + 0.01
}
