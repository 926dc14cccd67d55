//! Texts for people, in English and Spanish.
//!
//! A text is a [`Bilingual`], made by [`say!`] from two formats side by side: without the second one the code does not
//! compile. Nothing here chooses a language. The HTTP layer does, once for each request, from [`Language::accepted`].
//!
//! ```
//! use ecf_language::{Language, say};
//!
//! let (line, amount) = (9, "12.00");
//! let text = say!("line {line} is {amount}", "la línea {line} es {amount}");
//! assert_eq!(text.in_language(Language::Es), "la línea 9 es 12.00");
//! ```

mod accept;
mod bilingual;

pub use accept::Language;
pub use bilingual::{Bilingual, Say};
