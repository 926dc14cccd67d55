//! What a cell means as the text of a field. A text is used as it is. A number or a date becomes the text that the
//! spreadsheet shows, in the form of the field.

use calamine::ExcelDateTime;
use ecf::document::Kind;
use ecf_language::{Bilingual, say};

use crate::finding::codes;

/// The content of a cell.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(String),
    Number {
        number: f64,
        format: NumberFormat,
        /// The number as a date of this workbook.
        serial: Option<ExcelDateTime>,
    },
    Date(ExcelDateTime),
    Iso(String),
    /// An error such as `#REF!`.
    Error(String),
    /// A formula without a stored value.
    Formula,
    /// A type that no field has, in words.
    Other(Bilingual),
}

/// How a number is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct NumberFormat {
    /// Digits before the point that are always shown.
    integers: usize,
    /// Digits after the point that are always shown.
    decimals: usize,
    percent: bool,
}

impl NumberFormat {
    /// Reads a format code such as `#,##0.00`. Only the section for positive numbers counts.
    pub(crate) fn of(code: &str) -> Self {
        let mut format = Self::default();
        let (mut quoted, mut bracketed, mut after_point) = (false, false, false);
        let mut characters = code.chars();
        while let Some(character) = characters.next() {
            match character {
                '"' => quoted = !quoted,
                _ if quoted => {}
                '[' => bracketed = true,
                ']' => bracketed = false,
                _ if bracketed => {}
                // The next character is shown as it is, or stands for a width.
                '\\' | '_' | '*' => {
                    characters.next();
                }
                ';' => break,
                '.' => after_point = true,
                '%' => format.percent = true,
                '0' if after_point => format.decimals += 1,
                '0' => format.integers += 1,
                _ => {}
            }
        }
        format
    }
}

