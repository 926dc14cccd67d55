//! The papers that a receipt is printed on. A new sheet or till roll is a variant with its name and its measures, here
//! alone.

use std::fmt;
use std::str::FromStr;

use ecf_language::{Bilingual, Say};
use thiserror::Error;

use crate::letter::Page;
use crate::roll::Roll;
use crate::sheet::{MM, Span};

/// The paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Format {
    /// A letter sheet, 216 × 279 mm.
    #[default]
    Letter,
    /// An A4 sheet, 210 × 297 mm.
    A4,
    /// A till roll of 80 mm, of which 72 mm are printed.
    Roll80,
    /// A till roll of 58 mm, of which 48 mm are printed.
    Roll58,
}

/// A name that does not denote a paper.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("format {given:?} is not one of {}", Format::ALL.map(Format::as_str).join(", "))]
pub struct UnknownFormat {
    /// The text as received.
    pub given: String,
}

impl Say for UnknownFormat {
    fn say(&self) -> Bilingual {
        Bilingual::of(
            self,
            format!(
                "el formato {:?} no es uno de {}",
                self.given,
                Format::ALL.map(Format::as_str).join(", ")
            ),
        )
    }
}

/// A layout and the measures that it needs.
pub(crate) enum Layout {
    /// Sheets of a fixed height.
    Sheet(Page),
    /// One column, as long as necessary.
    Roll(Roll),
}

impl Format {
    /// All papers.
    pub const ALL: [Self; 4] = [Self::Letter, Self::A4, Self::Roll80, Self::Roll58];

    /// The name in URLs and file names.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Letter => "letter",
            Self::A4 => "a4",
            Self::Roll80 => "roll80",
            Self::Roll58 => "roll58",
        }
    }

    /// The layout, with the measures of the paper.
    pub(crate) const fn layout(self) -> Layout {
        match self {
            Self::Letter => Layout::Sheet(Page {
                width: 612.0,
                height: 792.0,
            }),
            Self::A4 => Layout::Sheet(Page {
                width: 210.0 * MM,
                height: 297.0 * MM,
            }),
            Self::Roll80 => Layout::Roll(Roll {
                width: 80.0 * MM,
                printed: Span {
                    x: 4.0 * MM,
                    width: 72.0 * MM,
                },
                size: 8.5,
            }),
            Self::Roll58 => Layout::Roll(Roll {
                width: 58.0 * MM,
                printed: Span {
                    x: 5.0 * MM,
                    width: 48.0 * MM,
                },
                size: 7.5,
            }),
        }
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|format| format.as_str() == text)
            .ok_or_else(|| UnknownFormat { given: text.to_owned() })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_paper_is_read_back_from_its_name() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        let error = "a5".parse::<Format>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "format \"a5\" is not one of letter, a4, roll80, roll58"
        );
    }
}
