//! Numbers in other spellings.

use rust_decimal::Decimal;

/// The plain decimal number that a text means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meant {
    /// A single meaning.
    One(String),
    /// A comma before three digits: a thousands separator, or a decimal comma.
    ThousandsOrDecimals(String, String),
}

/// The decimal number that a text means. Handles currency signs, thousands separators, a decimal comma and an exponent.
pub(crate) fn meant_decimal(text: &str) -> Option<Meant> {
    let start = text.find(|character: char| character.is_ascii_digit() || matches!(character, '.' | ','))?;
    let end = text.rfind(|character: char| character.is_ascii_digit() || matches!(character, '.' | ','))? + 1;
    let (before, body, after) = (&text[..start], &text[start..end], &text[end..]);
    if before.contains(['-', '(', '−']) || after.contains(['-', '−']) || before.len() > 8 || after.len() > 8 {
        return None;
    }
    if body.contains(['e', 'E']) {
        return Decimal::from_scientific(body)
            .ok()
            .map(|value| Meant::One(value.normalize().to_string()));
    }
    let blank = |character: char| matches!(character, ' ' | '\'' | '’' | '_' | '\u{A0}' | '\u{202F}');
    let body: String = body.chars().filter(|character| !blank(*character)).collect();
    let known = |character: char| character.is_ascii_digit() || matches!(character, '.' | ',');
    if !body.chars().all(known) || !body.contains(|character: char| character.is_ascii_digit()) {
        return None;
    }
    let Some(last) = body.rfind(['.', ',']) else {
        return Some(Meant::One(body));
    };
    let separator = &body[last..=last];
    let (whole, fraction) = (&body[..last], &body[last + 1..]);
    let is_alone = !whole.contains(['.', ',']);
    if is_alone && separator == "," && fraction.len() == 3 && in_thousands(whole) {
        let decimals = plain(whole, fraction);
        return Some(Meant::ThousandsOrDecimals(format!("{whole}{fraction}"), decimals));
    }
    if is_alone {
        return Some(Meant::One(plain(whole, fraction)));
    }
    let groups: Vec<&str> = whole.split(['.', ',']).collect();
    let (first, others) = groups.split_first()?;
    if !in_thousands(first) || others.iter().any(|group| group.len() != 3) {
        return None;
    }
    let digits = groups.concat();
    if whole.contains(separator) {
        // `1,180,000`: the last separator also separates thousands.
        (fraction.len() == 3).then(|| Meant::One(format!("{digits}{fraction}")))
    } else {
        Some(Meant::One(plain(&digits, fraction)))
    }
}

/// Whether the digits may be the first group of a number with thousands separators.
fn in_thousands(digits: &str) -> bool {
    (1..=3).contains(&digits.len()) && !digits.starts_with('0')
}

fn plain(whole: &str, fraction: &str) -> String {
    let whole = if whole.is_empty() { "0" } else { whole };
    match fraction {
        "" => whole.to_owned(),
        fraction => format!("{whole}.{fraction}"),
    }
}

/// The whole number that a text means. The rates ITBIS1 to ITBIS3 have fixed values.
pub(crate) fn meant_integer(field: &str, text: &str) -> Option<String> {
    match field {
        "ITBIS1" => return Some("18".to_owned()),
        "ITBIS2" => return Some("16".to_owned()),
        "ITBIS3" => return Some("0".to_owned()),
        _ => {}
    }
    let Some(Meant::One(number) | Meant::ThousandsOrDecimals(number, _)) = meant_decimal(text) else {
        return None;
    };
    match number.split_once('.') {
        None => Some(number),
        Some((whole, zeros)) => zeros.bytes().all(|byte| byte == b'0').then(|| whole.to_owned()),
    }
}
