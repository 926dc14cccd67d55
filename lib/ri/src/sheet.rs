//! A page as a list of elements to draw, each with its role in the document.

use std::sync::Arc;

use crate::design::Color;
use crate::font::Weight;
use crate::text::wrap;

/// Points per millimetre.
pub(crate) const MM: f32 = 72.0 / 25.4;

/// The nearest position at or before `place` that is a multiple of `dot`.
pub(crate) fn snap(place: f32, dot: f32) -> f32 {
    (place / dot).floor() * dot
}

/// One page.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    pub(crate) width: f32,
    pub(crate) height: f32,
    pub(crate) elements: Vec<Element>,
}

/// An element with a place in the reading order.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    pub(crate) role: Role,
    pub(crate) marks: Vec<Mark>,
}

/// The role of an element for screen readers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Role {
    Heading,
    Paragraph,
    /// Part of a table, which may continue over several pages.
    Cell {
        table: Table,
        row: usize,
        kind: Cell,
    },
    /// An image, with its alternative text.
    Figure(Arc<str>),
    /// Not read: rules, and elements that repeat on every page.
    Artifact,
}

/// The tables of a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Table {
    Lines,
    /// The subtotals of the page with this index, or the totals on the last.
    Totals(usize),
}

/// What a cell of a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    ColumnHead,
    RowHead,
    Data,
}

/// Something to draw. Positions are points from the upper left corner.
#[derive(Debug, Clone)]
pub(crate) enum Mark {
    Text {
        x: f32,
        baseline: f32,
        size: f32,
        weight: Weight,
        color: Color,
        text: String,
    },
    Fill {
        x: f32,
        y: f32,
        width: f32,
        height: f32,
        color: Color,
    },
    Logo {
        x: f32,
        y: f32,
        width: f32,
        height: f32,
    },
    Symbol {
        x: f32,
        y: f32,
        side: f32,
    },
}

/// The alignment of a text in its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Center,
    Right,
}

/// The look of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub(crate) size: f32,
    pub(crate) weight: Weight,
    pub(crate) color: Color,
    pub(crate) align: Align,
}

impl Style {
    pub(crate) const fn regular(size: f32) -> Self {
        Self {
            size,
            weight: Weight::Regular,
            color: Color::BLACK,
            align: Align::Left,
        }
    }

    pub(crate) const fn bold(size: f32) -> Self {
        Self {
            weight: Weight::Bold,
            ..Self::regular(size)
        }
    }

    pub(crate) const fn colored(self, color: Color) -> Self {
        Self { color, ..self }
    }

    pub(crate) const fn right(self) -> Self {
        Self {
            align: Align::Right,
            ..self
        }
    }

    pub(crate) const fn centered(self) -> Self {
        Self {
            align: Align::Center,
            ..self
        }
    }

    pub(crate) fn line_height(self) -> f32 {
        self.size * 1.3
    }

    pub(crate) fn width(self, text: &str) -> f32 {
        self.weight.face().width(text, self.size)
    }

    pub(crate) fn lines(self, text: &str, width: f32) -> Vec<String> {
        wrap(text, self.weight, self.size, width)
    }
}

/// A column to write in: its left edge and its width.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) x: f32,
    pub(crate) width: f32,
}

/// A conspicuous band across the sheet: one word, and its meaning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Band {
    pub(crate) word: &'static str,
    pub(crate) text: &'static str,
    /// Whether the band is filled, with text in contrast; otherwise it is a frame with black text.
    pub(crate) is_filled: bool,
}

impl Element {
    pub(crate) fn new(role: Role) -> Self {
        Self {
            role,
            marks: Vec::new(),
        }
    }

    /// Writes lines below `y`; returns where the next line would start.
    pub(crate) fn write(&mut self, lines: &[String], span: Span, y: f32, style: Style) -> f32 {
        let mut top = y;
        for line in lines {
            let free = span.width - style.width(line.trim_end());
            let x = match style.align {
                Align::Left => span.x,
                Align::Center => span.x + free / 2.0,
                Align::Right => span.x + free,
            };
            self.marks.push(Mark::Text {
                x,
                baseline: top + style.size,
                size: style.size,
                weight: style.weight,
                color: style.color,
                text: line.clone(),
            });
            top += style.line_height();
        }
        top
    }

    /// The same marks outside the reading order, for repetitions of an earlier page.
    pub(crate) fn repeated(&self) -> Self {
        Self {
            role: Role::Artifact,
            marks: self.marks.clone(),
        }
    }

