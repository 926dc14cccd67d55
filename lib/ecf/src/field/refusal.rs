//! The refusal of a value that cannot be read: the given value and, if known, what to write.

use crate::codes;
use rust_decimal::Decimal;

use super::advice::{self, Meant};
use super::form::Class;
use super::reader::Context;
use super::{Catalogue, Problem};
use crate::ReceiptType::{E32, E33, E34, E44, E46, E47};
use crate::money::{DecimalError, rounded_half_up};
use crate::text::TextoError;
use crate::{DateError, Fecha, ReceiptType, RncError};

pub(super) fn blank_at_end(text: &str, error: &TextoError) -> Problem {
    let message = format!("{error}: write {}", advice::quoted(text.trim()));
    Problem::new(codes::FORBIDDEN_CHARACTERS, "value_error", message).expecting(text.trim())
}

fn meant_text(text: &str, class: Class, context: &Context) -> Option<String> {
    context
        .advise
        .then(|| advice::meant_text(class, text, context.receipt_type))
        .flatten()
}

pub(super) fn too_long(text: &str, length: usize, max: usize, class: Class, context: &Context) -> Problem {
    let message = format!("the text has {length} characters, at most {max} are allowed");
    let problem = |message: String| Problem::new(codes::TEXT_TOO_LONG, "string_too_long", message);
    let meant = meant_text(text, class, context).filter(|meant| meant.chars().count() <= max);
    let form = class.complaint(text, context.receipt_type);
    match (form.zip(meant), advice::longer_field(context.field)) {
        (Some((form, meant)), _) => {
            problem(format!("{} is not {form}: write {meant}", advice::quoted(text))).expecting(meant)
        }
        (None, Some(other)) => {
            problem(format!("{message}; the rest fits into {other}")).expecting(format!("at most {max}"))
        }
        (None, None) => problem(message).expecting(format!("at most {max}")),
    }
}

pub(super) fn wrong_form(text: &str, expected: &'static str, class: Class, context: &Context) -> Problem {
    let problem = |message: String| Problem::new(codes::WRONG_FORM, "string_pattern_mismatch", message);
    let given = advice::quoted(text);
    match meant_text(text, class, context) {
        Some(meant) => problem(format!("{given} is not {expected}: write {meant}")).expecting(meant),
        None => problem(format!("{given} is not {expected}")).expecting(expected),
    }
}

pub(super) fn decimal(error: DecimalError) -> Problem {
    let message = error.to_string();
    match error {
        DecimalError::NotANumber { given } | DecimalError::Float { given } => {
            let problem = |message: String| Problem::new(codes::NOT_A_DECIMAL, "decimal_parsing", message);
            match advice::meant_decimal(&given) {
                Some(Meant::One(meant)) => problem(format!(
                    "{} is not a plain decimal number: write {meant}",
                    advice::quoted(&given)
                ))
                .expecting(meant),
                Some(Meant::ThousandsOrDecimals(thousands, decimals)) => problem(format!(
                    "{} has a comma: write {thousands}, or {decimals} when the comma stands before decimals",
                    advice::quoted(&given)
                ))
                .expecting(format!("{thousands} or {decimals}")),
                None => problem(message).expecting("digits, and a point before decimals"),
            }
        }
        DecimalError::Decimals { scale, given } => {
            let message = match given.parse().ok().map(|value: Decimal| rounded_half_up(value, scale)) {
                Some(rounded) => format!("{message}: rounded half up it is {rounded}"),
                None => message,
            };
            Problem::new(codes::TOO_MANY_DECIMALS, "decimal_max_places", message)
                .expecting(format!("at most {scale} decimals"))
        }
        DecimalError::Integers { integers, .. } => {
            Problem::new(codes::TOO_MANY_DIGITS, "decimal_whole_digits", message)
                .expecting(format!("at most {integers} digits before the point"))
        }
    }
}

/// A sign that is not allowed, or a zero where the field should be left out.
pub(super) fn sign(given: &str, value: Decimal, kind: &'static str, expected: &str) -> Problem {
    let problem = |message: String| Problem::new(codes::WRONG_SIGN, kind, message);
    match given.strip_prefix('+') {
        Some(unsigned) if !value.is_zero() => {
            problem(format!("{given} has a sign: write {unsigned}")).expecting(unsigned)
        }
        _ if value.is_sign_negative() && !value.is_zero() => problem(format!(
            "{given} is below zero and must be {expected}; a discount has fields of its own, and money is given back by a \
             credit note (type 34)"
        ))
        .expecting(expected),
        _ => problem(format!("{given} must be {expected}")).expecting(expected),
    }
}

