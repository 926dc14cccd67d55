//! The letter sheet, and A4: issuer left, number right, the lines as a table, QR code and totals at the bottom.

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

/// The size of a sheet, in points.
pub(crate) struct Page {
    pub(crate) width: f32,
    pub(crate) height: f32,
}

impl Page {
    const fn body(&self) -> Span {
        Span {
            x: LEFT,
            width: self.width - 2.0 * LEFT,
        }
    }

    /// The columns of the head. The left one is wider.
    const fn columns(&self) -> [Span; 2] {
        let left = Span { x: LEFT, width: 320.0 };
        let right = Span {
            x: LEFT + 330.0,
            width: self.body().width - 330.0,
        };
        [left, right]
    }

    const fn totals(&self) -> Span {
        Span {
            x: self.width - LEFT - TOTALS_WIDTH,
            width: TOTALS_WIDTH,
        }
    }

    /// The space between the QR code and the totals.
    fn notices(&self, symbol_side: f32) -> Span {
        let x = SYMBOL_X + symbol_side + QUIET + 2.0 * NOTICE_INSET;
        Span {
            x,
            width: self.totals().x - x - 4.0 * NOTICE_INSET,
        }
    }
}

const TOP: f32 = 12.0 * MM;
const LEFT: f32 = 15.0 * MM;
const GAP: f32 = 8.0;
const GRAY: Color = Color::gray(110);
const RULE: Color = Color::gray(200);

/// A dot at 300 dpi; other office printers have a multiple of that resolution. The QR code is at least two centimetres
/// from the edges of the sheet, with three millimetres of free space around it.
const DOT: f32 = 72.0 / 300.0;
const SYMBOL_X: f32 = 20.0 * MM;
const QUIET: f32 = 3.0 * MM;
/// Below the QR code are the security code, the time of signing and the footer.
const FOOT_HEIGHT: f32 = 13.0 * MM;
const SIGNATURE: Style = Style::regular(8.0);

const LOGO: (f32, f32) = (170.0, 56.0);
const TOTALS_WIDTH: f32 = 270.0;
const TOTAL: Style = Style::regular(9.0);
const LEGEND: Style = Style::regular(7.0).colored(GRAY);
const NOTICE: Style = Style::bold(9.5);
const NOTICE_INSET: f32 = 5.0;
const MORE: Style = Style::regular(8.0);
const BAND: f32 = 17.0;
/// The colour of the band on a receipt without fiscal value. A printer without colour prints it nearly black.
const ALARM: Color = Color::new(0xa8, 0x00, 0x20);

pub(crate) fn lay_out(
    receipt: &Receipt,
    content: &Content,
    design: &Design,
    page: &Page,
    symbol: &Symbol,
) -> Vec<Sheet> {
    let mut head = Sheet::default();
    let body_top = write_head(&mut head, content, design, page);
    let table = LineTable::new(&content.lines, page.body());
    let lines_top = body_top + table.head_height();
    let foot = foot(content, design, page, symbol);
    let heights: Vec<f32> = (0..content.lines.lines.len()).map(|line| table.height(line)).collect();
    let last = foot.top(totals_height(&content.totals, content)) - lines_top;
    let more = More::of(content, page, last);
    let room = Room {
        heights: &heights,
        page: foot.top(SUBTOTALS_HEIGHT) - lines_top,
        last: last - more.height,
    };
    let parts = parts_of(receipt, &room);
    let sheets = parts.iter().enumerate().map(|(index, part)| {
        let mut sheet = Sheet {
            width: page.width,
            height: page.height,
            elements: head.elements.clone(),
        };
        if index > 0 {
            sheet.elements = head.elements.iter().map(Element::repeated).collect();
        }
        let mut end = table.write(&mut sheet, part.lines.clone(), body_top, index == 0, design.color);
        if part.is_last {
            end = more.write(&mut sheet, end);
        }
        write_foot(&mut sheet, content, part, index, &foot, end);
        sheet
    });
    sheets.collect()
}