    /// A copy, lower on the sheet.
    pub(crate) fn lowered(&self, by: f32) -> Self {
        let mut element = self.clone();
        for mark in &mut element.marks {
            match mark {
                Mark::Text { baseline: y, .. }
                | Mark::Fill { y, .. }
                | Mark::Logo { y, .. }
                | Mark::Symbol { y, .. } => *y += by,
            }
        }
        element
    }
}

impl Sheet {
    /// Writes a text below `y`, broken into lines; returns where the next line would start.
    pub(crate) fn text(&mut self, role: Role, text: &str, span: Span, y: f32, style: Style) -> f32 {
        let mut element = Element::new(role);
        let end = element.write(&style.lines(text, span.width), span, y, style);
        self.elements.push(element);
        end
    }

    /// Writes a label in bold and its value as one paragraph. A long value continues below the label.
    pub(crate) fn pair(&mut self, label: &str, value: &str, span: Span, y: f32, style: Style) -> f32 {
        let bold = Style {
            weight: Weight::Bold,
            ..style
        };
        let label = format!("{label} ");
        let indent = bold.width(&label);
        let mut element = Element::new(Role::Paragraph);
        element.write(&[label], span, y, bold);
        let beside = Span {
            x: span.x + indent,
            width: span.width - indent,
        };
        // A word that does not fit beside the label starts the next line unbroken.
        let first_word = value.split(' ').next().unwrap_or_default();
        let mut lines = Vec::new();
        let mut below = value.to_owned();
        if style.width(first_word) <= beside.width {
            lines = style.lines(value, beside.width);
            below = lines.split_off(1).concat();
        }
        let mut end = element.write(&lines, beside, y, style).max(y + style.line_height());
        if !below.is_empty() {
            end = element.write(&style.lines(&below, span.width), span, end, style);
        }
        self.elements.push(element);
        end
    }

    /// Writes a band whose word has the type size `size`. The text is beside the word if both fit, otherwise below it.
    /// Returns where the band ends.
    pub(crate) fn band(&mut self, band: &Band, span: Span, y: f32, size: f32, color: Color) -> f32 {
        const INSET: f32 = 3.0;
        let inner = Span {
            x: span.x + 2.0 * INSET,
            width: span.width - 4.0 * INSET,
        };
        let ink = if band.is_filled { color.contrast() } else { Color::BLACK };
        let mut word = Style::bold(size).colored(ink).centered();
        let widest = word.width(band.word);
        if widest > inner.width {
            word.size *= inner.width / widest;
        }
        let text = Style::bold((size * 0.55).max(7.5)).colored(ink).centered();
        let (first, second) = (word.width(band.word), text.width(band.text));
        let both = first + size + second;
        let mut words = Element::new(Role::Paragraph);
        let top = y + INSET;
        let end = if both <= inner.width {
            let left = Span {
                x: inner.x + (inner.width - both) / 2.0,
                width: first,
            };
            let right = Span {
                x: left.x + first + size,
                width: second,
            };
            let end = words.write(&[band.word.to_owned()], left, top, word);
            words.write(&[band.text.to_owned()], right, top + word.size - text.size, text);
            end
        } else {
            let y = words.write(&[band.word.to_owned()], inner, top, word);
            words.write(&text.lines(band.text, inner.width), inner, y, text)
        };
        let height = end + INSET - y;
        if band.is_filled {
            self.fill(span, y, height, color);
        } else {
            self.frame(span, y, height);
        }
        self.elements.push(words);
        y + height
    }

    /// Draws a black frame as decoration.
    pub(crate) fn frame(&mut self, span: Span, y: f32, height: f32) {
        const LINE: f32 = 1.0;
        let side = |x| Span { x, width: LINE };
        self.fill(span, y, LINE, Color::BLACK);
        self.fill(span, y + height - LINE, LINE, Color::BLACK);
        self.fill(side(span.x), y, height, Color::BLACK);
        self.fill(side(span.x + span.width - LINE), y, height, Color::BLACK);
    }

    /// Fills a box as decoration.
    pub(crate) fn fill(&mut self, span: Span, y: f32, height: f32, color: Color) {
        let mark = Mark::Fill {
            x: span.x,
            y,
            width: span.width,
            height,
            color,
        };
        self.elements.push(Element {
            role: Role::Artifact,
            marks: vec![mark],
        });
    }
}
