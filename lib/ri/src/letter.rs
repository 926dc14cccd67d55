//! The letter sheet: issuer left, number right, the lines as a table, QR code and totals at the bottom.

mod table;

use std::sync::Arc;

use crate::content::{CLOSING, Content, Pair, Total, page_subtotals};
use crate::design::{Color, Design};
use crate::paging::{Part, Room, parts_of};
use crate::qr::Symbol;
use crate::receipt::Receipt;
use crate::sheet::{Align, Cell, Element, MM, Mark, Role, Sheet, Span, Style, Table, snap};
use crate::text::printable;
use table::LineTable;

const WIDTH: f32 = 612.0;
const HEIGHT: f32 = 792.0;
const TOP: f32 = 12.0 * MM;
const LEFT: f32 = 15.0 * MM;
const BODY: Span = Span {
    x: LEFT,
    width: WIDTH - 2.0 * LEFT,
};
const GAP: f32 = 8.0;
const GRAY: Color = Color::gray(110);
const RULE: Color = Color::gray(200);

/// A dot at 300 dpi; other office printers have a multiple of that resolution. The QR code is at least two centimetres
/// from the edges of the sheet, with three millimetres of free space around it.
const DOT: f32 = 72.0 / 300.0;
const SYMBOL_X: f32 = 20.0 * MM;
const QUIET: f32 = 3.0 * MM;
/// Below the QR code are the security code, the time of signing and the footer.
const FOOT: Span = BODY;
const FOOT_HEIGHT: f32 = 13.0 * MM;
const SIGNATURE: Style = Style::regular(8.0);

const LOGO: (f32, f32) = (170.0, 56.0);
const TOTALS: Span = Span {
    x: WIDTH - LEFT - 270.0,
    width: 270.0,
};
const TOTAL: Style = Style::regular(9.0);
const LEGEND: Style = Style::regular(7.0).colored(GRAY);

pub(crate) fn lay_out(receipt: &Receipt, content: &Content, design: &Design, symbol: &Symbol) -> Vec<Sheet> {
    let mut head = Sheet::default();
    let body_top = write_head(&mut head, content, design);
    let table = LineTable::new(&content.lines, BODY);
    let lines_top = body_top + table.head_height();
    let foot = foot(content, design, symbol);
    let heights: Vec<f32> = (0..content.lines.lines.len()).map(|line| table.height(line)).collect();
    let room = Room {
        heights: &heights,
        page: foot.top(SUBTOTALS_HEIGHT) - lines_top,
        last: foot.top(totals_height(&content.totals, content)) - lines_top,
    };
    let parts = parts_of(receipt, &room);
    let sheets = parts.iter().enumerate().map(|(index, part)| {
        let mut sheet = Sheet {
            width: WIDTH,
            height: HEIGHT,
            elements: head.elements.clone(),
        };
        if index > 0 {
            sheet.elements = head.elements.iter().map(Element::repeated).collect();
        }
        let end = table.write(&mut sheet, part.lines.clone(), body_top, index == 0, design.color);
        write_foot(&mut sheet, content, part, index, &foot, end);
        sheet
    });
    sheets.collect()
}