/// Printed once, below the last line: shipment in two columns, then notes in one. The law requires none of it, so the
/// part that does not fit on one sheet is cut.
struct More {
    elements: Vec<Element>,
    height: f32,
}

impl More {
    fn of(content: &Content, page: &Page, room: f32) -> Self {
        let body = page.body();
        let left = Span {
            width: body.width / 2.0 - GAP,
            ..body
        };
        let right = Span {
            x: body.x + body.width / 2.0,
            width: body.width / 2.0,
        };
        let shipment = content.shipment.chunks(2).map(|pairs| {
            let mut row = Sheet::default();
            let ends = pairs
                .iter()
                .zip([left, right])
                .map(|(pair, span)| row.pair(pair.label, &pair.value, span, 0.0, MORE));
            let height = ends.fold(0.0, f32::max);
            (row, height)
        });
        let notes = content.notes.iter().map(|pair| {
            let mut row = Sheet::default();
            let height = row.pair(pair.label, &pair.value, body, 0.0, MORE);
            (row, height)
        });
        let mut more = Self {
            elements: Vec::new(),
            height: 0.0,
        };
        for (row, height) in shipment.chain(notes) {
            let y = if more.elements.is_empty() {
                GAP / 2.0
            } else {
                more.height
            };
            if y + height > room {
                break;
            }
            more.elements
                .extend(row.elements.iter().map(|element| element.lowered(y)));
            more.height = y + height;
        }
        more
    }

    /// Writes the rows below `y`; returns where they end.
    fn write(&self, sheet: &mut Sheet, y: f32) -> f32 {
        sheet
            .elements
            .extend(self.elements.iter().map(|element| element.lowered(y)));
        y + self.height
    }
}

/// Writes the head of every sheet; returns where the table starts.
fn write_head(sheet: &mut Sheet, content: &Content, design: &Design, page: &Page) -> f32 {
    let [left, right] = page.columns();
    let mut top = TOP;
    for band in &content.bands {
        top = sheet.band(band, page.body(), top, BAND, ALARM) + 3.0;
    }
    if !content.bands.is_empty() {
        top += GAP / 2.0;
    }
    let mut y = top;
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
    let mut right_y = top;
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
    sheet.fill(page.body(), y, 1.2, design.color);
    y = write_parties(sheet, content, page, y + GAP);
    y + GAP
}

/// Writes the buyer left and the terms right.
fn write_parties(sheet: &mut Sheet, content: &Content, page: &Page, y: f32) -> f32 {
    if content.buyer.is_empty() && content.terms.is_empty() {
        return y - GAP;
    }
    let [left, right] = page.columns();
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
struct Foot<'a> {
    page: &'a Page,
    notices: Vec<Vec<String>>,
    legends: Vec<String>,
    closing: String,
    symbol_side: f32,
    /// The vertical position of the legends.
    legends_y: f32,
}

impl Foot<'_> {
    fn notices_height(&self) -> f32 {
        let lines = self.notices.iter().map(Vec::len).sum::<usize>() as f32;
        lines * NOTICE.line_height() + 3.0 * NOTICE_INSET * self.notices.len() as f32
    }

    /// The vertical position of the footer, given the height of the sums beside the QR code.
    fn top(&self, sums_height: f32) -> f32 {
        let signature = 2.0 * SIGNATURE.line_height();
        let symbol = QUIET + self.symbol_side + QUIET + signature;
        let notices = self.notices_height() + signature + GAP;
        self.legends_y - symbol.max(sums_height + GAP).max(notices) - GAP
    }
}

