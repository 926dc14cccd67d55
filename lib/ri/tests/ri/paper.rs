//! Reads a PDF back: text with positions, and pages as images.

use ecf::{Environment, StampHosts};
use ecf_ri::{Design, Format, Mode, Options, RiError, render};
use hayro::hayro_interpret::font::GlyphRun;
use hayro::hayro_interpret::hayro_cmap::BfString;
use hayro::hayro_interpret::hayro_syntax::Pdf;
use hayro::hayro_interpret::util::TransformExt as _;
use hayro::hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, InterpreterCache,
    InterpreterSettings, SoftMask, interpret_page,
};
use hayro::kurbo::{Affine, BezPath, Rect};
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::vello_cpu::{Pixmap, RasterizerSettings, RenderContext, Resources, TargetInit};
use hayro::{RenderCache, RenderSettings};

/// Prints with default options, in the environment of the tests.
pub(crate) fn print(signed: &[u8], format: Format) -> Vec<u8> {
    try_print(signed, format, Mode::Accepted, &Design::default()).unwrap()
}

/// Prints with this mode.
pub(crate) fn print_as(signed: &[u8], format: Format, mode: Mode) -> Vec<u8> {
    try_print(signed, format, mode, &Design::default()).unwrap()
}

pub(crate) fn try_print(signed: &[u8], format: Format, mode: Mode, design: &Design) -> Result<Vec<u8>, RiError> {
    let options = Options {
        environment: Environment::TesteCF,
        hosts: &StampHosts::default(),
        format,
        mode,
        design,
    };
    render(signed, &options)
}

/// The text of each page, in reading order: each run of glyphs as it was drawn, joined by line breaks.
pub(crate) fn texts(pdf: &[u8]) -> Vec<String> {
    read(pdf).into_iter().map(|reader| reader.text).collect()
}

/// The number of images on all pages.
pub(crate) fn images(pdf: &[u8]) -> usize {
    read(pdf).iter().map(|reader| reader.images).sum()
}

fn read(pdf: &[u8]) -> Vec<Reader> {
    let pdf = Pdf::new(pdf.to_vec()).unwrap();
    let read = pdf.pages().iter().map(|page| {
        let cache = InterpreterCache::new();
        let (width, height) = page.render_dimensions();
        let bounds = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
        let settings = InterpreterSettings::default();
        let mut context = Context::new(Affine::IDENTITY, bounds, &cache, page.xref(), settings);
        let mut reader = Reader::default();
        interpret_page(page, &mut context, &mut reader);
        reader
    });
    read.collect()
}

/// The text of all pages with every run of blanks and line breaks as one blank, to find sentences that were broken.
pub(crate) fn flat(pdf: &[u8]) -> String {
    let pages = texts(pdf).join("\n");
    pages.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[derive(Default)]
struct Reader {
    text: String,
    images: usize,
}

impl<'a> Device<'a> for Reader {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, _: DrawProps<'a>, _: &DrawMode) {
        for glyph in run.glyphs() {
            match glyph.as_unicode() {
                Some(BfString::Char(character)) => self.text.push(character),
                Some(BfString::String(text)) => self.text.push_str(&text),
                None => panic!("a glyph without a character"),
            }
        }
        self.text.push('\n');
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {
        self.images += 1;
    }
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

/// The size of each page in points.
pub(crate) fn sizes(pdf: &[u8]) -> Vec<(f32, f32)> {
    let pdf = Pdf::new(pdf.to_vec()).unwrap();
    pdf.pages().iter().map(|page| page.render_dimensions()).collect()
}

/// A part of a page in shades of gray.
pub(crate) struct Picture {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<u8>,
    /// Its upper edge on the page in points, and the size of the page.
    pub(crate) top: f32,
    pub(crate) page: (f32, f32),
}

/// Renders the lower left part of a page, where the QR code is, at this resolution.
pub(crate) fn picture(pdf: &[u8], page: usize, dpi: f32) -> Picture {
    const PART: (f32, f32) = (230.0, 290.0);
    let pdf = Pdf::new(pdf.to_vec()).unwrap();
    let page = &pdf.pages()[page];
    let size = page.render_dimensions();
    let top = size.1 - PART.1.min(size.1);
    let scale = dpi / 72.0;
    let pixels = |points: f32| (points * scale).round() as u16;
    let mut context = RenderContext::new(pixels(PART.0.min(size.0)), pixels(size.1 - top));
    let transform = Affine::scale(scale.into())
        * Affine::translate((0.0, -f64::from(top)))
        * page.initial_transform(true).to_kurbo();
    hayro::render_into(
        page,
        &RenderCache::new(),
        &InterpreterSettings::default(),
        &RenderSettings::default(),
        &mut context,
        transform,
    );
    context.flush();
    let mut pixmap = Pixmap::new(context.width(), context.height());
    let settings = RasterizerSettings {
        target_init: TargetInit::Clear(WHITE),
        ..RasterizerSettings::default()
    };
    context.render_with(&mut pixmap, &mut Resources::default(), settings);
    Picture {
        width: pixmap.width().into(),
        height: pixmap.height().into(),
        pixels: pixmap.data().iter().map(|pixel| pixel.g).collect(),
        top,
        page: size,
    }
}
