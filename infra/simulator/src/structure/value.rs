//! Kinds of values, as the tables name them.

use rust_decimal::Decimal;

use crate::dates;

const CURRENCIES: [&str; 17] = [
    "BRL", "CAD", "CHF", "CHY", "COP", "DKK", "EUR", "GBP", "HTG", "JPY", "MXN", "NOK", "SCP", "SEK", "USD", "VEF",
    "XDR",
];
const UNITS: u32 = 62;
const ADDITIONAL_TAXES: u32 = 39;

/// The format of a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// Any text that is not empty.
    Any,
    /// `tN`: text of at most N characters.
    Text(usize),
    /// `wN`: letters, digits and blanks.
    Words(usize),
    /// `lN`: two letters or more and no digit.
    Letters(usize),
    /// `pN`: letters, commas and blanks.
    Person(usize),
    /// `iN`: at most N digits.
    Digits(usize),
    /// `dI.F`: at most I digits and F decimals; `+` means above zero, `~` means either sign.
    Decimal {
        integer: usize,
        fraction: usize,
        sign: Sign,
    },
    /// `xI`: no decimals or exactly two.
    TwoOrNone {
        integer: usize,
        sign: Sign,
    },
    /// `mI`: exactly two decimals.
    Two(usize),
    /// `=a|b`: one of these.
    OneOf(&'static str),
    /// `one`: the number 1.
    One,
    Date,
    DateTime,
    Rnc,
    /// Thirteen letters or digits.
    Encf,
    /// An e-NCF, or an older number of 9 or 11 characters.
    Number,
    /// The six characters of a security code.
    Code,
    Phone,
    Mail,
    /// A province or municipality: six digits.
    Place,
    Unit,
    Currency,
    Tax,
    /// A line number.
    Line,
    /// A count of pages, two or more.
    Pages,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    NotNegative,
    Positive,
    Either,
}

impl Kind {
    /// Reads a word of the table.
    pub(super) fn parse(word: &'static str) -> Self {
        match word {
            "any" => Self::Any,
            "one" => Self::One,
            "date" => Self::Date,
            "datetime" => Self::DateTime,
            "rnc" => Self::Rnc,
            "encf" => Self::Encf,
            "number" => Self::Number,
            "code" => Self::Code,
            "phone" => Self::Phone,
            "mail" => Self::Mail,
            "place" => Self::Place,
            "unit" => Self::Unit,
            "currency" => Self::Currency,
            "tax" => Self::Tax,
            "line" => Self::Line,
            "pages" => Self::Pages,
            _ => Self::parse_sized(word),
        }
    }

    fn parse_sized(word: &'static str) -> Self {
        let (letter, size) = word.split_at(1);
        let sign = match size.chars().last() {
            Some('+') => Sign::Positive,
            Some('~') => Sign::Either,
            _ => Sign::NotNegative,
        };
        let number = |text: &str| text.parse().expect("the table's sizes are numbers");
        let size_of = |text: &'static str| number(text.trim_end_matches(['+', '~']));
        match letter {
            "=" => Self::OneOf(size),
            "t" => Self::Text(size_of(size)),
            "w" => Self::Words(size_of(size)),
            "l" => Self::Letters(size_of(size)),
            "p" => Self::Person(size_of(size)),
            "i" => Self::Digits(size_of(size)),
            "x" => Self::TwoOrNone {
                integer: size_of(size),
                sign,
            },
            "m" => Self::Two(size_of(size)),
            _ => {
                let (integer, fraction) = size.split_once('.').expect("decimals have a scale");
                Self::Decimal {
                    integer: number(integer),
                    fraction: size_of(fraction),
                    sign,
                }
            }
        }
    }

