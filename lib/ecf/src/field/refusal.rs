//! The refusal of a value that cannot be read: the given value and, if known, what to write.

use crate::codes;
use ecf_language::{Bilingual, Say as _, say};
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
    let error = error.say();
    let message = say!(
        [error],
        "{error}: write {}",
        "{error}: escriba {}",
        advice::quoted(text.trim())
    );
    Problem::new(codes::FORBIDDEN_CHARACTERS, "value_error", message).expecting(text.trim())
}

fn meant_text(text: &str, class: Class, context: &Context) -> Option<String> {
    context
        .advise
        .then(|| advice::meant_text(class, text, context.receipt_type))
        .flatten()
}

pub(super) fn too_long(text: &str, length: usize, max: usize, class: Class, context: &Context) -> Problem {
    let message = say!(
        "the text has {length} characters, at most {max} are allowed",
        "el texto tiene {length} caracteres, se permiten {max} como máximo"
    );
    let problem = |message: Bilingual| Problem::new(codes::TEXT_TOO_LONG, "string_too_long", message);
    let meant = meant_text(text, class, context).filter(|meant| meant.chars().count() <= max);
    let form = class.complaint(text, context.receipt_type);
    match (form.zip(meant), advice::longer_field(context.field)) {
        (Some((form, meant)), _) => problem(say!(
            [form],
            "{} is not {form}: write {meant}",
            "{} no es {form}: escriba {meant}",
            advice::quoted(text)
        ))
        .expecting(meant),
        (None, Some(other)) => problem(say!(
            [message, other],
            "{message}; the rest fits into {other}",
            "{message}; el resto cabe en {other}"
        ))
        .expecting(format!("at most {max}")),
        (None, None) => problem(message).expecting(format!("at most {max}")),
    }
}

pub(super) fn wrong_form(text: &str, expected: &Bilingual, class: Class, context: &Context) -> Problem {
    let problem = |message: Bilingual| Problem::new(codes::WRONG_FORM, "string_pattern_mismatch", message);
    let given = advice::quoted(text);
    match meant_text(text, class, context) {
        Some(meant) => problem(say!(
            [expected],
            "{given} is not {expected}: write {meant}",
            "{given} no es {expected}: escriba {meant}"
        ))
        .expecting(meant),
        None => problem(say!(
            [expected],
            "{given} is not {expected}",
            "{given} no es {expected}"
        ))
        .expecting(&*expected.en),
    }
}

