//! The printed representation (RI) of a receipt: from its signed bytes to a PDF, with the QR code of its stamp.
//!
//! The crate is pure: the same bytes and the same [`Options`] give the same PDF. Everything printed is covered by the
//! signature, except the issuer's [`Design`] and the marks of [`Mode`] and environment. Start at [`render`]. `content`
//! selects what is printed, in the words of the authority; `letter` and `roll` lay it out; `pdf` writes it as tagged
//! PDF/A-2a.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test"))]

mod amount;
mod content;
mod design;
mod font;
mod format;
mod letter;
mod mode;
mod paging;
mod pdf;
mod qr;
mod receipt;
mod roll;
mod sheet;
mod text;

use ecf::{Environment, StampHosts, XmlError};
use thiserror::Error;
use xmldsig::VerifyError;

pub use design::{Color, Design, Logo, LogoError, UnknownColor};
pub use format::{Format, UnknownFormat};
pub use mode::Mode;

use content::Content;
use format::Layout;
use receipt::Receipt;

/// The version of the layouts. Stored prints of another edition are rendered again: raise it with every visible change.
pub const EDITION: &str = "2";

/// How a receipt is printed.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// Where the receipt was issued; part of the URL in the QR code.
    pub environment: Environment,
    /// The authority's hosts for that URL.
    pub hosts: &'a StampHosts,
    /// The paper.
    pub format: Format,
    /// The outcome of the receipt; the document does not state it.
    pub mode: Mode,
    /// The issuer's design.
    pub design: &'a Design,
}

/// Why a receipt cannot be printed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RiError {
    /// The signature is invalid, so the content is not authentic.
    #[error("the signature of the receipt does not hold")]
    Signature(#[from] Box<VerifyError>),
    /// The signed bytes are not a receipt.
    #[error("the signed document is no receipt")]
    Document(#[from] XmlError),
    /// The receipt lacks fields that the QR code needs.
    #[error("the receipt lacks what its stamp needs; at fault: {}", paths.join(", "))]
    Incomplete {
        /// Paths of the missing or invalid fields.
        paths: Vec<String>,
    },
    /// The URL is too long for a QR code.
    #[error("the address of the stamp has {bytes} bytes, a QR code holds 2331 at most")]
    AddressTooLong {
        /// Its length in bytes.
        bytes: usize,
    },
    /// The PDF library rejected the document.
    #[error("the PDF was not written: {0}")]
    Pdf(String),
}

/// Renders a signed receipt as PDF.
///
/// # Errors
///
/// When the bytes are not a receipt with a valid signature, or lack fields that its stamp needs.
pub fn render(signed: &[u8], options: &Options<'_>) -> Result<Vec<u8>, RiError> {
    let receipt = Receipt::read(signed, options.environment, options.hosts)?;
    let symbol = qr::Symbol::of(&receipt.stamp)?;
    let content = Content::of(&receipt, options.environment, options.mode);
    let sheets = match options.format.layout() {
        Layout::Sheet(page) => letter::lay_out(&receipt, &content, options.design, &page, &symbol),
        Layout::Roll(roll) => roll::lay_out(&receipt, &content, options.design, &roll, &symbol),
    };
    pdf::write(&sheets, &content, &symbol, options.design)
}
