//! The till roll: all parts in one column, the QR code at the end.
//!
//! A roll is one long sheet. A PDF page has a maximum height, so a receipt of many hundred lines has several sheets.

use std::sync::Arc;

use crate::content::{CLOSING, Column, Content, Line, Pair, Total, page_subtotals};
use crate::design::{Color, Design};
use crate::paging::{Part, Room, of_sheets};
use crate::qr::Symbol;
use crate::receipt::Receipt;
use crate::sheet::{Cell, Element, MM, Mark, Role, Sheet, Span, Style, Table, snap};
use crate::text::printable;

/// A width of paper.
pub(crate) struct Roll {
    pub(crate) width: f32,
    /// The part that the printer's head reaches.
    pub(crate) printed: Span,
    /// The size of normal text.
    pub(crate) size: f32,
}

/// PDF/A allows at most 14,400 points.
const MAX_HEIGHT: f32 = 14_000.0;
const MARGIN: f32 = 4.0 * MM;
const QUIET: f32 = 3.0 * MM;
const LOGO: (f32, f32) = (40.0 * MM, 18.0 * MM);
const RULE: Color = Color::BLACK;

/// The dots of a thermal printer with 203 dpi: eight per millimetre.
const DOT: f32 = MM / 8.0;

pub(crate) fn lay_out(
    receipt: &Receipt,
    content: &Content,
    design: &Design,
    roll: &Roll,
    symbol: &Symbol,
) -> Vec<Sheet> {
    let writer = Writer {
        content,
        design,
        roll,
        symbol,
    };
    let mut scratch = Sheet::default();
    let head = writer.head(&mut scratch);
    let totals = writer.foot(&mut scratch, &content.totals, None, 0, 0.0);
    let heights: Vec<f32> = content
        .lines
        .lines
        .iter()
        .enumerate()
        .map(|(index, line)| writer.line(&mut scratch, line, index, 0.0))
        .collect();
    // Eight subtotals never need more height than this.
    let subtotals = writer.foot(&mut scratch, &[], Some((1, 1)), 0, 0.0) + 20.0 * roll.size * 1.3;
    let room = Room {
        heights: &heights,
        page: MAX_HEIGHT - head - subtotals,
        last: MAX_HEIGHT - head - totals,
    };
    let parts = of_sheets(receipt, &room);
    parts
        .iter()
        .enumerate()
        .map(|(index, part)| writer.sheet(part, index))
        .collect()
}

struct Writer<'a> {
    content: &'a Content,
    design: &'a Design,
    roll: &'a Roll,
    symbol: &'a Symbol,
}