    /// Whether a text has this format; `lines` is the document's upper bound of lines.
    pub(super) fn allows(self, text: &str, lines: usize) -> bool {
        let length = text.chars().count();
        let digits = |least: usize, most: usize| {
            (least..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        let up_to = |most: u32| digits(1, 3) && text.parse().is_ok_and(|number: u32| (1..=most).contains(&number));
        match self {
            Self::Any => true,
            Self::Text(most) => length <= most,
            Self::Words(most) => length <= most && text.chars().all(|one| one.is_alphanumeric() || one.is_whitespace()),
            Self::Letters(most) => {
                (2..=most).contains(&length)
                    && !text.chars().any(char::is_numeric)
                    && text.ends_with(char::is_alphabetic)
            }
            Self::Person(most) => {
                length <= most
                    && text
                        .chars()
                        .all(|one| one.is_alphabetic() || one.is_whitespace() || one == ',')
            }
            Self::Digits(most) => digits(1, most),
            Self::Decimal {
                integer,
                fraction,
                sign,
            } => decimal(text, integer, 1..=fraction, sign),
            Self::TwoOrNone { integer, sign } => decimal(text, integer, 2..=2, sign),
            Self::Two(integer) => text.contains('.') && decimal(text, integer, 2..=2, Sign::NotNegative),
            Self::OneOf(values) => values.split('|').any(|value| value == text),
            Self::One => text.parse() == Ok(Decimal::ONE),
            Self::Date => dates::parse_date(text).is_some(),
            Self::DateTime => dates::parse_date_time(text).is_some(),
            Self::Rnc => digits(9, 9) || digits(11, 11),
            Self::Encf => alphanumeric(text, &[13]),
            Self::Number => alphanumeric(text, &[9, 11, 13]),
            Self::Code => length == 6,
            Self::Phone => phone(text),
            Self::Mail => mail(text, length),
            Self::Place => digits(6, 6),
            Self::Unit => up_to(UNITS),
            Self::Currency => CURRENCIES.contains(&text),
            Self::Tax => digits(3, 3) && up_to(ADDITIONAL_TAXES),
            Self::Line => digits(1, 5) && text.parse().is_ok_and(|number: usize| (1..=lines).contains(&number)),
            Self::Pages => {
                digits(1, 5)
                    && text
                        .parse()
                        .is_ok_and(|number: usize| (2..=lines * 10).contains(&number))
            }
        }
    }
}

fn decimal(text: &str, integer: usize, fraction: std::ops::RangeInclusive<usize>, sign: Sign) -> bool {
    let unsigned = match sign {
        Sign::Either => text.strip_prefix(['+', '-']).unwrap_or(text),
        _ => text,
    };
    let (whole, decimals) = match unsigned.split_once('.') {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (unsigned, None),
    };
    let numeric = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    (1..=integer).contains(&whole.len())
        && numeric(whole)
        && decimals.is_none_or(|part| fraction.contains(&part.len()) && numeric(part))
        && (sign != Sign::Positive || unsigned.bytes().any(|byte| (b'1'..=b'9').contains(&byte)))
}

fn alphanumeric(text: &str, lengths: &[usize]) -> bool {
    lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn phone(text: &str) -> bool {
    text.len() == 12
        && text.bytes().enumerate().all(|(at, byte)| {
            if matches!(at, 3 | 7) {
                byte == b'-'
            } else {
                byte.is_ascii_digit()
            }
        })
}

/// Words joined by single separators, an at sign, and a host with a dot. As in the schema, an underscore is not a
/// letter.
fn mail(text: &str, length: usize) -> bool {
    let words = |part: &str, separators: &[char]| {
        part.split(separators)
            .all(|word| !word.is_empty() && word.chars().all(char::is_alphanumeric))
    };
    length <= 80
        && text
            .split_once('@')
            .is_some_and(|(user, host)| words(user, &['-', '+', '.']) && words(host, &['-', '.']) && host.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_takes_what_the_schema_takes() {
        for (kind, good, bad) in [
            (
                "d16.2",
                vec!["0", "1.5", "1234567890123456.12"],
                vec!["", ".5", "1.", "1.234", "-1", "1,5", "12345678901234567"],
            ),
            ("d16.2+", vec!["0.01"], vec!["0", "0.00"]),
            ("d16.2~", vec!["-1.00", "+1"], vec!["--1"]),
            ("x16", vec!["1", "1.00"], vec!["1.0"]),
            ("m16", vec!["35400.00"], vec!["35400", "35400.0"]),
            ("one", vec!["1", "1.0"], vec!["1.1", "2", "x"]),
            ("=31|32", vec!["31"], vec!["33", "3", "31|32"]),
            ("t3", vec!["ñáé"], vec!["abcd"]),
            ("w15", vec!["120 dias"], vec!["120-dias"]),
            ("l60", vec!["República Dominicana"], vec!["Zona 1", "x"]),
            ("phone", vec!["809-555-0101"], vec!["8095550101", "809-5550-101"]),
            (
                "mail",
                vec!["a.b+c@d-e.do"],
                vec!["a_b@c.do", "a@b", "@c.do", "a..b@c.do"],
            ),
            ("unit", vec!["43"], vec!["0", "63"]),
            ("tax", vec!["006", "039"], vec!["6", "040", "000"]),
            ("encf", vec!["E310000000001"], vec!["E31000000001", "E31000000000-"]),
            ("line", vec!["1", "1000"], vec!["0", "1001"]),
            ("pages", vec!["2"], vec!["1"]),
        ] {
            for text in good {
                assert!(Kind::parse(kind).allows(text, 1000), "{kind} takes {text}");
            }
            for text in bad {
                assert!(!Kind::parse(kind).allows(text, 1000), "{kind} refuses {text}");
            }
        }
    }
}
