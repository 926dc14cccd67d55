//! Random passwords, and the random end of an ARN.

use serde::Deserialize;
use serde_json::{Value, json};

use super::invalid_parameter;
use crate::aws_json::AwsError;

const LOWERCASE: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPERCASE: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const NUMBERS: &str = "0123456789";
const PUNCTUATION: &str = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
const MAX_LENGTH: usize = 4096;
const SUFFIX_LENGTH: usize = 6;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(crate) struct GenerateRequest {
    password_length: usize,
    #[serde(default)]
    exclude_punctuation: bool,
    #[serde(default)]
    include_space: bool,
}

/// Makes a password that has a character of each type that is not excluded.
pub(crate) fn generate(request: &GenerateRequest) -> Result<Value, AwsError> {
    let length = request.password_length;
    let types: Vec<Vec<char>> = [
        (true, LOWERCASE),
        (true, UPPERCASE),
        (true, NUMBERS),
        (!request.exclude_punctuation, PUNCTUATION),
        (request.include_space, " "),
    ]
    .into_iter()
    .filter(|(included, _)| *included)
    .map(|(_, characters)| characters.chars().collect())
    .collect();
    if !(types.len()..=MAX_LENGTH).contains(&length) {
        return Err(invalid_parameter(format!(
            "A password of length {length} can't be made of {} character types.",
            types.len()
        )));
    }
    let mut password = types
        .iter()
        .map(|characters| pick(characters))
        .collect::<Result<Vec<_>, _>>()?;
    let all: Vec<char> = types.concat();
    while password.len() < length {
        password.push(pick(&all)?);
    }
    // The required characters came first; shuffled, their places tell nothing.
    for last in (1..password.len()).rev() {
        password.swap(last, below(last + 1)?);
    }
    let password: String = password.into_iter().collect();
    Ok(json!({"RandomPassword": password}))
}

/// The six characters that make the ARN of a recreated secret another one.
pub(crate) fn suffix() -> Result<String, AwsError> {
    let characters: Vec<char> = [LOWERCASE, UPPERCASE, NUMBERS].concat().chars().collect();
    (0..SUFFIX_LENGTH).map(|_| pick(&characters)).collect()
}

fn pick(characters: &[char]) -> Result<char, AwsError> {
    Ok(characters[below(characters.len())?])
}

/// A random index. The bias of the remainder is below one in a trillion for lists as short as these.
fn below(bound: usize) -> Result<usize, AwsError> {
    let random = getrandom::u64().map_err(|error| AwsError::internal(&std::io::Error::other(error.to_string())))?;
    Ok((random % bound as u64) as usize)
}
