//! Writes the sheets as PDF/A-2a: fonts embedded as subsets, every element in the tag tree, and output that does not
//! depend on time or machine.

use std::num::NonZeroU16;

use jiff::tz::Offset;
use krilla::color::rgb;
use krilla::configure::{Archival, Configuration, ConfigurationBuilder};
use krilla::geom::{PathBuilder, Point, Rect, Size, Transform};
use krilla::metadata::{DateTime, Metadata};
use krilla::num::NormalizedF32;
use krilla::page::PageSettings;
use krilla::paint::{Fill, FillRule};
use krilla::surface::Surface;
use krilla::tagging::{
    Artifact, ArtifactType, ContentTag, Identifier, Node, SpanTag, TableHeaderScope, Tag, TagGroup, TagTree,
};
use krilla::{Document, SerializeSettings};

use crate::RiError;
use crate::content::Content;
use crate::design::{Color, Design, Logo};
use crate::qr::Symbol;
use crate::sheet::{Cell, Element, Mark, Role, Sheet, Table};

/// The language of the text, for screen readers.
const LANGUAGE: &str = "es-DO";

pub(crate) fn write(sheets: &[Sheet], content: &Content, symbol: &Symbol, design: &Design) -> Result<Vec<u8>, RiError> {
    let mut document = document();
    let mut tree = Tree::default();
    for sheet in sheets {
        let settings = PageSettings::from_wh(sheet.width, sheet.height)
            .ok_or_else(|| RiError::Pdf(format!("a page of {} × {} points", sheet.width, sheet.height)))?;
        let mut page = document.start_page_with(settings);
        let mut surface = page.surface();
        for element in sheet.elements.iter().filter(|element| !element.marks.is_empty()) {
            let identifier = surface.start_tagged(content_tag(&element.role));
            for mark in &element.marks {
                draw(&mut surface, mark, symbol, design);
            }
            surface.end_tagged();
            tree.add(element, identifier);
        }
        surface.finish();
        page.finish();
    }
    document.set_tag_tree(tree.finish());
    document.set_metadata(metadata(content));
    document.finish().map_err(|error| RiError::Pdf(format!("{error:?}")))
}

/// Whether the PDF library accepts a document with this image.
pub(crate) fn try_out(logo: &Logo) -> Result<(), String> {
    let mut document = document();
    let mut page = document.start_page();
    let mut surface = page.surface();
    let identifier = surface.start_tagged(ContentTag::Other);
    let size = Size::from_wh(100.0, 100.0).expect("both are positive");
    surface.draw_image(logo.image().clone(), size);
    surface.end_tagged();
    surface.finish();
    page.finish();
    let mut tree = TagTree::new().with_lang(Some(LANGUAGE.to_owned()));
    tree.push(TagGroup::with_children(
        Tag::Figure(Some("Logo".to_owned())),
        vec![identifier.into()],
    ));
    document.set_tag_tree(tree);
    let metadata = Metadata::new()
        .language(LANGUAGE.to_owned())
        .title("Logo".to_owned())
        .creation_date(DateTime::new(2000));
    document.set_metadata(metadata);
    document.finish().map(drop).map_err(|error| format!("{error:?}"))
}

fn document() -> Document {
    Document::new_with(SerializeSettings {
        configuration: archival(),
        ..SerializeSettings::default()
    })
}

fn archival() -> Configuration {
    ConfigurationBuilder::new()
        .with_archival_validator(Archival::A2_A)
        .finish()
        .expect("PDF/A-2a has a PDF version")
}

/// The creation date is the time of signing, so the same receipt gives the same bytes at any time.
fn metadata(content: &Content) -> Metadata {
    let metadata = Metadata::new()
        .language(LANGUAGE.to_owned())
        .title(format!("{} {}", content.title, content.encf))
        .authors(vec![content.legal_name.clone()]);
    let Some(instant) = content.signed_at.instant() else {
        return metadata;
    };
    let signed_at = Offset::UTC.to_datetime(instant);
    let created = DateTime::new(signed_at.year().unsigned_abs())
        .month(signed_at.month().unsigned_abs())
        .day(signed_at.day().unsigned_abs())
        .hour(signed_at.hour().unsigned_abs())
        .minute(signed_at.minute().unsigned_abs())
        .second(signed_at.second().unsigned_abs())
        .utc_offset_hour(0);
    metadata.creation_date(created)
}

fn content_tag(role: &Role) -> ContentTag<'_> {
    match role {
        Role::Artifact => ContentTag::Artifact(Artifact::with_kind(ArtifactType::Page)),
        Role::Figure(_) => ContentTag::Other,
        Role::Heading | Role::Paragraph | Role::Cell { .. } => ContentTag::Span(SpanTag::empty()),
    }
}