/// Why a cell cannot be used: a code and a sentence.
pub(crate) type Unusable = (&'static str, Bilingual);

/// The text of the field that the cell means.
pub(crate) fn meant(value: &Value, kind: Kind) -> Result<String, Unusable> {
    let wrong = |is: Bilingual| {
        let expected = words(kind);
        let message = say!(
            [is, expected],
            "the cell has {is}, expected is {expected}",
            "la celda tiene {is} y se esperaba {expected}"
        );
        Err((codes::WRONG_CELL_TYPE, message))
    };
    match value {
        Value::Text(text) => Ok(text.clone()),
        Value::Formula => {
            let message = say!(
                "the formula has no stored value: open the workbook in a spreadsheet and save it",
                "la fórmula no tiene un valor guardado: abra el libro en una hoja de cálculo y guárdelo"
            );
            Err((codes::FORMULA_WITHOUT_VALUE, message))
        }
        Value::Error(error) => {
            let message = say!("the cell shows the error {error}", "la celda muestra el error {error}");
            Err((codes::CELL_ERROR, message))
        }
        Value::Other(is) => wrong(is.clone()),
        Value::Iso(text) => match (kind, iso(text)) {
            (Kind::Fecha | Kind::FechaHora, Some(moment)) => date(moment, kind),
            _ => wrong(say!("a date", "una fecha")),
        },
        Value::Date(moment) => match kind {
            Kind::Fecha | Kind::FechaHora => date(moment_of(moment)?, kind),
            _ => wrong(say!("a date", "una fecha")),
        },
        Value::Number { serial, .. } if matches!(kind, Kind::Fecha | Kind::FechaHora) => match serial {
            Some(moment) => date(moment_of(moment)?, kind),
            None => wrong(say!("a number", "un número")),
        },
        Value::Number { format, .. } if format.percent => wrong(say!("a percentage", "un porcentaje")),
        Value::Number { number, format, .. } => digits(*number, *format, kind),
    }
}

/// Year, month, day, hour, minute, second.
type Moment = (u16, u8, u8, u8, u8, u8);

/// The days that a spreadsheet can show, 01-01-1900 to 31-12-9999.
const DAYS: std::ops::Range<f64> = 1.0..2_958_466.0;

fn moment_of(date: &ExcelDateTime) -> Result<Moment, Unusable> {
    let serial = date.as_f64();
    if !DAYS.contains(&serial) {
        let message = say!(
            "the number {serial} is not a date: write dd-MM-yyyy",
            "el número {serial} no es una fecha: escriba dd-MM-aaaa"
        );
        return Err((codes::WRONG_CELL_TYPE, message));
    }
    let (year, month, day, hour, minute, second, _) = date.to_ymd_hms_milli();
    Ok((year, month, day, hour, minute, second))
}

/// `2026-06-20`, with or without `T10:15:12`.
fn iso(text: &str) -> Option<Moment> {
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
    let time = time
        .trim_end_matches('Z')
        .split_once('.')
        .map_or(time, |(time, _)| time);
    let time = time.trim_end_matches('Z');
    let mut date = date.splitn(3, '-');
    let mut time = time.splitn(3, ':');
    Some((
        date.next()?.parse().ok()?,
        date.next()?.parse().ok()?,
        date.next()?.parse().ok()?,
        time.next()?.parse().ok()?,
        time.next()?.parse().ok()?,
        time.next().unwrap_or("0").parse().ok()?,
    ))
}

fn date((year, month, day, hour, minute, second): Moment, kind: Kind) -> Result<String, Unusable> {
    let date = format!("{day:02}-{month:02}-{year:04}");
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    match kind {
        Kind::FechaHora => Ok(format!("{date} {time}")),
        _ if time == "00:00:00" => Ok(date),
        _ => {
            let message = say!(
                "the cell has the time {time} beside its date: write {date}",
                "la celda tiene la hora {time} junto a la fecha: escriba {date}"
            );
            Err((codes::WRONG_CELL_TYPE, message))
        }
    }
}

/// From here on a spreadsheet replaces digits by zeros.
const TOO_LARGE: f64 = 1e15;

/// The number as the spreadsheet shows it, at least with all its digits.
fn digits(number: f64, format: NumberFormat, kind: Kind) -> Result<String, Unusable> {
    if !(-TOO_LARGE..TOO_LARGE).contains(&number) {
        let message = say!(
            "the cell has a number of more than 15 digits, of which a spreadsheet loses some: format the cell as text and write it again",
            "la celda tiene un número de más de 15 dígitos, de los que una hoja de cálculo pierde algunos: dele formato de texto y escríbalo otra vez"
        );
        return Err((codes::DIGITS_LOST, message));
    }
    // A spreadsheet keeps 15 digits; a sum of binary fractions has noise after them.
    let shown: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    let text = shown.to_string();
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) if shown != 0.0 => ("-", text.to_owned()),
        Some(text) => ("", text.to_owned()),
        None => ("", text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let is_whole = fraction.is_empty() && sign.is_empty();
    Ok(match kind {
        Kind::Decimal => {
            let decimals = format.decimals.max(fraction.len());
            match decimals {
                0 => format!("{sign}{whole}"),
                _ => format!("{sign}{whole}.{fraction:0<decimals$}"),
            }
        }
        // A code such as 01, or the version 1.0.
        Kind::Code(catalogue) => catalogue
            .iter()
            .find(|(code, _)| code.parse::<f64>() == Ok(shown))
            .map_or(format!("{sign}{text}"), |(code, _)| (*code).to_owned()),
        // An identity card begins with a zero, which the number lost.
        Kind::Rnc if is_whole && whole.len() == 10 => format!("0{whole}"),
        Kind::Text | Kind::Rnc if is_whole => format!("{whole:0>width$}", width = format.integers),
        _ => format!("{sign}{text}"),
    })
}

fn words(kind: Kind) -> Bilingual {
    match kind {
        Kind::Text => say!("a text", "un texto"),
        Kind::Decimal => say!("an amount", "un monto"),
        Kind::Integer => say!("a whole number", "un número entero"),
        Kind::Code(_) => say!("a code", "un código"),
        Kind::Fecha => say!("a date, dd-MM-yyyy", "una fecha, dd-MM-aaaa"),
        Kind::FechaHora => say!(
            "a date with time, dd-MM-yyyy HH:mm:ss",
            "una fecha con hora, dd-MM-aaaa HH:mm:ss"
        ),
        Kind::Rnc => say!("an RNC of 9 or 11 digits", "un RNC de 9 u 11 dígitos"),
    }
}

#[cfg(test)]
mod tests {
    use calamine::ExcelDateTimeType;

    use super::*;

    fn number(number: f64, code: &str) -> Value {
        Value::Number {
            number,
            format: NumberFormat::of(code),
            serial: Some(ExcelDateTime::new(number, ExcelDateTimeType::DateTime, false)),
        }
    }

    #[test]
    fn a_number_is_written_as_the_spreadsheet_shows_it() {
        const CODES: Kind = Kind::Code(&[("01", "one"), ("02", "two"), ("1.0", "version")]);
        for (given, code, kind, expected) in [
            (1.0, "General", Kind::Decimal, "1"),
            (1.0, "0.00", Kind::Decimal, "1.00"),
            (1234.5, "#,##0.00", Kind::Decimal, "1234.50"),
            (35.0, "0.0000", Kind::Decimal, "35.0000"),
            (96365.3, "General", Kind::Decimal, "96365.3"),
            (0.1 + 0.2, "General", Kind::Decimal, "0.3"),
            (1.25, "0", Kind::Decimal, "1.25"),
            (-3.5, "#,##0.00;[Red](#,##0.00)", Kind::Decimal, "-3.50"),
            (-0.0, "0.00", Kind::Decimal, "0.00"),
            (0.0, "General", Kind::Decimal, "0"),
            (12.0, "\"RD$ 00\"0.0", Kind::Decimal, "12.0"),
            (1.0, "General", CODES, "01"),
            (7.0, "General", CODES, "7"),
            (18.0, "General", Kind::Integer, "18"),
            (101_000_001.0, "General", Kind::Rnc, "101000001"),
            (1_234_567_890.0, "General", Kind::Rnc, "01234567890"),
            (123_456_789.0, "00000000000", Kind::Rnc, "00123456789"),
            (42.0, "000000", Kind::Text, "000042"),
            (43_922.0, "General", Kind::Fecha, "01-04-2020"),
            (46_193.427_222_222_22, "General", Kind::FechaHora, "20-06-2026 10:15:12"),
        ] {
            assert_eq!(
                meant(&number(given, code), kind),
                Ok(expected.to_owned()),
                "{given} {code}"
            );
        }
    }

    #[test]
    fn a_cell_of_another_type_is_a_finding() {
        for (value, kind, code) in [
            (number(0.18, "0%"), Kind::Integer, codes::WRONG_CELL_TYPE),
            (number(1e15, "0"), Kind::Text, codes::DIGITS_LOST),
            (number(f64::NAN, "0"), Kind::Decimal, codes::DIGITS_LOST),
            (number(43922.5, "General"), Kind::Fecha, codes::WRONG_CELL_TYPE),
            (number(-1.0, "General"), Kind::Fecha, codes::WRONG_CELL_TYPE),
            (
                Value::Iso("2026-06-20".to_owned()),
                Kind::Decimal,
                codes::WRONG_CELL_TYPE,
            ),
            (Value::Iso("soon".to_owned()), Kind::Fecha, codes::WRONG_CELL_TYPE),
            (
                Value::Other(Bilingual::same("TRUE")),
                Kind::Text,
                codes::WRONG_CELL_TYPE,
            ),
            (Value::Formula, Kind::Text, codes::FORMULA_WITHOUT_VALUE),
            (Value::Error("#REF!".to_owned()), Kind::Text, codes::CELL_ERROR),
        ] {
            assert_eq!(meant(&value, kind).unwrap_err().0, code, "{value:?}");
        }
    }

    #[test]
    fn dates_in_iso_form_are_read() {
        let iso = |text: &str, kind| meant(&Value::Iso(text.to_owned()), kind);
        assert_eq!(iso("2026-06-20", Kind::Fecha), Ok("20-06-2026".to_owned()));
        assert_eq!(iso("2026-06-20T00:00:00", Kind::Fecha), Ok("20-06-2026".to_owned()));
        assert_eq!(
            iso("2026-06-20T10:15:12.000Z", Kind::FechaHora),
            Ok("20-06-2026 10:15:12".to_owned())
        );
    }
}
