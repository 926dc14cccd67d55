//! The two embedded faces: their characters, and the width of a text.
//!
//! Text is set one glyph per character, without kerning or ligatures: the scripts of the font need neither. All digits
//! have the same width, so amounts line up.

use std::sync::LazyLock;

use krilla::text::{Font, GlyphId, KrillaGlyph};
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider as _};

/// Regular or bold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

/// A face, loaded once.
pub(crate) struct Face {
    pub(crate) font: Font,
    /// Each character with its glyph and its advance in ems, sorted by character.
    glyphs: Vec<(char, u32, f32)>,
}

const REGULAR: &[u8] = include_bytes!("../fonts/NotoSans-Regular.ttf");
const BOLD: &[u8] = include_bytes!("../fonts/NotoSans-Bold.ttf");

static FACES: LazyLock<[Face; 2]> = LazyLock::new(|| [Face::read(REGULAR), Face::read(BOLD)]);

impl Weight {
    pub(crate) fn face(self) -> &'static Face {
        &FACES[self as usize]
    }
}

impl Face {
    fn read(bytes: &'static [u8]) -> Self {
        let read = FontRef::new(bytes).expect("the embedded font is whole");
        let metrics = read.glyph_metrics(Size::new(1.0), LocationRef::default());
        let mut glyphs: Vec<_> = read
            .charmap()
            .mappings()
            .filter_map(|(code, glyph)| {
                let advance = metrics.advance_width(glyph)?;
                Some((char::from_u32(code)?, glyph.to_u32(), advance))
            })
            .collect();
        glyphs.sort_unstable_by_key(|(character, ..)| *character);
        Self {
            font: Font::new(bytes.into(), 0).expect("the embedded font is whole"),
            glyphs,
        }
    }

    /// Whether the face has a glyph for the character.
    pub(crate) fn has(&self, character: char) -> bool {
        self.find(character).is_some()
    }

    /// The width of a text at this size.
    pub(crate) fn width(&self, text: &str, size: f32) -> f32 {
        text.chars()
            .filter_map(|character| self.find(character))
            .map(|(_, advance)| advance * size)
            .sum()
    }

    /// The glyphs of a text, whose missing characters were replaced before.
    pub(crate) fn glyphs(&self, text: &str) -> Vec<KrillaGlyph> {
        text.char_indices()
            .filter_map(|(start, character)| {
                let (glyph, advance) = self.find(character)?;
                let range = start..start + character.len_utf8();
                Some(KrillaGlyph::new(
                    GlyphId::new(glyph),
                    advance,
                    0.0,
                    0.0,
                    0.0,
                    range,
                    None,
                ))
            })
            .collect()
    }

    fn find(&self, character: char) -> Option<(u32, f32)> {
        let place = self
            .glyphs
            .binary_search_by_key(&character, |(known, ..)| *known)
            .ok()?;
        let (_, glyph, advance) = self.glyphs[place];
        Some((glyph, advance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::REPLACEMENT;

    #[test]
    fn both_faces_have_what_a_receipt_is_written_with() {
        for weight in [Weight::Regular, Weight::Bold] {
            for character in "ABCXYZabcxyz0123456789áéíóúüñÁÉÍÓÚÜÑ¿¡ªº°%&$€£.,:;-–—'\"/()".chars()
            {
                assert!(weight.face().has(character), "{character:?}");
            }
            assert!(weight.face().has(REPLACEMENT));
        }
    }

    #[test]
    fn figures_have_one_width() {
        for weight in [Weight::Regular, Weight::Bold] {
            let widths: Vec<f32> = ('0'..='9')
                .map(|digit| weight.face().width(&digit.to_string(), 10.0))
                .collect();
            assert!(widths.iter().all(|width| *width == widths[0]), "{widths:?}");
        }
    }
}
