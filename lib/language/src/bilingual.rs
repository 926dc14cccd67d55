//! A text in both languages, and what can be said in both.

use std::borrow::Cow;
use std::fmt::Display;

use crate::Language;

/// A text in both languages. It has no `Display`: a text of one language cannot slip into one of the other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bilingual {
    /// In English: what logs and callers without a preference get.
    pub en: Cow<'static, str>,
    /// In Spanish.
    pub es: Cow<'static, str>,
}

impl Bilingual {
    /// Two texts that are known at compile time.
    pub const fn fixed(en: &'static str, es: &'static str) -> Self {
        Self {
            en: Cow::Borrowed(en),
            es: Cow::Borrowed(es),
        }
    }

    /// A text without words of ours, such as a number, a name or an answer of the tax authority.
    pub fn same(text: impl Into<Cow<'static, str>>) -> Self {
        let en = text.into();
        Self { es: en.clone(), en }
    }

    /// The English sentence of an error, with its Spanish one.
    pub fn of(error: &impl Display, spanish: impl Into<Cow<'static, str>>) -> Self {
        Self {
            en: error.to_string().into(),
            es: spanish.into(),
        }
    }

    /// The text in one language.
    pub fn in_language(&self, language: Language) -> &str {
        match language {
            Language::En => &self.en,
            Language::Es => &self.es,
        }
    }

    /// Both texts with the same change.
    #[must_use]
    pub fn map(self, change: impl Fn(Cow<'static, str>) -> Cow<'static, str>) -> Self {
        Self {
            en: change(self.en),
            es: change(self.es),
        }
    }

    /// Both texts with another one behind them.
    #[must_use]
    pub fn then(mut self, other: &Self) -> Self {
        self.en.to_mut().push_str(&other.en);
        self.es.to_mut().push_str(&other.es);
        self
    }

    /// Texts in a row, separated by the same characters in both languages.
    pub fn joined(texts: &[Self], separator: &str) -> Self {
        let row = |pick: fn(&Self) -> &str| texts.iter().map(pick).collect::<Vec<_>>().join(separator).into();
        Self {
            en: row(|text| &text.en),
            es: row(|text| &text.es),
        }
    }
}

/// An error with a sentence for the caller. Its `Display` is the English one; `say` adds the Spanish one with
/// [`Bilingual::of`] and a `match` over all variants.
pub trait Say {
    /// One sentence for the caller.
    fn say(&self) -> Bilingual;
}

/// A text from an English and a Spanish format, which share the arguments behind them.
///
/// Texts among the arguments, each a [`Bilingual`](crate::Bilingual) in a variable, come first, in brackets; each
/// format gets them in its language.
///
/// ```
/// use ecf_language::say;
///
/// let origin = say!("was given", "se recibió");
/// let text = say!([origin], "{} {origin}", "{origin} {}", 5);
/// assert_eq!((&*text.en, &*text.es), ("5 was given", "se recibió 5"));
/// ```
#[macro_export]
macro_rules! say {
    ([$($text:ident),+], $en:literal, $es:literal $(, $($argument:tt)*)?) => {
        $crate::Bilingual {
            en: { $(let $text = &*$text.en;)+ format!($en $(, $($argument)*)?).into() },
            es: { $(let $text = &*$text.es;)+ format!($es $(, $($argument)*)?).into() },
        }
    };
    ($en:literal, $es:literal $(, $($argument:tt)*)?) => {
        $crate::Bilingual {
            en: format!($en $(, $($argument)*)?).into(),
            es: format!($es $(, $($argument)*)?).into(),
        }
    };
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    struct Missing(&'static str);

    impl Display for Missing {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{} is missing", self.0)
        }
    }

    impl Say for Missing {
        fn say(&self) -> Bilingual {
            Bilingual::of(self, format!("falta {}", self.0))
        }
    }

    #[test]
    fn texts_are_put_together_in_each_language() {
        let both = Bilingual::joined(&[Missing("a").say(), Bilingual::same("b")], ", ");
        assert_eq!((&*both.en, &*both.es), ("a is missing, b", "falta a, b"));
        let longer = both.then(&say!("!", "¡")).map(|text| text.to_uppercase().into());
        assert_eq!((&*longer.en, &*longer.es), ("A IS MISSING, B!", "FALTA A, B¡"));
    }
}