pub(super) fn decimal(error: DecimalError) -> Problem {
    let message = error.say();
    match error {
        DecimalError::NotANumber { given } | DecimalError::Float { given } => {
            let problem = |message: Bilingual| Problem::new(codes::NOT_A_DECIMAL, "decimal_parsing", message);
            match advice::meant_decimal(&given) {
                Some(Meant::One(meant)) => problem(say!(
                    "{} is not a plain decimal number: write {meant}",
                    "{} no es un número decimal simple: escriba {meant}",
                    advice::quoted(&given)
                ))
                .expecting(meant),
                Some(Meant::ThousandsOrDecimals(thousands, decimals)) => problem(say!(
                    "{} has a comma: write {thousands}, or {decimals} when the comma stands before decimals",
                    "{} tiene una coma: escriba {thousands}, o {decimals} si la coma separa los decimales",
                    advice::quoted(&given)
                ))
                .expecting(format!("{thousands} or {decimals}")),
                None => problem(message).expecting("digits, and a point before decimals"),
            }
        }
        DecimalError::Decimals { scale, given } => {
            let message = match given.parse().ok().map(|value: Decimal| rounded_half_up(value, scale)) {
                Some(rounded) => say!(
                    [message],
                    "{message}: rounded half up it is {rounded}",
                    "{message}: redondeado es {rounded}"
                ),
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
pub(super) fn sign(given: &str, value: Decimal, kind: &'static str, expected: &Bilingual) -> Problem {
    let problem = |message: Bilingual| Problem::new(codes::WRONG_SIGN, kind, message);
    match given.strip_prefix('+') {
        Some(unsigned) if !value.is_zero() => problem(say!(
            "{given} has a sign: write {unsigned}",
            "{given} tiene un signo: escriba {unsigned}"
        ))
        .expecting(unsigned),
        _ if value.is_sign_negative() && !value.is_zero() => problem(say!(
            [expected],
            "{given} is below zero and must be {expected}; a discount has fields of its own, and money is given back \
             by a credit note (type 34)",
            "{given} está por debajo de cero y debe ser {expected}; un descuento tiene sus propios campos, y el \
             dinero se devuelve con una nota de crédito (tipo 34)"
        ))
        .expecting(&*expected.en),
        _ => problem(say!(
            [expected],
            "{given} must be {expected}",
            "{given} debe ser {expected}"
        ))
        .expecting(&*expected.en),
    }
}

pub(super) fn whole_number(field: &str, text: &str) -> Problem {
    let problem = |message: Bilingual| Problem::new(codes::NOT_AN_INTEGER, "int_parsing", message);
    let given = advice::quoted(text);
    match advice::meant_integer(field, text) {
        Some(meant) => problem(say!(
            "{given} is not a whole number in digits: write {meant}",
            "{given} no es un número entero en dígitos: escriba {meant}"
        ))
        .expecting(meant),
        None => problem(say!(
            "{given} is not a whole number in digits",
            "{given} no es un número entero en dígitos"
        ))
        .expecting("digits only"),
    }
}

/// What to write instead of a value, and the sentence about it.
pub(super) struct Advice {
    pub(super) message: Bilingual,
    pub(super) write: String,
}

fn advice(given: &str, why: &Bilingual, write: impl ToString) -> Advice {
    let write = write.to_string();
    let message = say!(
        [why],
        "{} {why}: write {write}",
        "{} {why}: escriba {write}",
        advice::quoted(given)
    );
    Advice { message, write }
}

pub(super) fn no_advice(_: &str) -> Option<Advice> {
    None
}

pub(super) fn day(text: &str) -> Option<Advice> {
    let why = match text.parse::<Fecha>() {
        Err(DateError::YearFirst { .. }) => say!(
            "starts with the year, dates are written dd-MM-yyyy",
            "empieza con el año, las fechas se escriben dd-MM-yyyy"
        ),
        Err(DateError::NoSuchDay { .. }) => say!(
            "has day and month the wrong way round, dates are written dd-MM-yyyy",
            "tiene el día y el mes al revés, las fechas se escriben dd-MM-yyyy"
        ),
        _ => say!("is not written dd-MM-yyyy", "no está escrito dd-MM-yyyy"),
    };
    Some(advice(text, &why, advice::meant_day(text)?))
}

pub(super) fn encf(text: &str) -> Option<Advice> {
    if let Some(meant) = advice::meant_encf(text) {
        return Some(advice(
            text,
            &say!(
                "is not an e-NCF of E and twelve digits",
                "no es un e-NCF de E y doce dígitos"
            ),
            meant,
        ));
    }
    let is_paper = text.parse::<crate::Ncf>().is_ok();
    let message = say!(
        "{} is a paper number: an e-NCF is E and twelve digits, and left out it is assigned",
        "{} es un número de papel: un e-NCF es E y doce dígitos, y si se omite se asigna",
        advice::quoted(text)
    );
    let write = "E and twelve digits, or no eNCF".to_owned();
    is_paper.then_some(Advice { message, write })
}

pub(super) fn ncf(text: &str) -> Option<Advice> {
    let why = say!(
        "is not a receipt number of 13 characters (E), 11 (series B) or 19 (series A or P)",
        "no es un número de comprobante de 13 caracteres (E), 11 (serie B) o 19 (serie A o P)"
    );
    Some(advice(text, &why, advice::meant_ncf(text)?))
}

pub(super) fn receipt_type(text: &str) -> Option<Advice> {
    let meant = ReceiptType::meant_by(text)?;
    let message = say!(
        "{} is not a type of e-CF: write {meant} ({})",
        "{} no es un tipo de e-CF: escriba {meant} ({})",
        advice::quoted(text),
        meant.title()
    );
    let write = meant.to_string();
    Some(Advice { message, write })
}

pub(super) fn rnc(text: &str, error: &RncError, context: &Context) -> Problem {
    let problem = |message: Bilingual| Problem::new(codes::NOT_AN_RNC, "value_error", message);
    if let Some(meant) = advice::meant_rnc(text) {
        let given = advice::quoted(text);
        return problem(say!(
            "{given} is not an RNC of 9 digits or a cédula of 11: write {meant}",
            "{given} no es un RNC de 9 dígitos ni una cédula de 11: escriba {meant}"
        ))
        .expecting(meant.to_string());
    }
    let takes_foreign = matches!(context.receipt_type, E32 | E33 | E34 | E44 | E46 | E47);
    let foreign = takes_foreign && context.field == "RNCComprador" && text.contains(char::is_alphabetic);
    let error = error.say();
    let message = if foreign {
        say!(
            [error],
            "{error}; a passport or another foreign identity goes into IdentificadorExtranjero",
            "{error}; un pasaporte u otra identidad extranjera va en IdentificadorExtranjero"
        )
    } else {
        error
    };
    problem(message).expecting("9 or 11 digits")
}

pub(super) fn code(text: &str, catalogue: Catalogue, also: &[(&str, &str)], context: &Context) -> Problem {
    let problem = |message: Bilingual| Problem::new(codes::NOT_IN_CATALOGUE, "enum", message);
    let field = context.field;
    let given = advice::quoted(text);
    if field == "TipoMoneda" && crate::catalogue::is_peso(text) {
        let message = say!(
            "{given}: Dominican pesos need no OtraMoneda, leave the block out",
            "{given}: los pesos dominicanos no necesitan OtraMoneda, omita el bloque"
        );
        return problem(message).expecting("no OtraMoneda");
    }
    let meant = if context.advise {
        advice::meant_codes(catalogue, also, field, text)
    } else {
        Vec::new()
    };
    if !meant.is_empty() {
        let codes: Vec<String> = meant.iter().map(|(code, _)| (*code).to_owned()).collect();
        let meant = advice::listed(&meant);
        let message = say!(
            [meant],
            "{given} is not a code of {field}: write {meant}",
            "{given} no es un código de {field}: escriba {meant}"
        );
        return problem(message).expecting(advice::alternatives(&codes).en);
    }
    let all = all_of(catalogue);
    problem(say!(
        [all],
        "{given} is not a code of {field}: {all}",
        "{given} no es un código de {field}: {all}"
    ))
    .expecting(all.en)
}

/// The entries of a short catalogue, or the number of entries of a long one.
pub(super) fn all_of(catalogue: Catalogue) -> Bilingual {
    const WORTH_LISTING: usize = 20;
    let [(first, _), .., (last, _)] = catalogue else {
        return catalogue.first().map_or_else(Bilingual::default, |(code, words)| {
            Bilingual::same(format!("{code} {words}").trim().to_owned())
        });
    };
    if catalogue.len() > WORTH_LISTING {
        return say!(
            "one of {} codes from {first} to {last}",
            "uno de {} códigos, de {first} a {last}",
            catalogue.len()
        );
    }
    let listed: Vec<String> = catalogue
        .iter()
        .map(|(code, words)| format!("{code} {words}").trim().to_owned())
        .collect();
    say!("one of {}", "uno de {}", listed.join(", "))
}
