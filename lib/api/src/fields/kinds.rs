//! The kinds of fields: text, number, instant and so on.

use std::{collections::BTreeSet, str::FromStr};

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use ecf::{Encf, EncfError, Environment, Node, ReceiptState, ReceiptType, UnknownReceiptType};
use ecf_language::{Bilingual, Say, say};
use jiff::{Timestamp, civil};

use super::instants::{first_instant, last_instant};
use super::{Field, Fields, field::Fault};

const RECEIPT_TYPE_LENGTH: usize = 2;
const RECEIPT_TYPE_PATTERN: &str = "^(31|32|33|34|41|43|44|45|46|47)$";

/// Standard base64. Padding is optional, because many clients omit it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl Fields {
    /// A text.
    pub fn text(&mut self, name: &'static str) -> Field<'_, String> {
        self.field(name, |node| match node {
            Node::Text(text) => Ok(text.to_string()),
            _ => Err(Fault::new(
                "string_type",
                say!("Input should be a valid string", "se espera un texto"),
            )),
        })
    }

    /// A text that callers may also send as a number, such as a code.
    pub fn text_or_number(&mut self, name: &'static str) -> Field<'_, String> {
        self.field(name, |node| match node.as_scalar() {
            Some(text) => Ok(text.to_owned()),
            None => Err(Fault::new(
                "string_type",
                say!("Input should be a valid string", "se espera un texto"),
            )),
        })
    }

    /// `true` or `false`, or the other spellings that FastAPI accepts.
    pub fn boolean(&mut self, name: &'static str) -> Field<'_, bool> {
        self.field(name, |node| match node {
            Node::Bool(value) => Ok(*value),
            Node::Text(text) | Node::Number(text) => match text.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" | "t" | "y" => Ok(true),
                "false" | "0" | "no" | "off" | "f" | "n" => Ok(false),
                _ => Err(Fault::new(
                    "bool_parsing",
                    say!(
                        "Input should be a valid boolean, unable to interpret input",
                        "se espera un booleano, y el valor no se puede interpretar"
                    ),
                )),
            },
            _ => Err(Fault::new(
                "bool_type",
                say!("Input should be a valid boolean", "se espera un booleano"),
            )),
        })
    }

    /// An integer, also as text.
    pub fn integer(&mut self, name: &'static str) -> Field<'_, i64> {
        self.field(name, |node| match node {
            Node::Number(text) => text.parse().map_err(|_| {
                Fault::new(
                    "int_from_float",
                    say!(
                        "Input should be a valid integer, got a number with a fractional part or out of range",
                        "se espera un número entero, y el valor tiene parte fraccionaria o está fuera de rango"
                    ),
                )
            }),
            Node::Text(text) => text.trim().parse().map_err(|_| {
                Fault::new(
                    "int_parsing",
                    say!(
                        "Input should be a valid integer, unable to parse string as an integer",
                        "se espera un número entero, y el texto no se puede leer como tal"
                    ),
                )
            }),
            _ => Err(Fault::new(
                "int_type",
                say!("Input should be a valid integer", "se espera un número entero"),
            )),
        })
    }

    /// An instant in RFC 3339. Without an offset it is local time, −04:00; a date alone is its first instant.
    pub fn instant(&mut self, name: &'static str) -> Field<'_, Timestamp> {
        self.instant_by(name, first_instant)
    }

    /// An instant that ends a span: as [`Self::instant`], but a date alone is its last instant.
    pub fn end_instant(&mut self, name: &'static str) -> Field<'_, Timestamp> {
        self.instant_by(name, last_instant)
    }

    fn instant_by(&mut self, name: &'static str, read: fn(&str) -> Option<Timestamp>) -> Field<'_, Timestamp> {
        self.text_typed(
            name,
            "datetime_type",
            say!("Input should be a valid datetime", "se espera una fecha y hora"),
        )
        .and_then(|text| {
            read(&text).ok_or_else(|| {
                let error = "expected RFC 3339 such as 2026-11-27T10:00:00-04:00";
                Fault::new(
                    "datetime_parsing",
                    say!(
                        "Input should be a valid datetime, {error}",
                        "se espera una fecha y hora en RFC 3339, por ejemplo 2026-11-27T10:00:00-04:00"
                    ),
                )
                .with("error", error)
            })
        })
    }

    /// A civil date, `YYYY-MM-DD`.
    pub fn date(&mut self, name: &'static str) -> Field<'_, civil::Date> {
        self.text_typed(
            name,
            "date_type",
            say!("Input should be a valid date", "se espera una fecha"),
        )
        .and_then(|text| {
            civil::Date::strptime("%Y-%m-%d", &text).map_err(|_| {
                let error = "expected a date such as 2028-12-31";
                Fault::new(
                    "date_parsing",
                    say!(
                        "Input should be a valid date, {error}",
                        "se espera una fecha, por ejemplo 2028-12-31"
                    ),
                )
                .with("error", error)
            })
        })
    }

    /// Bytes in base64. Treated as a secret: they are documents and keys.
    pub fn base64(&mut self, name: &'static str) -> Field<'_, Vec<u8>> {
        let field = self.text(name).secret();
        field.and_then(|text| {
            // Many tools break base64 into lines.
            let compact: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
            BASE64.decode(compact).map_err(|error| {
                let error = error.to_string();
                Fault::new(
                    "base64_decode",
                    say!("Base64 decoding error: {error}", "no es Base64 válido"),
                )
                .with("error", error)
            })
        })
    }

    /// A domain type, parsed with its `FromStr`; a number is accepted too.
    pub fn parsed<T>(&mut self, name: &'static str) -> Field<'_, T>
    where
        T: FromStr<Err: Say>,
    {
        self.text_or_number(name).parse()
    }

    /// One of a closed list of words, in exact spelling.
    pub fn choice<T: Clone>(&mut self, name: &'static str, choices: &[(&str, T)]) -> Field<'_, T> {
        self.text(name).and_then(|text| chosen(&text, choices))
    }

    /// Some of a closed list of words: separated by commas, or in a parameter that is given more than once.
    fn choices<T: Clone + Ord>(&mut self, name: &'static str, choices: &[(&str, T)]) -> Field<'_, BTreeSet<T>> {
        let given = self.take_all(name);
        let words = given.iter().filter_map(Node::as_text).flat_map(|text| text.split(','));
        let words: Vec<&str> = words.collect();
        let (mut values, mut faults) = (BTreeSet::new(), Vec::new());
        for (position, word) in words.iter().enumerate() {
            match chosen(word, choices) {
                Ok(value) => {
                    values.insert(value);
                }
                // A single word is shown as a text, not as a list of one.
                Err(fault) if words.len() == 1 => faults.push(fault),
                Err(fault) => faults.push(fault.at(position)),
            }
        }
        let input = match words.as_slice() {
            [] => Node::Null,
            [word] => Node::Text((*word).into()),
            words => Node::Array(words.iter().map(|word| Node::Text((*word).into())).collect()),
        };
        let value = match (words.is_empty(), faults.is_empty()) {
            (true, _) => Ok(None),
            (false, true) => Ok(Some(values)),
            (false, false) => Err(faults),
        };
        self.ready(name, input, value)
    }

    /// An environment of the tax authority, in exact spelling.
    pub fn environment(&mut self, name: &'static str) -> Field<'_, Environment> {
        self.choice(
            name,
            &Environment::ALL.map(|environment| (environment.as_str(), environment)),
        )
    }

    /// States of receipts, in exact spelling: separated by commas, or in a parameter that is given more than once.
    pub fn receipt_states(&mut self, name: &'static str) -> Field<'_, BTreeSet<ReceiptState>> {
        self.choices(name, &ReceiptState::ALL.map(|state| (state.as_str(), state)))
    }

    /// A complete e-NCF, for a filter.
    pub fn encf(&mut self, name: &'static str) -> Field<'_, Encf> {
        self.text_or_number(name).and_then(|text| {
            text.parse().map_err(|error: EncfError| {
                let said = error.say();
                let msg = say!(
                    [said],
                    "{said}; a part of a number cannot be searched",
                    "{said}; no se puede buscar por una parte de un número"
                );
                Fault::new("value_error", msg.clone())
                    .with("error", msg.en.into_owned())
                    .with("expected", "E and twelve digits, such as E310000000001")
            })
        })
    }

    /// One of the ten receipt types, as text or number. The error has the kind of a pattern of two digits, and names
    /// the type that was probably meant.
    pub fn receipt_type(&mut self, name: &'static str) -> Field<'_, ReceiptType> {
        self.text_or_number(name).and_then(|text| {
            text.parse().map_err(|error: UnknownReceiptType| {
                let msg = error.say();
                let fault = match text.chars().count() {
                    0 | 1 => Fault::new("string_too_short", msg).with("min_length", RECEIPT_TYPE_LENGTH),
                    RECEIPT_TYPE_LENGTH => {
                        Fault::new("string_pattern_mismatch", msg).with("pattern", RECEIPT_TYPE_PATTERN)
                    }
                    _ => Fault::new("string_too_long", msg).with("max_length", RECEIPT_TYPE_LENGTH),
                };
                match ReceiptType::meant_by(&text) {
                    Some(meant) => fault.with("expected", meant.as_str()),
                    None => fault,
                }
            })
        })
    }

    /// An object, passed on unchanged.
    pub fn object(&mut self, name: &'static str) -> Field<'_, Node> {
        let node = self.take(name);
        let value = match &node {
            Node::Null => Ok(None),
            Node::Object(_) => Ok(Some(())),
            _ => Err(vec![Fault::new(
                "dict_type",
                say!("Input should be a valid dictionary", "se espera un objeto"),
            )]),
        };
        match value {
            Ok(Some(())) => self.ready(name, Node::Null, Ok(Some(node))),
            Ok(None) => self.ready(name, Node::Null, Ok(None)),
            Err(faults) => self.ready(name, node, Err(faults)),
        }
    }

    /// A list, passed on unchanged.
    pub fn list(&mut self, name: &'static str) -> Field<'_, Vec<Node>> {
        match self.take(name) {
            Node::Null => self.ready(name, Node::Null, Ok(None)),
            Node::Array(elements) => self.ready(name, Node::Null, Ok(Some(elements))),
            other => {
                let fault = Fault::new("list_type", say!("Input should be a valid list", "se espera una lista"));
                self.ready(name, other, Err(vec![fault]))
            }
        }
    }

    /// A list of texts.
    pub fn texts(&mut self, name: &'static str) -> Field<'_, Vec<String>> {
        let node = self.take(name);
        let value = match &node {
            Node::Null => Ok(None),
            Node::Array(elements) => all_texts(elements).map(Some),
            _ => Err(vec![Fault::new(
                "list_type",
                say!("Input should be a valid list", "se espera una lista"),
            )]),
        };
        self.ready(name, node, value)
    }

    fn text_typed(&mut self, name: &'static str, kind: &'static str, msg: Bilingual) -> Field<'_, String> {
        self.field(name, |node| match node {
            Node::Text(text) => Ok(text.to_string()),
            _ => Err(Fault::new(kind, msg)),
        })
    }

    fn field<T>(&mut self, name: &'static str, read: impl FnOnce(&Node) -> Result<T, Fault>) -> Field<'_, T> {
        let node = self.take(name);
        let value = match &node {
            Node::Null => Ok(None),
            node => read(node).map(Some).map_err(|fault| vec![fault]),
        };
        self.ready(name, node, value)
    }

    fn ready<T>(&mut self, name: &'static str, input: Node, value: Result<Option<T>, Vec<Fault>>) -> Field<'_, T> {
        Field {
            fields: self,
            name,
            input,
            secret: false,
            value,
        }
    }
}

fn chosen<T: Clone>(word: &str, choices: &[(&str, T)]) -> Result<T, Fault> {
    match choices.iter().find(|(known, _)| *known == word) {
        Some((_, value)) => Ok(value.clone()),
        None => {
            let words = in_words(choices.iter().map(|(word, _)| *word));
            let msg = say!([words], "Input should be {words}", "debe ser {words}");
            Err(Fault::new("enum", msg).with("expected", words.en.into_owned()))
        }
    }
}

fn all_texts(elements: &[Node]) -> Result<Vec<String>, Vec<Fault>> {
    let mut texts = Vec::with_capacity(elements.len());
    let mut faults = Vec::new();
    for (position, element) in elements.iter().enumerate() {
        match element.as_text() {
            Some(text) => texts.push(text.to_owned()),
            None => faults.push(
                Fault::new(
                    "string_type",
                    say!("Input should be a valid string", "se espera un texto"),
                )
                .at(position),
            ),
        }
    }
    if faults.is_empty() { Ok(texts) } else { Err(faults) }
}

/// `'a', 'b' or 'c'`.
fn in_words<'w>(words: impl Iterator<Item = &'w str>) -> Bilingual {
    let mut quoted: Vec<String> = words.map(|word| format!("'{word}'")).collect();
    let last = quoted.pop().unwrap_or_default();
    if quoted.is_empty() {
        Bilingual::same(last)
    } else {
        say!("{} or {last}", "{} o {last}", quoted.join(", "))
    }
}