pub(super) fn whole_number(field: &str, text: &str) -> Problem {
    let problem = |message: String| Problem::new(codes::NOT_AN_INTEGER, "int_parsing", message);
    let given = advice::quoted(text);
    match advice::meant_integer(field, text) {
        Some(meant) => problem(format!("{given} is not a whole number in digits: write {meant}")).expecting(meant),
        None => problem(format!("{given} is not a whole number in digits")).expecting("digits only"),
    }
}

/// What to write instead of a value, and the sentence about it.
pub(super) struct Advice {
    pub(super) message: String,
    pub(super) write: String,
}

fn advice(given: &str, why: &str, write: impl ToString) -> Advice {
    let write = write.to_string();
    let message = format!("{} {why}: write {write}", advice::quoted(given));
    Advice { message, write }
}

pub(super) fn no_advice(_: &str) -> Option<Advice> {
    None
}

pub(super) fn day(text: &str) -> Option<Advice> {
    let why = match text.parse::<Fecha>() {
        Err(DateError::YearFirst { .. }) => "starts with the year, dates are written dd-MM-yyyy",
        Err(DateError::NoSuchDay { .. }) => "has day and month the wrong way round, dates are written dd-MM-yyyy",
        _ => "is not written dd-MM-yyyy",
    };
    Some(advice(text, why, advice::meant_day(text)?))
}

pub(super) fn encf(text: &str) -> Option<Advice> {
    if let Some(meant) = advice::meant_encf(text) {
        return Some(advice(text, "is not an e-NCF of E and twelve digits", meant));
    }
    let is_paper = text.parse::<crate::Ncf>().is_ok();
    let message = format!(
        "{} is a paper number: an e-NCF is E and twelve digits, and left out it is assigned",
        advice::quoted(text)
    );
    let write = "E and twelve digits, or no eNCF".to_owned();
    is_paper.then_some(Advice { message, write })
}

pub(super) fn ncf(text: &str) -> Option<Advice> {
    let why = "is not a receipt number of 13 characters (E), 11 (series B) or 19 (series A or P)";
    Some(advice(text, why, advice::meant_ncf(text)?))
}

pub(super) fn receipt_type(text: &str) -> Option<Advice> {
    let meant = ReceiptType::meant_by(text)?;
    let message = format!(
        "{} is not a type of e-CF: write {meant} ({})",
        advice::quoted(text),
        meant.title()
    );
    let write = meant.to_string();
    Some(Advice { message, write })
}

pub(super) fn rnc(text: &str, error: &RncError, context: &Context) -> Problem {
    let problem = |message: String| Problem::new(codes::NOT_AN_RNC, "value_error", message);
    if let Some(meant) = advice::meant_rnc(text) {
        let given = advice::quoted(text);
        return problem(format!(
            "{given} is not an RNC of 9 digits or a cédula of 11: write {meant}"
        ))
        .expecting(meant.to_string());
    }
    let takes_foreign = matches!(context.receipt_type, E32 | E33 | E34 | E44 | E46 | E47);
    let foreign = takes_foreign && context.field == "RNCComprador" && text.contains(char::is_alphabetic);
    let message = if foreign {
        format!("{error}; a passport or another foreign identity goes into IdentificadorExtranjero")
    } else {
        error.to_string()
    };
    problem(message).expecting("9 or 11 digits")
}

pub(super) fn code(text: &str, catalogue: Catalogue, also: &[(&str, &str)], context: &Context) -> Problem {
    let problem = |message: String| Problem::new(codes::NOT_IN_CATALOGUE, "enum", message);
    let field = context.field;
    let given = advice::quoted(text);
    if field == "TipoMoneda" && crate::catalogue::is_peso(text) {
        let message = format!("{given}: Dominican pesos need no OtraMoneda, leave the block out");
        return problem(message).expecting("no OtraMoneda");
    }
    let meant = if context.advise {
        advice::meant_codes(catalogue, also, field, text)
    } else {
        Vec::new()
    };
    if !meant.is_empty() {
        let codes: Vec<String> = meant.iter().map(|(code, _)| (*code).to_owned()).collect();
        let message = format!("{given} is not a code of {field}: write {}", advice::listed(&meant));
        return problem(message).expecting(advice::alternatives(&codes));
    }
    let all = all_of(catalogue);
    problem(format!("{given} is not a code of {field}: {all}")).expecting(all)
}

/// The entries of a short catalogue, or the number of entries of a long one.
pub(super) fn all_of(catalogue: Catalogue) -> String {
    const WORTH_LISTING: usize = 20;
    let [(first, _), .., (last, _)] = catalogue else {
        return catalogue
            .first()
            .map_or_else(String::new, |(code, words)| format!("{code} {words}").trim().to_owned());
    };
    if catalogue.len() > WORTH_LISTING {
        return format!("one of {} codes from {first} to {last}", catalogue.len());
    }
    let listed: Vec<String> = catalogue
        .iter()
        .map(|(code, words)| format!("{code} {words}").trim().to_owned())
        .collect();
    format!("one of {}", listed.join(", "))
}