/// Writes the head of every sheet; returns where the table starts.
fn write_head(sheet: &mut Sheet, content: &Content, design: &Design) -> f32 {
    let left = Span { x: LEFT, width: 310.0 };
    let right = Span {
        x: LEFT + 330.0,
        width: BODY.width - 330.0,
    };
    let mut y = TOP;
    if let Some(logo) = &design.logo {
        let (width, height) = logo.fitted(LOGO.0, LOGO.1);
        sheet.elements.push(Element {
            role: Role::Figure(Arc::from(format!("Logo de {}", content.legal_name))),
            marks: vec![Mark::Logo {
                x: LEFT,
                y,
                width,
                height,
            }],
        });
        y += height + 6.0;
    }
    let name = content.trade_name.as_ref().unwrap_or(&content.legal_name);
    y = sheet.text(Role::Paragraph, name, left, y, Style::bold(13.0));
    if content.trade_name.is_some() {
        y = sheet.text(Role::Paragraph, &content.legal_name, left, y, Style::bold(9.5));
    }
    y = write_pairs(sheet, &content.issuer, left, y + 1.0, Style::regular(8.5));
    if !content.contact.is_empty() {
        let contact = content.contact.join("  ·  ");
        y = sheet.text(Role::Paragraph, &contact, left, y, Style::regular(8.0).colored(GRAY));
    }
    let title = Style::bold(13.0).colored(design.color.on_white());
    let mut right_y = TOP;
    if let Some(mark) = content.mark {
        right_y = sheet.text(Role::Paragraph, mark, right, right_y, Style::bold(18.0)) + 3.0;
    }
    right_y = sheet.text(Role::Heading, content.title, right, right_y, title) + 3.0;
    for (index, pair) in content.identity.iter().enumerate() {
        let style = if index == 0 {
            Style::bold(11.0)
        } else {
            Style::regular(8.5)
        };
        right_y = sheet.pair(pair.label, &pair.value, right, right_y, style);
    }
    y = y.max(right_y) + GAP;
    sheet.fill(BODY, y, 1.2, design.color);
    y = write_parties(sheet, content, y + GAP);
    y + GAP
}

/// Writes the buyer left and the terms right.
fn write_parties(sheet: &mut Sheet, content: &Content, y: f32) -> f32 {
    if content.buyer.is_empty() && content.terms.is_empty() {
        return y - GAP;
    }
    let left = Span { x: LEFT, width: 320.0 };
    let right = Span {
        x: LEFT + 330.0,
        width: BODY.width - 330.0,
    };
    let style = Style::regular(8.5);
    let buyer = write_pairs(sheet, &content.buyer, left, y, style);
    let terms = write_pairs(sheet, &content.terms, right, y, style);
    buyer.max(terms)
}

fn write_pairs(sheet: &mut Sheet, pairs: &[Pair], span: Span, y: f32, style: Style) -> f32 {
    pairs
        .iter()
        .fold(y, |y, pair| sheet.pair(pair.label, &pair.value, span, y, style))
}

/// The footer of every sheet, measured once.
struct Foot {
    legends: Vec<String>,
    closing: String,
    symbol_side: f32,
    /// The vertical position of the legends.
    legends_y: f32,
}

impl Foot {
    /// The vertical position of the footer, given the height of the sums beside the QR code.
    fn top(&self, sums_height: f32) -> f32 {
        let symbol = QUIET + self.symbol_side + QUIET + 2.0 * SIGNATURE.line_height();
        self.legends_y - symbol.max(sums_height + GAP) - GAP
    }
}

fn foot(content: &Content, design: &Design, symbol: &Symbol) -> Foot {
    let mut legends: Vec<String> = Vec::new();
    for legend in &content.legends {
        legends.extend(LEGEND.lines(legend, FOOT.width));
    }
    let closing = match design.footer.as_deref().map(printable) {
        Some(footer) if !footer.is_empty() => format!("{CLOSING}  ·  {footer}"),
        _ => CLOSING.to_owned(),
    };
    // The closing line shares its row with the page number. A longer one is cut, since the law requires none of it.
    let mut closing = LEGEND.lines(&closing, FOOT.width - 90.0);
    closing.truncate(1);
    Foot {
        symbol_side: symbol.side(DOT),
        legends_y: HEIGHT - FOOT_HEIGHT - legends.len() as f32 * LEGEND.line_height(),
        legends,
        closing: closing.concat(),
    }
}

fn row_height(total: &Total) -> f32 {
    let label = style_of(total).lines(&total.label, label_width());
    label.len() as f32 * style_of(total).line_height() + if total.is_main { 8.0 } else { 1.5 }
}

fn totals_height(totals: &[Total], content: &Content) -> f32 {
    let head = if content.currency.is_some() { 14.0 } else { 0.0 };
    head + totals.iter().map(row_height).sum::<f32>()
}

/// The height of all subtotals that a page can have.
const SUBTOTALS_HEIGHT: f32 = 8.0 * 13.2 + 8.0;

fn style_of(total: &Total) -> Style {
    if total.is_main { Style::bold(11.0) } else { TOTAL }
}

