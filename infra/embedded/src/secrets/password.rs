//! Random passwords, and the random suffix of an ARN.

use serde::Deserialize;
use serde_json::{Value, json};

use super::invalid_parameter;
use crate::aws_json::AwsError;

const CHARACTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
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

/// Generates a password with at least one capital letter, one small letter and one digit.
pub(crate) fn generate(request: &GenerateRequest) -> Result<Value, AwsError> {
    let length = request.password_length;
    if !(3..=4096).contains(&length) {
        return Err(invalid_parameter(format!("A password can't have {length} characters.")));
    }
    if !request.exclude_punctuation || request.include_space {
        return Err(invalid_parameter(
            "GetRandomPassword with punctuation or spaces is not embedded here",
        ));
    }
    loop {
        let password = random(length)?;
        let has = |kind: fn(&u8) -> bool| password.as_bytes().iter().any(kind);
        if has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit) {
            return Ok(json!({"RandomPassword": password}));
        }
    }
}

/// The six characters that distinguish the ARN of a recreated secret.
pub(crate) fn suffix() -> Result<String, AwsError> {
    random(SUFFIX_LENGTH)
}

/// The bias of the remainder is below one in a trillion for a list of this length.
fn random(length: usize) -> Result<String, AwsError> {
    let character = |_| {
        let random = getrandom::u64().map_err(|error| AwsError::internal(&std::io::Error::other(error.to_string())))?;
        Ok(char::from(CHARACTERS[(random % CHARACTERS.len() as u64) as usize]))
    };
    (0..length).map(character).collect()
}