impl Writer<'_> {
    fn sheet(&self, part: &Part, index: usize) -> Sheet {
        let mut head = Sheet::default();
        let mut y = self.head(&mut head);
        let mut sheet = Sheet {
            width: self.roll.width,
            ..Sheet::default()
        };
        sheet.elements = once(head.elements, index);
        for line in part.lines.clone() {
            y = self.line(&mut sheet, &self.content.lines.lines[line], line, y);
        }
        let rows = match &part.subtotals {
            Some(page) => page_subtotals(page),
            None if part.is_last => self.content.totals.clone(),
            None => Vec::new(),
        };
        sheet.height = self.foot(&mut sheet, &rows, part.number, index, y);
        sheet
    }

    fn regular(&self) -> Style {
        Style::regular(self.roll.size)
    }

    fn bold(&self, larger: f32) -> Style {
        Style::bold(self.roll.size + larger)
    }

    /// Writes issuer, number, buyer and the table's head; returns where the lines start.
    fn head(&self, sheet: &mut Sheet) -> f32 {
        let content = self.content;
        let span = self.roll.printed;
        let mut y = self.bands(sheet, MARGIN);
        if let Some(logo) = &self.design.logo {
            let (width, height) = logo.fitted(LOGO.0.min(span.width), LOGO.1);
            sheet.elements.push(Element {
                role: Role::Figure(Arc::from(format!("Logo de {}", content.legal_name))),
                marks: vec![Mark::Logo {
                    x: span.x + (span.width - width) / 2.0,
                    y,
                    width,
                    height,
                }],
            });
            y += height + 4.0;
        }
        let name = content.trade_name.as_ref().unwrap_or(&content.legal_name);
        y = sheet.text(Role::Paragraph, name, span, y, self.bold(2.5).centered());
        if content.trade_name.is_some() {
            y = sheet.text(Role::Paragraph, &content.legal_name, span, y, self.bold(0.0).centered());
        }
        for pair in &content.issuer {
            let text = format!("{} {}", pair.label, pair.value);
            y = sheet.text(Role::Paragraph, &text, span, y, self.regular().centered());
        }
        for contact in &content.contact {
            y = sheet.text(Role::Paragraph, contact, span, y, self.regular().centered());
        }
        y = self.rule(sheet, y);
        y = sheet.text(Role::Heading, content.title, span, y, self.bold(1.5).centered()) + 1.0;
        y = self.pairs(sheet, &content.identity, y);
        if !content.buyer.is_empty() || !content.terms.is_empty() {
            y = self.rule(sheet, y);
            y = self.pairs(sheet, &content.buyer, y);
            y = self.pairs(sheet, &content.terms, y);
        }
        y = self.rule(sheet, y);
        let titles = [Column::Cantidad, Column::Precio, Column::Valor].map(|column| content.lines.title(column));
        let [cantidad, precio, valor] = titles;
        let head = |kind| Role::Cell {
            table: Table::Lines,
            row: 0,
            kind,
        };
        let style = self.bold(-0.5);
        let left = format!("Descripción / {cantidad} × {precio}");
        sheet.text(head(Cell::ColumnHead), &left, span, y, style);
        y = sheet.text(head(Cell::ColumnHead), valor, span, y, style.right());
        self.rule(sheet, y)
    }

    fn pairs(&self, sheet: &mut Sheet, pairs: &[Pair], y: f32) -> f32 {
        pairs.iter().fold(y, |y, pair| {
            sheet.pair(pair.label, &pair.value, self.roll.printed, y, self.regular())
        })
    }

    fn bands(&self, sheet: &mut Sheet, y: f32) -> f32 {
        self.content.bands.iter().fold(y, |y, band| {
            sheet.band(band, self.roll.printed, y, self.roll.size + 5.0, Color::BLACK) + 4.0
        })
    }

    fn rule(&self, sheet: &mut Sheet, y: f32) -> f32 {
        sheet.fill(self.roll.printed, y + 3.0, 0.6, RULE);
        y + 6.5
    }

    /// Writes one line: its name, then a row with quantity, price and value, then one row for each further value.
    fn line(&self, sheet: &mut Sheet, line: &Line, index: usize, y: f32) -> f32 {
        let span = self.roll.printed;
        let role = Role::Cell {
            table: Table::Lines,
            row: index + 1,
            kind: Cell::Data,
        };
        let mark = if line.exempt { "E " } else { "" };
        let name = format!("{mark}{}", line.name);
        let mut y = sheet.text(role.clone(), &name, span, y, self.bold(0.0));
        let small = Style::regular(self.roll.size - 1.0);
        if let Some(description) = &line.description {
            y = sheet.text(role.clone(), description, span, y, small);
        }
        let cell = |column| line.cell(column).unwrap_or_default();
        let unit = line.cell(Column::UnidadMedida).map(|unit| format!(" {unit}"));
        let counted = format!("{}{}", cell(Column::Cantidad), unit.unwrap_or_default());
        let left = format!("{counted} × {}", cell(Column::Precio));
        y = self.row(
            sheet,
            [role.clone(), role.clone()],
            [&left, cell(Column::Valor)],
            y,
            self.regular(),
        );
        for column in Column::ALL {
            let is_written = column.is_essential() || column == Column::UnidadMedida;
            if let Some(value) = line.cell(column).filter(|_| !is_written) {
                y = self.row(
                    sheet,
                    [role.clone(), role.clone()],
                    [self.content.lines.title(column), value],
                    y,
                    small,
                );
            }
        }
        y + 3.0
    }

    /// Writes words left and an amount right, or the amount below the words when both do not fit in one row.
    fn row(&self, sheet: &mut Sheet, roles: [Role; 2], texts: [&str; 2], y: f32, style: Style) -> f32 {
        let span = self.roll.printed;
        let [left_role, right_role] = roles;
        let [left, right] = texts;
        let amount = style.width(right);
        let rest = span.width - amount - 6.0;
        let beside = style.width(left) <= rest || rest > span.width * 0.5;
        let words = Span {
            x: span.x,
            width: if beside { rest } else { span.width },
        };
        let end = sheet.text(left_role, left, words, y, style);
        let last_row = if beside { end - style.line_height() } else { end };
        sheet.text(right_role, right, span, last_row, style.right()).max(end)
    }

    /// Writes the sums, the QR code and the closing lines; returns the length of the paper.
    fn foot(&self, sheet: &mut Sheet, rows: &[Total], number: Option<(u32, u32)>, index: usize, y: f32) -> f32 {
        let span = self.roll.printed;
        let mut y = self.rule(sheet, y - 3.0);
        for (row, total) in rows.iter().enumerate() {
            y = self.total(sheet, total, Table::Totals(index), row, y);
        }
        if number.is_none_or(|(number, count)| number == count) {
            y = self.pairs(sheet, &self.content.shipment, y + 3.0);
            y = self.pairs(sheet, &self.content.notes, y);
        }
        let mut foot = Sheet::default();
        y = self.bands(&mut foot, y + 5.0);
        for notice in &self.content.notices {
            y = foot.text(Role::Paragraph, notice, span, y, self.bold(0.5).centered()) + 3.0;
        }
        let style = Style::regular(self.roll.size - 1.0).centered();
        for legend in &self.content.legends {
            y = foot.text(Role::Paragraph, legend, span, y, style) + 2.0;
        }
        let side = self.symbol.side(DOT);
        y = snap(y + QUIET + DOT, DOT);
        let alt = format!("Código QR para consultar el e-NCF {} en la DGII", self.content.encf);
        foot.elements.push(Element {
            role: Role::Figure(Arc::from(alt)),
            marks: vec![Mark::Symbol {
                x: snap(span.x + (span.width - side) / 2.0, DOT),
                y,
                side,
            }],
        });
        y += side + QUIET;
        for pair in &self.content.signature {
            let text = format!("{} {}", pair.label, pair.value);
            y = foot.text(Role::Paragraph, &text, span, y, self.regular().centered());
        }
        y = foot.text(Role::Paragraph, CLOSING, span, y + 3.0, style);
        if let Some(footer) = self.design.footer.as_deref().map(printable) {
            y = foot.text(Role::Paragraph, &footer, span, y, style);
        }
        sheet.elements.extend(once(foot.elements, index));
        if let Some((number, count)) = number {
            let text = format!("Página No. {number} de {count}");
            y = sheet.text(Role::Artifact, &text, span, y, style);
        }
        y + MARGIN
    }

    fn total(&self, sheet: &mut Sheet, total: &Total, table: Table, row: usize, y: f32) -> f32 {
        let roles = |kind| [Cell::RowHead, kind].map(|kind| Role::Cell { table, row, kind });
        let style = if total.is_main { self.bold(1.5) } else { self.regular() };
        let y = self.row(sheet, roles(Cell::Data), [&total.label, &total.amount], y, style);
        let (Some(other), Some(currency)) = (&total.other, self.content.currency) else {
            return y;
        };
        let label = format!("{} {currency}", total.label);
        self.row(sheet, roles(Cell::Data), [&label, other], y, style)
    }
}

/// Elements that repeat on every sheet are read aloud only on the first.
fn once(elements: Vec<Element>, index: usize) -> Vec<Element> {
    if index == 0 {
        elements
    } else {
        elements.iter().map(Element::repeated).collect()
    }
}