fn label_width() -> f32 {
    TOTALS.width * 0.44
}

fn write_foot(sheet: &mut Sheet, content: &Content, part: &Part, index: usize, foot: &Foot, lines_end: f32) {
    let rows = match &part.subtotals {
        Some(page) => page_subtotals(page),
        None if part.is_last => content.totals.clone(),
        None => Vec::new(),
    };
    let currency = content.currency.filter(|_| part.is_last);
    let top = foot.top(totals_height(&rows, content)).max(lines_end);
    write_sums(sheet, &rows, currency, top + GAP, index);

    let symbol_y = foot.legends_y - GAP - 2.0 * SIGNATURE.line_height() - QUIET - foot.symbol_side;
    let alt = format!("Código QR para consultar el e-NCF {} en la DGII", content.encf);
    let mut elements = vec![Element {
        role: Role::Figure(Arc::from(alt)),
        marks: vec![Mark::Symbol {
            x: snap(SYMBOL_X + DOT, DOT),
            y: snap(symbol_y, DOT),
            side: foot.symbol_side,
        }],
    }];
    let mut signature = Sheet::default();
    let mut y = symbol_y + foot.symbol_side + QUIET;
    let span = Span {
        x: SYMBOL_X - 4.0,
        width: 260.0,
    };
    for pair in &content.signature {
        y = signature.pair(pair.label, &pair.value, span, y, SIGNATURE);
    }
    let mut closing = Element::new(Role::Paragraph);
    let y = closing.write(&foot.legends, FOOT, foot.legends_y, LEGEND);
    closing.write(std::slice::from_ref(&foot.closing), FOOT, y + 1.0, LEGEND);
    elements.extend(signature.elements);
    elements.push(closing);
    if index > 0 {
        elements = elements.iter().map(Element::repeated).collect();
    }
    sheet.elements.extend(elements);
    if let Some((number, count)) = part.number {
        let text = format!("Página No. {number} de {count}");
        sheet.text(Role::Artifact, &text, FOOT, y + 1.0, LEGEND.right());
    }
}

/// Writes the totals, or the page's subtotals, with a column for the other currency if there is one.
fn write_sums(sheet: &mut Sheet, rows: &[Total], currency: Option<&str>, top: f32, index: usize) {
    let table = Table::Totals(index);
    let main = currency.map_or(1.0, |_| 0.5);
    let amounts = Span {
        x: TOTALS.x + label_width(),
        width: (TOTALS.width - label_width()) * main,
    };
    let others = Span {
        x: amounts.x + amounts.width,
        width: amounts.width,
    };
    let mut y = top;
    let mut cell = |row, kind, text: &str, span, y, style: Style| {
        sheet.text(Role::Cell { table, row, kind }, text, span, y, style)
    };
    if let Some(currency) = currency {
        let style = Style::bold(7.5).right();
        cell(0, Cell::ColumnHead, "DOP", amounts, y, style);
        cell(0, Cell::ColumnHead, currency, others, y, style);
        y += 14.0;
    }
    let mut rules = Vec::new();
    for (row, total) in rows.iter().enumerate() {
        let row = row + 1;
        let mut style = style_of(total);
        if total.is_main {
            rules.push(y + 1.0);
            y += 4.0;
        }
        cell(
            row,
            Cell::RowHead,
            &total.label,
            Span {
                x: TOTALS.x,
                width: label_width(),
            },
            y,
            style,
        );
        // Sixteen digits do not fit into half of the box: the type shrinks, and no digit is lost.
        let widest = style
            .width(&total.amount)
            .max(total.other.as_ref().map_or(0.0, |other| style.width(other)));
        let room = amounts.width - 4.0;
        if widest > room {
            style.size *= room / widest;
        }
        style.align = Align::Right;
        cell(row, Cell::Data, &total.amount, amounts, y, style);
        if let (Some(other), true) = (&total.other, currency.is_some()) {
            cell(row, Cell::Data, other, others, y, style);
        }
        y += row_height(total) - if total.is_main { 4.0 } else { 0.0 };
    }
    for y in rules {
        sheet.fill(TOTALS, y, 0.8, RULE);
    }
}
