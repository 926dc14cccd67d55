//! Dates in other spellings.

use jiff::civil::{Date, date};

use crate::Fecha;

/// The day that a text means, in any order and with any separators. If two orders are possible, the day comes first, as
/// in the Dominican Republic.
pub(crate) fn meant_day(text: &str) -> Option<Fecha> {
    let lower = text.to_lowercase();
    let parts: Vec<&str> = lower
        .split(|character: char| !character.is_alphanumeric())
        .map(|part| match part.split_once('t') {
            Some((day, _)) if is_number(day) => day,
            _ => part,
        })
        .filter(|part| !part.is_empty() && !matches!(*part, "de" | "del" | "of"))
        .collect();
    let (year, month, day) = match parts.as_slice() {
        [one] => return unbroken(one),
        [first, second, third, ..] => in_order([first, second, third])?,
        _ => return None,
    };
    let year = if year < 100 { year + 2_000 } else { year };
    fecha(year, month, day)
}

/// Year, month and day of three parts.
fn in_order(parts: [&str; 3]) -> Option<(i16, i16, i16)> {
    if let Some(place) = parts.iter().position(|part| !is_number(part)) {
        let month = month_of(parts[place])?;
        let mut others = parts.iter().enumerate().filter(|(index, _)| *index != place);
        let (first, second) = (others.next()?.1, others.next()?.1);
        let (day, year) = if first.len() == 4 {
            (second, first)
        } else {
            (first, second)
        };
        return Some((year.parse().ok()?, month, day.parse().ok()?));
    }
    let [first, second, third] = parts;
    let number = |part: &str| part.parse::<i16>().ok();
    let (day, month, year) = match first.len() {
        4 => (number(third)?, number(second)?, number(first)?),
        _ => (number(first)?, number(second)?, number(third)?),
    };
    let fits = first.len() == 4 || matches!(third.len(), 2 | 4);
    let swapped = month > 12 && day <= 12;
    let (day, month) = if swapped { (month, day) } else { (day, month) };
    fits.then_some((year, month, day))
}

fn is_number(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
}

/// The month by the first three letters of its Spanish or English name.
fn month_of(name: &str) -> Option<i16> {
    const NAMES: [&[&str]; 12] = [
        &["ene", "jan"],
        &["feb"],
        &["mar"],
        &["abr", "apr"],
        &["may"],
        &["jun"],
        &["jul"],
        &["ago", "aug"],
        &["sep", "set"],
        &["oct"],
        &["nov"],
        &["dic", "dec"],
    ];
    let place = NAMES
        .iter()
        .position(|names| names.iter().any(|start| name.starts_with(start)))?;
    i16::try_from(place + 1).ok()
}

/// `yyyyMMdd` and `ddMMyyyy` without separators, and the day count with which spreadsheets store a date.
fn unbroken(text: &str) -> Option<Fecha> {
    const EPOCH_OF_SPREADSHEETS: Date = date(1899, 12, 30);
    if !is_number(text) {
        return None;
    }
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i16>().ok();
    match text.len() {
        8 | 14 if text.starts_with("20") && number(4, 6)? <= 12 => fecha(number(0, 4)?, number(4, 6)?, number(6, 8)?),
        8 => fecha(number(4, 8)?, number(2, 4)?, number(0, 2)?),
        5 => {
            let days = jiff::Span::new().try_days(text.parse::<i64>().ok()?).ok()?;
            Fecha::try_from(EPOCH_OF_SPREADSHEETS.checked_add(days).ok()?).ok()
        }
        _ => None,
    }
}

fn fecha(year: i16, month: i16, day: i16) -> Option<Fecha> {
    let date = Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    Fecha::try_from(date).ok()
}
