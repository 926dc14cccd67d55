//! Reads the value types from the text of a payload, and writes them into XML.

use crate::codes;
use std::io::Write as _;

use ecf_language::{Bilingual, Say as _, say};
use rust_decimal::Decimal;

use super::form::{Class, Form, Limit, Sign};
use super::reader::{Context, Source};
use super::refusal;
use super::{Catalogue, Checker, Content, Field, Reader, escape};
use crate::money::Amounts;
use crate::text::TextoError;
use crate::{
    Cantidad, Encf, Fecha, FechaHora, Monto, Ncf, Node, Peso, Porcentaje, Precio, ReceiptType, Rnc, Subcantidad, Texto,
    TipoCambio,
};

/// A scalar of the payload: its text, and whether it is a JSON number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scalar<'a> {
    pub(crate) text: &'a str,
    pub(crate) number: bool,
}

impl Scalar<'_> {
    /// The text of a whole number: some programs write `1.0` for 1.
    fn whole(&self) -> &str {
        match self.text.split_once('.') {
            Some((whole, zeros)) if self.number && zeros.bytes().all(|byte| byte == b'0') => whole,
            _ => self.text,
        }
    }
}

/// A fault of a value whose path is not known yet.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) code: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) message: Bilingual,
    pub(crate) expected: Option<String>,
}

impl Problem {
    pub(crate) fn new(code: &'static str, kind: &'static str, message: Bilingual) -> Self {
        Self {
            code,
            kind,
            message,
            expected: None,
        }
    }

    pub(crate) fn expecting(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }
}

/// A type that is read from the text of one element.
pub(crate) trait Value: Sized {
    /// The form of rows that do not state one.
    const FORM: Form;

    fn read(scalar: Scalar<'_>, form: &Form, context: &mut Context) -> Result<Self, Problem>;

    /// Writes the text, escaped.
    fn write(&self, out: &mut Vec<u8>);
}

/// Writes a value by its `Display`, whose text needs no escaping.
fn write_plain(value: &impl std::fmt::Display, out: &mut Vec<u8>) {
    write!(out, "{value}").expect("writing into memory does not fail");
}

impl Value for Texto {
    const FORM: Form = super::text(usize::MAX);

