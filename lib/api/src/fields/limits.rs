//! Limits of a field's value.

use std::{ops::RangeInclusive, str::FromStr};

use ecf_language::{Bilingual, Say, say};

use super::{Field, field::Fault};

impl<'f> Field<'f, String> {
    /// The length in characters, not bytes.
    pub fn length(self, limits: RangeInclusive<usize>) -> Self {
        self.and_then(|text| {
            let (least, most) = limits.into_inner();
            let length = text.chars().count();
            if length < least {
                let count = characters(least);
                let msg = say!(
                    [count],
                    "String should have at least {count}",
                    "debe tener al menos {count}"
                );
                return Err(Fault::new("string_too_short", msg).with("min_length", least));
            }
            if length > most {
                let count = characters(most);
                let msg = say!(
                    [count],
                    "String should have at most {count}",
                    "debe tener como máximo {count}"
                );
                return Err(Fault::new("string_too_long", msg).with("max_length", most));
            }
            Ok(text)
        })
    }

    /// A format. `pattern` is only shown to the caller; `fits` decides.
    pub fn pattern(self, pattern: &'static str, fits: fn(&str) -> bool) -> Self {
        self.and_then(|text| {
            if fits(&text) {
                return Ok(text);
            }
            let msg = say!(
                "String should match pattern '{pattern}'",
                "debe seguir el patrón '{pattern}'"
            );
            Err(Fault::new("string_pattern_mismatch", msg).with("pattern", pattern))
        })
    }

    /// An e-mail address; only its form is validated.
    pub fn email(self) -> Self {
        self.length(3..=80).pattern(r"^[^@\s]+@[^@\s]+\.[^@\s]+$", is_email)
    }

    /// A domain type, parsed with its `FromStr`.
    pub fn parse<T>(self) -> Field<'f, T>
    where
        T: FromStr<Err: Say>,
    {
        self.and_then(|text| text.parse().map_err(value_error))
    }
}

impl Field<'_, i64> {
    /// A range of numbers, both ends included.
    pub fn range(self, limits: RangeInclusive<i64>) -> Self {
        self.and_then(|number| {
            let (least, most) = limits.into_inner();
            if number < least {
                let msg = say!(
                    "Input should be greater than or equal to {least}",
                    "debe ser {least} o más"
                );
                return Err(Fault::new("greater_than_equal", msg).with("ge", least));
            }
            if number > most {
                let msg = say!(
                    "Input should be less than or equal to {most}",
                    "debe ser {most} o menos"
                );
                return Err(Fault::new("less_than_equal", msg).with("le", most));
            }
            Ok(number)
        })
    }
}

impl<'f, T> Field<'f, Vec<T>> {
    /// The number of elements.
    pub fn items(self, limits: RangeInclusive<usize>) -> Self {
        self.and_then(|elements| {
            let (least, most) = limits.into_inner();
            let length = elements.len();
            let fault = if length < least {
                let count = items(least);
                let msg = say!(
                    [count],
                    "List should have at least {count}, not {length}",
                    "la lista debe tener al menos {count}, no {length}"
                );
                Fault::new("too_short", msg).with("min_length", least)
            } else if length > most {
                let count = items(most);
                let msg = say!(
                    [count],
                    "List should have at most {count}, not {length}",
                    "la lista debe tener como máximo {count}, no {length}"
                );
                Fault::new("too_long", msg).with("max_length", most)
            } else {
                return Ok(elements);
            };
            Err(fault.with("field_type", "List").with("actual_length", length))
        })
    }
}

impl<'f> Field<'f, Vec<String>> {
    /// Parses each element with the `FromStr` of a domain type.
    pub fn parse_each<T>(self) -> Field<'f, Vec<T>>
    where
        T: FromStr<Err: Say>,
    {
        self.and_then_all(|texts| {
            let mut values = Vec::with_capacity(texts.len());
            let mut faults = Vec::new();
            for (position, text) in texts.iter().enumerate() {
                match text.parse::<T>() {
                    Ok(value) => values.push(value),
                    Err(error) => faults.push(value_error(error).at(position)),
                }
            }
            if faults.is_empty() { Ok(values) } else { Err(faults) }
        })
    }
}

fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.split_once('@') else {
        return false;
    };
    let blank = text.chars().any(char::is_whitespace);
    !name.is_empty()
        && !blank
        && !host.contains('@')
        && host.split('.').count() > 1
        && host.split('.').all(|part| !part.is_empty())
}

fn value_error(error: impl Say) -> Fault {
    let error = error.say();
    let english = error.en.to_string();
    Fault::new("value_error", error).with("error", english)
}

fn characters(count: usize) -> Bilingual {
    match count {
        1 => say!("1 character", "1 carácter"),
        _ => say!("{count} characters", "{count} caracteres"),
    }
}

fn items(count: usize) -> Bilingual {
    match count {
        1 => say!("1 item", "1 elemento"),
        _ => say!("{count} items", "{count} elementos"),
    }
}

#[cfg(test)]
mod tests {
    use super::is_email;

    #[test]
    fn an_address_needs_a_name_and_a_host_with_a_dot() {
        for good in ["a@b.do", "facturas.electronicas@empresa.com.do", "ñ@ñandú.do"] {
            assert!(is_email(good), "{good}");
        }
        for bad in ["", "a", "a@", "@b.do", "a@b", "a@b.", "a@@b.do", "a b@c.do"] {
            assert!(!is_email(bad), "{bad}");
        }
    }
}
