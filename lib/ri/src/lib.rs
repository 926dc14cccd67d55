//! The printed representation (RI) of a receipt: from its signed bytes to a PDF, with the QR code of its stamp.
//!
//! The crate is pure: the same bytes and the same [`Options`] give the same PDF, and nothing is printed that the signature
//! does not cover but the issuer's [`Design`]. Start at [`render`]. `content` says what is printed, in the words of the
//! authority; `letter` and `roll` say where; `pdf` writes it as tagged PDF/A-2a.

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
use receipt::Receipt;

/// Which layouts these are. Whoever keeps what was rendered makes it anew under another edition: raise it with every change that shows.
pub const EDITION: &str = "2";

/// How a receipt is printed.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// Where the receipt was issued: it stands in the address of the QR code.
    pub environment: Environment,
    /// The authority's hosts in that address.
    pub hosts: &'a StampHosts,
    /// The paper.
    pub format: Format,
    /// What became of it, which the receipt does not say itself.
    pub mode: Mode,
    /// What the issuer adds.
    pub design: &'a Design,
}

/// Why a receipt is not printed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RiError {
    /// The signature does not hold, so that nothing says whose words these are.
    #[error("the signature of the receipt does not hold")]
    Signature(#[from] Box<VerifyError>),
    /// The signed bytes are no receipt.
    #[error("the signed document is no receipt")]
    Document(#[from] XmlError),
    /// The receipt lacks what the QR code needs.
    #[error("the receipt lacks what its stamp needs; at fault: {}", paths.join(", "))]
    Incomplete {
        /// Paths of the fields at fault.
        paths: Vec<String>,
    },
    /// No QR code holds the address.
    #[error("the address of the stamp has {bytes} bytes, a QR code holds 2331 at most")]
    AddressTooLong {
        /// Its length.
        bytes: usize,
    },
    /// The PDF library refused the document.
    #[error("the PDF was not written: {0}")]
    Pdf(String),
}

/// The PDF of a signed receipt.
///
/// # Errors
///
/// When the bytes are not a receipt with a valid signature and all that its stamp needs.
pub fn render(signed: &[u8], options: &Options<'_>) -> Result<Vec<u8>, RiError> {
    let receipt = Receipt::read(signed, options.environment, options.hosts)?;
    let symbol = qr::Symbol::of(&receipt.stamp)?;
    let content = Content::of(&receipt, options.environment, options.mode);
    let sheets = match options.format {
        Format::Letter => letter::lay_out(&receipt, &content, options.design, &letter::LETTER, &symbol),
        Format::A4 => letter::lay_out(&receipt, &content, options.design, &letter::A4, &symbol),
        Format::Roll80 => roll::lay_out(&receipt, &content, options.design, &roll::ROLL_80, &symbol),
        Format::Roll58 => roll::lay_out(&receipt, &content, options.design, &roll::ROLL_58, &symbol),
    };
    pdf::write(&sheets, &content, &symbol, options.design)
}