    fn read(scalar: Scalar<'_>, form: &Form, context: &mut Context) -> Result<Self, Problem> {
        let Form::Text { max, class } = *form else {
            unreachable!("a text field is declared with a text form")
        };
        let joined = join_lines(scalar.text);
        if let Some(joined) = &joined {
            let message = say!(
                "line breaks were replaced by blanks",
                "los saltos de línea se cambiaron por espacios"
            );
            context
                .notices
                .push(Problem::new(codes::LINE_BREAKS, "value_changed", message).expecting(joined.as_str()));
        }
        let text = joined.as_deref().unwrap_or(scalar.text);
        // Certification compares values exactly as in the workbook, and a received document must not change.
        let keep_blanks = context.amounts == Amounts::Verbatim || context.source == Source::Received;
        let texto = if keep_blanks {
            Self::verbatim(text)
        } else {
            text.parse()
        };
        let texto = texto.map_err(|error| match error {
            TextoError::Empty => Problem::new(codes::EMPTY_TEXT, "string_too_short", error.say()),
            TextoError::BlankAtEnd => refusal::blank_at_end(text, &error),
            _ => Problem::new(codes::FORBIDDEN_CHARACTERS, "value_error", error.say()),
        })?;
        if context.source == Source::Caller {
            context.notices.extend(crate::rules::complaints(text));
        }
        let length = text.chars().count();
        if length > max {
            return Err(refusal::too_long(text, length, max, class, context));
        }
        match class.complaint(text, context.receipt_type) {
            None => Ok(texto),
            Some(expected) => Err(refusal::wrong_form(text, &expected, class, context)),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        escape(self, out);
    }
}

/// The text with line breaks replaced; `None` if it has none.
fn join_lines(text: &str) -> Option<String> {
    let is_break = |character: char| matches!(character, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}');
    if !text.contains(is_break) {
        return None;
    }
    let lines: Vec<&str> = text
        .split(is_break)
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    Some(lines.join(" "))
}

macro_rules! decimal_values {
    ($($Type:ident $sign:ident),+ $(,)?) => {$(
        impl Value for $Type {
            const FORM: Form =
                Form::Decimal { integers: $Type::INTEGERS, scale: $Type::SCALE, sign: Sign::$sign };

            fn read(scalar: Scalar<'_>, form: &Form, context: &mut Context) -> Result<Self, Problem> {
                let Form::Decimal { sign, .. } = *form else { unreachable!("a decimal field is declared with a decimal form") };
                let value = Self::parse(scalar.text, context.amounts).map_err(refusal::decimal)?;
                let signed = scalar.text.starts_with(['-', '+']);
                match sign.complaint(value.value(), signed, context.receipt_type) {
                    None => Ok(value),
                    Some((kind, expected)) => Err(refusal::sign(scalar.text, value.value(), kind, &expected)),
                }
            }

            fn write(&self, out: &mut Vec<u8>) {
                write_plain(self, out);
            }
        }
    )+};
}

decimal_values!(
    Monto NotNegative,
    Cantidad NotNegative,
    Precio NotNegative,
    Subcantidad NotNegative,
    Peso NotNegative,
    Porcentaje Positive,
    TipoCambio PositiveButIn41,
);

impl Sign {
    /// The kind of error and the expectation; `None` if the sign is allowed.
    fn complaint(self, value: Decimal, signed: bool, receipt_type: ReceiptType) -> Option<(&'static str, Bilingual)> {
        let not_negative = || {
            (signed).then(|| {
                (
                    "greater_than_equal",
                    say!("zero or more, without a sign", "cero o más, sin signo"),
                )
            })
        };
        match self {
            Self::Signed => None,
            Self::NotNegative => not_negative(),
            Self::PositiveButIn41 if receipt_type == ReceiptType::E41 => not_negative(),
            Self::Positive | Self::PositiveButIn41 => (signed || value.is_zero()).then(|| {
                (
                    "greater_than",
                    say!(
                        "more than zero, or the field left out",
                        "más de cero, o el campo omitido"
                    ),
                )
            }),
        }
    }
}

impl Value for u32 {
    const FORM: Form = Form::Integer {
        min: 0,
        max: Limit::all(u32::MAX),
    };

    fn read(scalar: Scalar<'_>, form: &Form, context: &mut Context) -> Result<Self, Problem> {
        let Form::Integer { min, max } = *form else {
            unreachable!("a whole number is declared with an integer form")
        };
        let max = max.of(context.receipt_type);
        let text = scalar.whole();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(refusal::whole_number(context.field, text));
        }
        match text.parse::<Self>() {
            Ok(number) if (min..=max).contains(&number) => Ok(number),
            _ => {
                let message = say!(
                    "{} is from {min} to {max}, {text} was given",
                    "{} va de {min} a {max}, se recibió {text}",
                    context.field
                );
                let kind = if text.parse().is_ok_and(|number: Self| number < min) {
                    "greater_than_equal"
                } else {
                    "less_than_equal"
                };
                Err(Problem::new(codes::OUT_OF_RANGE, kind, message).expecting(format!("{min} to {max}")))
            }
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_plain(self, out);
    }
}

/// A count above the range of `u32`, declared as a text of digits.
impl Value for u64 {
    const FORM: Form = super::text_of(Class::Digits, 10);

