//! The issuer's design of the printed representation: logo, colour and a closing line.

use std::fmt;
use std::str::FromStr;

use ecf_language::{Bilingual, Say};
use krilla::image::Image;
use thiserror::Error;

use crate::pdf;

/// What an issuer adds to the print. The default is black on white without additions.
#[derive(Debug, Clone, Default)]
pub struct Design {
    /// Printed at the top.
    pub logo: Option<Logo>,
    /// The colour of the title and of the head of the table, on letter sheets.
    pub color: Color,
    /// A closing line, such as a slogan or a contact for complaints.
    pub footer: Option<String>,
}

/// A colour, written `#rrggbb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Color {
    red: u8,
    green: u8,
    blue: u8,
}

/// A text that does not name a colour.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{given:?} is not a colour such as #1f3a5f")]
pub struct UnknownColor {
    /// The text as received.
    pub given: String,
}

impl Say for UnknownColor {
    fn say(&self) -> Bilingual {
        Bilingual::of(self, format!("{:?} no es un color como #1f3a5f", self.given))
    }
}

impl Color {
    pub(crate) const BLACK: Self = Self::new(0, 0, 0);
    pub(crate) const WHITE: Self = Self::new(255, 255, 255);

    /// A colour from its parts.
    pub const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self { red, green, blue }
    }

    pub(crate) const fn gray(level: u8) -> Self {
        Self::new(level, level, level)
    }

    pub(crate) const fn parts(self) -> (u8, u8, u8) {
        (self.red, self.green, self.blue)
    }

    /// The colour for small text on white: itself, or black if it is too light to read.
    pub(crate) fn on_white(self) -> Self {
        if self.brightness() > 140 { Self::BLACK } else { self }
    }

    /// The colour for text on this one: black or white.
    pub(crate) fn contrast(self) -> Self {
        if self.brightness() > 140 {
            Self::BLACK
        } else {
            Self::WHITE
        }
    }

    /// The perceived brightness, from 0 to 255.
    fn brightness(self) -> u32 {
        (u32::from(self.red) * 299 + u32::from(self.green) * 587 + u32::from(self.blue) * 114) / 1_000
    }
}

impl Default for Color {
    fn default() -> Self {
        Self::new(0x26, 0x32, 0x38)
    }
}

impl FromStr for Color {
    type Err = UnknownColor;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownColor { given: text.to_owned() };
        let digits = text.strip_prefix('#').ok_or_else(unknown)?;
        if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(unknown());
        }
        let number = u32::from_str_radix(digits, 16).map_err(|_| unknown())?;
        let [_, red, green, blue] = number.to_be_bytes();
        Ok(Self { red, green, blue })
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

/// An image that is checked: its format and size are allowed, and the PDF library accepts it.
#[derive(Clone)]
pub struct Logo {
    image: Image,
}

/// Why an image is rejected as a logo.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LogoError {
    /// The file is too large.
    #[error("the image has {bytes} bytes, at most {limit} are taken")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The format is neither PNG nor JPEG.
    #[error("the image is neither PNG nor JPEG")]
    Kind,
    /// A side has more pixels than the limit, or none.
    #[error("the image has {width} × {height} pixels, at least 1 and at most {limit} are taken on each side")]
    Pixels {
        /// The width.
        width: u32,
        /// The height.
        height: u32,
        /// The limit of each side.
        limit: u32,
    },
    /// The file is damaged, or uses colours that PDF/A does not allow (CMYK).
    #[error("the image cannot be used: {reason}")]
    Unusable {
        /// The PDF library's message.
        reason: String,
    },
}

impl Say for LogoError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::TooLarge { bytes, limit } => format!("la imagen tiene {bytes} bytes, se aceptan {limit} como máximo"),
            Self::Kind => "la imagen no es PNG ni JPEG".to_owned(),
            Self::Pixels { width, height, limit } => {
                format!("la imagen tiene {width} × {height} píxeles, cada lado puede tener de 1 a {limit}")
            }
            // The reason is the PDF library's, in English.
            Self::Unusable { .. } => "no se puede usar la imagen".to_owned(),
        };
        Bilingual::of(self, spanish)
    }
}

impl Logo {
    /// Upper bound of the file size.
    pub const MAX_BYTES: usize = 256 * 1024;
    /// Upper bound of each side in pixels.
    pub const MAX_PIXELS: u32 = 2_000;

    /// Reads a PNG or JPEG file.
    ///
    /// # Errors
    ///
    /// When the format differs, the file is too large or damaged, or its colours are not allowed in PDF/A.
    pub fn read(bytes: &[u8]) -> Result<Self, LogoError> {
        if bytes.len() > Self::MAX_BYTES {
            return Err(LogoError::TooLarge {
                bytes: bytes.len(),
                limit: Self::MAX_BYTES,
            });
        }
        let data = bytes.to_vec().into();
        // The size is in the file's header, so it is checked before any pixel is decoded.
        let image = match bytes {
            [0x89, b'P', b'N', b'G', ..] => Image::from_png(data, false),
            [0xFF, 0xD8, 0xFF, ..] => Image::from_jpeg(data, false),
            _ => return Err(LogoError::Kind),
        };
        let image = image.map_err(|reason| LogoError::Unusable { reason })?;
        let (width, height) = image.size();
        if !(1..=Self::MAX_PIXELS).contains(&width) || !(1..=Self::MAX_PIXELS).contains(&height) {
            return Err(LogoError::Pixels {
                width,
                height,
                limit: Self::MAX_PIXELS,
            });
        }
        let logo = Self { image };
        pdf::try_out(&logo).map_err(|reason| LogoError::Unusable { reason })?;
        Ok(logo)
    }

    pub(crate) fn image(&self) -> &Image {
        &self.image
    }

    /// The largest size, in the image's proportions, that fits into this box.
    pub(crate) fn fitted(&self, width: f32, height: f32) -> (f32, f32) {
        let (pixels_wide, pixels_high) = self.image.size();
        let scale = (width / pixels_wide as f32).min(height / pixels_high as f32);
        (pixels_wide as f32 * scale, pixels_high as f32 * scale)
    }
}

impl fmt::Debug for Logo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, height) = self.image.size();
        write!(f, "Logo({width}x{height})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_and_a_light_one_does_not_make_text_unreadable() {
        let blue: Color = "#1f3A5f".parse().unwrap();
        assert_eq!(blue.to_string(), "#1f3a5f");
        assert_eq!((blue.on_white(), blue.contrast()), (blue, Color::WHITE));
        let yellow = Color::new(255, 235, 59);
        assert_eq!((yellow.on_white(), yellow.contrast()), (Color::BLACK, Color::BLACK));
        for given in ["1f3a5f", "#1f3a5", "#1f3a5g", "#ñ3a5f", "red", ""] {
            assert!(given.parse::<Color>().is_err(), "{given}");
        }
    }

    #[test]
    fn what_is_no_image_is_no_logo() {
        assert_eq!(Logo::read(b"<svg onload='x'/>").unwrap_err(), LogoError::Kind);
        assert_eq!(Logo::read(b"").unwrap_err(), LogoError::Kind);
        assert!(matches!(
            Logo::read(&vec![0; Logo::MAX_BYTES + 1]),
            Err(LogoError::TooLarge { .. })
        ));
        assert!(matches!(Logo::read(b"\x89PNG"), Err(LogoError::Unusable { .. })));
        assert!(matches!(
            Logo::read(b"\xFF\xD8\xFF\xE0"),
            Err(LogoError::Unusable { .. })
        ));
    }
}