fn foot<'a>(content: &Content, design: &Design, page: &'a Page, symbol: &Symbol) -> Foot<'a> {
    let symbol_side = symbol.side(DOT);
    let notices = content.notices.iter();
    let notices = notices.map(|notice| NOTICE.lines(notice, page.notices(symbol_side).width));
    let mut legends: Vec<String> = Vec::new();
    for legend in &content.legends {
        legends.extend(LEGEND.lines(legend, page.body().width));
    }
    let closing = match design.footer.as_deref().map(printable) {
        Some(footer) if !footer.is_empty() => format!("{CLOSING}  ·  {footer}"),
        _ => CLOSING.to_owned(),
    };
    // The closing line shares its row with the page number. A longer one is cut, since the law requires none of it.
    let mut closing = LEGEND.lines(&closing, page.body().width - 90.0);
    closing.truncate(1);
    Foot {
        page,
        notices: notices.collect(),
        symbol_side,
        legends_y: page.height - FOOT_HEIGHT - legends.len() as f32 * LEGEND.line_height(),
        legends,
        closing: closing.concat(),
    }
}

fn row_height(total: &Total) -> f32 {
    let label = style_of(total).lines(&total.label, label_width());
    label.len() as f32 * style_of(total).line_height() + rule_height(total) + if total.is_main { 4.0 } else { 1.5 }
}

/// The height of the rule above a row.
fn rule_height(total: &Total) -> f32 {
    if total.is_main || total.is_sum { 4.0 } else { 0.0 }
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
    TOTALS_WIDTH * 0.44
}

fn write_foot(sheet: &mut Sheet, content: &Content, part: &Part, index: usize, foot: &Foot<'_>, lines_end: f32) {
    let rows = match &part.subtotals {
        Some(page) => page_subtotals(page),
        None if part.is_last => content.totals.clone(),
        None => Vec::new(),
    };
    let currency = content.currency.filter(|_| part.is_last);
    let top = foot.top(totals_height(&rows, content)).max(lines_end);
    write_sums(sheet, &rows, currency, foot.page.totals(), top + GAP, index);
    let body = foot.page.body();

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
    let notices = foot.page.notices(foot.symbol_side);
    // The notices end above the signature, whose lines may be longer than the QR code is wide.
    let mut notice_y = symbol_y.min(symbol_y + foot.symbol_side + QUIET - foot.notices_height());
    for notice in &foot.notices {
        let mut element = Element::new(Role::Paragraph);
        let end = element.write(notice, notices, notice_y + NOTICE_INSET, NOTICE) + NOTICE_INSET;
        let frame = Span {
            x: notices.x - NOTICE_INSET,
            width: notices.width + 2.0 * NOTICE_INSET,
        };
        signature.frame(frame, notice_y, end - notice_y);
        signature.elements.push(element);
        notice_y = end + NOTICE_INSET;
    }
    let mut closing = Element::new(Role::Paragraph);
    let y = closing.write(&foot.legends, body, foot.legends_y, LEGEND);
    closing.write(std::slice::from_ref(&foot.closing), body, y + 1.0, LEGEND);
    elements.extend(signature.elements);
    elements.push(closing);
    if index > 0 {
        elements = elements.iter().map(Element::repeated).collect();
    }
    sheet.elements.extend(elements);
    if let Some((number, count)) = part.number {
        let text = format!("Página No. {number} de {count}");
        sheet.text(Role::Artifact, &text, body, y + 1.0, LEGEND.right());
    }
}

/// Writes the totals, or the page's subtotals, with a column for the other currency if there is one.
fn write_sums(sheet: &mut Sheet, rows: &[Total], currency: Option<&str>, span: Span, top: f32, index: usize) {
    let table = Table::Totals(index);
    let main = currency.map_or(1.0, |_| 0.5);
    let amounts = Span {
        x: span.x + label_width(),
        width: (span.width - label_width()) * main,
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
        cell(0, Cell::ColumnHead, "RD$", amounts, y, style);
        cell(0, Cell::ColumnHead, currency, others, y, style);
        y += 14.0;
    }
    let mut rules = Vec::new();
    for (row, total) in rows.iter().enumerate() {
        let row = row + 1;
        let mut style = style_of(total);
        if rule_height(total) > 0.0 {
            rules.push(y + 1.0);
            y += rule_height(total);
        }
        cell(
            row,
            Cell::RowHead,
            &total.label,
            Span {
                x: span.x,
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
        y += row_height(total) - rule_height(total);
    }
    for y in rules {
        sheet.fill(span, y, 0.8, RULE);
    }
}