    fn read(scalar: Scalar<'_>, _: &Form, context: &mut Context) -> Result<Self, Problem> {
        let text = scalar.whole();
        text.parse().map_err(|_| refusal::whole_number(context.field, text))
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_plain(self, out);
    }
}

/// Types that are read by `FromStr`: the form, the code and kind of the refusal, and the advice for a misspelled text.
macro_rules! parsed_values {
    ($($Type:ty: $form:expr, $code:expr, $kind:literal, $expected:expr, $meant:expr;)+) => {$(
        impl Value for $Type {
            const FORM: Form = $form;

            fn read(scalar: Scalar<'_>, _: &Form, _: &mut Context) -> Result<Self, Problem> {
                let text = scalar.whole();
                text.parse().map_err(|error: <$Type as std::str::FromStr>::Err| {
                    let problem = |message: Bilingual| Problem::new($code, $kind, message);
                    match $meant(text) {
                        Some(meant) => problem(meant.message).expecting(meant.write),
                        None => problem(ecf_language::Say::say(&error)).expecting($expected),
                    }
                })
            }

            fn write(&self, out: &mut Vec<u8>) {
                write_plain(self, out);
            }
        }
    )+};
}

parsed_values! {
    Fecha: Form::Fecha, codes::NOT_A_DATE, "date_parsing", Fecha::FORM, refusal::day;
    FechaHora: Form::FechaHora, codes::NOT_A_DATE_TIME, "datetime_parsing", FechaHora::FORM, refusal::no_advice;
    Encf: Form::Encf, codes::NOT_AN_ENCF, "value_error", "E and twelve digits", refusal::encf;
    Ncf: Form::Ncf, codes::NOT_AN_NCF, "value_error", "11, 13 or 19 characters", refusal::ncf;
    ReceiptType: Form::ReceiptType, codes::UNKNOWN_TYPE, "enum", "31, 32, 33, 34, 41, 43, 44, 45, 46 or 47", refusal::receipt_type;
}

impl Value for Rnc {
    const FORM: Form = Form::Rnc;

    fn read(scalar: Scalar<'_>, _: &Form, context: &mut Context) -> Result<Self, Problem> {
        let text = scalar.whole();
        let rnc: Self = text
            .parse()
            .map_err(|error: crate::RncError| refusal::rnc(text, &error, context))?;
        if let Some(filler) = crate::rules::filler(&rnc, context) {
            context.notices.push(filler);
        } else if !rnc.check_digit_ok() {
            let message = say!(
                "the check digit of {rnc} does not fit; a few valid numbers are like that",
                "el dígito verificador de {rnc} no coincide; unos pocos números válidos son así"
            );
            context
                .notices
                .push(Problem::new(codes::CHECK_DIGIT, "check_digit", message));
        }
        Ok(rnc)
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_plain(self, out);
    }
}

/// The index of a code in a catalogue. JSON numbers lose leading zeros, so digits are compared without them.
pub(crate) fn place_of(catalogue: Catalogue, text: &str) -> Option<usize> {
    // The version `1.0` may also be written `1`: the schema compares it as a decimal.
    if let Some(place) = catalogue
        .iter()
        .position(|(code, _)| *code == text || code.strip_suffix(".0") == Some(text))
    {
        return Some(place);
    }
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let bare = |code: &'static str| code.trim_start_matches('0');
    catalogue
        .iter()
        .position(|(code, _)| code.len() >= text.len() && bare(code) == text.trim_start_matches('0') && is_digits(code))
}

fn is_digits(code: &str) -> bool {
    code.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads a code of a catalogue by its `FromStr`. `also` lists other names of its entries.
pub(crate) fn read_code<T: std::str::FromStr>(
    scalar: Scalar<'_>,
    catalogue: Catalogue,
    also: &[(&str, &str)],
    context: &Context,
) -> Result<T, Problem> {
    let text = scalar.whole();
    text.parse().map_err(|_| refusal::code(text, catalogue, also, context))
}

/// Telephone numbers are the only repeated value.
impl Content for Texto {
    const CHILDREN: Option<&'static [Field]> = None;
    const BLOCK: Option<&'static str> = None;
    const FORM: Form = <Self as Value>::FORM;

    fn read_one(field: &'static Field, node: &Node, reader: &mut Reader) -> Option<Self> {
        reader.value(field, node)
    }

    fn write_one(&self, name: &'static str, out: &mut Vec<u8>) {
        super::element(name, out, |out| Value::write(self, out));
    }

    fn check_one(&self, _: &mut Checker) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_by_blanks() {
        assert_eq!(join_lines("a\r\nb\n\n c\n").as_deref(), Some("a b c"));
        assert_eq!(join_lines("a b"), None);
    }
}