fn draw(surface: &mut Surface<'_>, mark: &Mark, symbol: &Symbol, design: &Design) {
    match mark {
        Mark::Text {
            x,
            baseline,
            size,
            weight,
            color,
            text,
        } => {
            let face = weight.face();
            let glyphs = face.glyphs(text);
            surface.set_fill(Some(fill(*color)));
            surface.draw_glyphs(
                Point::from_xy(*x, *baseline),
                &glyphs,
                face.font.clone(),
                text,
                *size,
                false,
            );
        }
        Mark::Fill {
            x,
            y,
            width,
            height,
            color,
        } => {
            surface.set_fill(Some(fill(*color)));
            rectangles(surface, Rect::from_xywh(*x, *y, *width, *height));
        }
        Mark::Logo { x, y, width, height } => {
            let size = Size::from_wh(*width, *height);
            if let (Some(logo), Some(size)) = (&design.logo, size) {
                surface.push_transform(&Transform::from_translate(*x, *y));
                surface.draw_image(logo.image().clone(), size);
                surface.pop();
            }
        }
        Mark::Symbol { x, y, side } => {
            let module = side / symbol.modules() as f32;
            surface.set_fill(Some(fill(Color::BLACK)));
            let runs = symbol.runs().map(|(row, column, length)| {
                let (left, top) = (x + column as f32 * module, y + row as f32 * module);
                Rect::from_xywh(left, top, length as f32 * module, module)
            });
            rectangles(surface, runs);
        }
    }
}

/// Fills rectangles as one path, which avoids hairlines between them.
fn rectangles(surface: &mut Surface<'_>, rectangles: impl IntoIterator<Item = impl Into<Option<Rect>>>) {
    let mut path = PathBuilder::new();
    for rectangle in rectangles {
        if let Some(rectangle) = rectangle.into() {
            path.push_rect(rectangle);
        }
    }
    if let Some(path) = path.finish() {
        surface.draw_path(&path);
    }
}

fn fill(color: Color) -> Fill {
    let (red, green, blue) = color.parts();
    Fill {
        paint: rgb::Color::new(red, green, blue).into(),
        opacity: NormalizedF32::ONE,
        rule: FillRule::NonZero,
    }
}

/// The tag tree of the document. A table that continues over several pages is one table.
#[derive(Default)]
struct Tree {
    nodes: Vec<Branch>,
}

enum Branch {
    Group(TagGroup),
    Table {
        table: Table,
        rows: Vec<(usize, Vec<TagGroup>)>,
    },
}

impl Tree {
    fn add(&mut self, element: &Element, identifier: Identifier) {
        let tag = match &element.role {
            Role::Artifact => return,
            Role::Heading => TagGroup::new(Tag::Hn(NonZeroU16::MIN, None)),
            Role::Paragraph => TagGroup::new(Tag::P),
            Role::Figure(alt) => TagGroup::new(Tag::Figure(Some(String::from(&**alt)))),
            Role::Cell { kind, .. } => match kind {
                Cell::ColumnHead => TagGroup::new(Tag::TH(TableHeaderScope::Column)),
                Cell::RowHead => TagGroup::new(Tag::TH(TableHeaderScope::Row)),
                Cell::Data => TagGroup::new(Tag::TD),
            },
        };
        let mut group = tag;
        group.push(identifier);
        match element.role {
            Role::Cell { table, row, .. } => self.add_cell(table, row, group),
            _ => self.nodes.push(Branch::Group(group)),
        }
    }

    fn add_cell(&mut self, table: Table, row: usize, cell: TagGroup) {
        let known = self.nodes.iter_mut().rev().find_map(|branch| match branch {
            Branch::Table { table: known, rows } if *known == table => Some(rows),
            _ => None,
        });
        let Some(rows) = known else {
            let rows = vec![(row, vec![cell])];
            self.nodes.push(Branch::Table { table, rows });
            return;
        };
        match rows.last_mut() {
            Some((last, cells)) if *last == row => cells.push(cell),
            _ => rows.push((row, vec![cell])),
        }
    }

    fn finish(self) -> TagTree {
        let mut tree = TagTree::new().with_lang(Some(LANGUAGE.to_owned()));
        for branch in self.nodes {
            match branch {
                Branch::Group(group) => tree.push(group),
                Branch::Table { rows, .. } => {
                    let rows = rows.into_iter().map(|(_, cells)| {
                        let cells = cells.into_iter().map(Node::Group).collect();
                        Node::Group(TagGroup::with_children(Tag::TR, cells))
                    });
                    tree.push(TagGroup::with_children(Tag::Table, rows.collect()));
                }
            }
        }
        tree
    }
}
