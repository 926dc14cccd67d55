//! Which language a caller reads: the header `Accept-Language` (RFC 9110, 12.5.4).

/// A language that we speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// English, for callers without a preference.
    #[default]
    En,
    /// Spanish.
    Es,
}

/// A weight of 1 in thousandths, which is the precision of the header.
const FULL_WEIGHT: u16 = 1_000;

impl Language {
    /// Its tag, as in `Content-Language`.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Es => "es",
        }
    }

    /// The language that the caller weights highest: the first one named if two have the same weight, English if
    /// neither is named. `es-DO` is Spanish; `*` and a header that cannot be read say nothing.
    pub fn accepted(header: &str) -> Self {
        let mut best = (0, Self::default());
        for range in header.split(',') {
            let (tag, weight) = range.split_once(';').unwrap_or((range, "q=1"));
            let primary = tag.trim().split('-').next().unwrap_or_default();
            let language = [Self::En, Self::Es]
                .into_iter()
                .find(|known| primary.eq_ignore_ascii_case(known.tag()));
            if let (Some(language), Some(weight)) = (language, thousandths(weight))
                && weight > best.0
            {
                best = (weight, language);
            }
        }
        best.1
    }
}

/// `q=0.8` as 800; `None` for any other parameter.
fn thousandths(parameter: &str) -> Option<u16> {
    let (name, value) = parameter.trim().split_once('=')?;
    if !name.trim().eq_ignore_ascii_case("q") {
        return None;
    }
    let (whole, decimals) = value.trim().split_once('.').unwrap_or((value.trim(), ""));
    if decimals.len() > 3 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let weight = match whole {
        "0" => format!("{decimals:0<3}").parse().ok()?,
        "1" => FULL_WEIGHT,
        _ => return None,
    };
    Some(weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_with_the_highest_weight_is_spoken() {
        for spanish in [
            "es",
            "ES",
            "es-DO",
            "es-419, en;q=0.5",
            "fr, es;q=0.3",
            "en;q=0.8, es;q=0.9",
            "es;q=1.000,en;q=0.999",
            " es ; q = 0.7 , en;q=0.1",
            "en;q=0, es;q=0.001",
            "es, en",
        ] {
            assert_eq!(Language::accepted(spanish), Language::Es, "{spanish}");
        }
        for english in [
            "",
            "*",
            "en",
            "en-US,es;q=0.9",
            "fr, de",
            "en, es",
            "es;q=0",
            "es;q=0, *",
            "est",
            "es;q=2",
            "es;q=0.1234",
            "es;level=1",
            "es;q=",
            "ñ;;;=,",
        ] {
            assert_eq!(Language::accepted(english), Language::En, "{english}");
        }
    }
}
