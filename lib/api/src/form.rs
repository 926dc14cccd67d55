//! Bodies of type `multipart/form-data`: files and texts by the names of their parts.
//!
//! The body is read whole, within the limit of every body. Texts are read like the fields of a JSON body, with all
//! errors reported at once; a PIN is a text and is never shown. A part with `Content-Transfer-Encoding: base64` is
//! decoded, because old libraries still send it.

use axum::extract::multipart::{Field as RawPart, MultipartError};
use axum::extract::{FromRequest, Multipart, Request};
use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use ecf::Node;
use ecf_language::{Bilingual, say};
use http::{StatusCode, header::CONTENT_TYPE};
use zeroize::Zeroizing;

use crate::{ApiError, FieldError, Fields, layers::BODY_LIMIT_BYTES};

/// Upper bound of the parts of a form.
const MOST_PARTS: usize = 32;

/// A form, read and validated into a request type.
#[derive(Debug, Clone)]
pub struct ValidForm<T>(pub T);

/// A request that can be read from a form.
pub trait FromForm: Sized {
    /// Reads every part, then builds the value; `None` when a part is missing or invalid.
    fn read(form: &mut Form) -> Option<Self>;
}

/// The parts of one form, and the errors so far.
#[derive(Debug)]
pub struct Form {
    files: Vec<(String, FormFile)>,
    fields: Fields,
}

/// A file in a form.
#[derive(Clone)]
pub struct FormFile {
    /// The last segment of the client's file name, because some clients send the whole path. `None` for a part without
    /// a file name, which is a text.
    pub name: Option<String>,
    pub bytes: Bytes,
}

impl std::fmt::Debug for FormFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The bytes may be a private key.
        f.debug_struct("FormFile")
            .field("name", &self.name)
            .field("size_bytes", &self.bytes.len())
            .finish()
    }
}

impl FormFile {
    /// The bytes as a secret, zeroed when dropped. Without a copy if nothing else holds the body's buffer.
    pub fn into_secret(self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.bytes.into())
    }
}

impl Form {
    /// A required file, which must not be empty.
    pub fn file(&mut self, name: &'static str) -> Option<FormFile> {
        let Some(file) = self.optional_file(name) else {
            self.fields.reject(
                name,
                "missing",
                say!(
                    "Field required: a part with the file",
                    "campo obligatorio: una parte con el archivo"
                ),
            );
            return None;
        };
        if file.bytes.is_empty() {
            let error = FieldError::new(
                ["body", name],
                "value_error",
                say!("the file is empty", "el archivo está vacío"),
            )
            .with_code("empty_file");
            self.fields.reject_with(error);
            return None;
        }
        Some(file)
    }

    /// An optional file.
    pub fn optional_file(&mut self, name: &'static str) -> Option<FormFile> {
        self.fields.ask(name);
        let place = self.files.iter().position(|(known, _)| known == name)?;
        Some(self.files.swap_remove(place).1)
    }

    /// The texts, as fields of a JSON body.
    pub fn fields(&mut self) -> &mut Fields {
        &mut self.fields
    }

    async fn of(mut parts: Multipart) -> Result<Self, ApiError> {
        let mut files = Vec::new();
        let mut texts = Vec::new();
        while let Some(part) = parts.next_field().await.map_err(unreadable)? {
            let Some(name) = part.name().map(str::to_owned) else {
                continue;
            };
            if files.len() == MOST_PARTS {
                let msg = say!(
                    "a form has at most {MOST_PARTS} parts",
                    "un formulario tiene {MOST_PARTS} partes como máximo"
                );
                return Err(ApiError::validation(vec![FieldError::new(["body"], "too_long", msg)]));
            }
            let file = read(part, &name).await?;
            // A file is not a text, but its name takes part in the checks for unknown and repeated names.
            let value = match file.name {
                None => Node::Text(text(&file.bytes).into()),
                Some(_) => Node::Null,
            };
            texts.push((name.as_str().into(), value));
            files.push((name, file));
        }
        Ok(Self {
            files,
            fields: Fields::new("body", texts),
        })
    }
}

impl<T, S> FromRequest<S> for ValidForm<T>
where
    T: FromForm,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let mut form = Form::from_request(request, state).await?;
        let value = T::read(&mut form);
        form.fields.finish(value).map(Self)
    }
}

impl<S: Send + Sync> FromRequest<S> for Form {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        const EXPECTED: &str = "multipart/form-data";
        let given = request
            .headers()
            .get(CONTENT_TYPE)
            .map(|value| value.as_bytes().to_ascii_lowercase());
        if !given.is_some_and(|given| given.starts_with(EXPECTED.as_bytes())) {
            return Err(ApiError::unsupported_media_type(EXPECTED));
        }
        let Ok(parts) = Multipart::from_request(request, state).await else {
            let msg = say!(
                "the content type names no boundary: let the HTTP library write this header",
                "el tipo de contenido no trae boundary: deje que la librería HTTP escriba este encabezado"
            );
            return Err(malformed(msg));
        };
        Self::of(parts).await
    }
}

async fn read(part: RawPart<'_>, name: &str) -> Result<FormFile, ApiError> {
    let file_name = part.file_name().map(base_name);
    let is_base64 = part
        .headers()
        .get("content-transfer-encoding")
        .is_some_and(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"base64"));
    let mut bytes = part.bytes().await.map_err(unreadable)?;
    if is_base64 {
        let packed: Vec<u8> = bytes
            .iter()
            .copied()
            .filter(|byte| !byte.is_ascii_whitespace())
            .collect();
        let decoded = BASE64_STANDARD.decode(packed).map_err(|_| {
            let msg = say!(
                "the part says Content-Transfer-Encoding: base64, but is not Base64",
                "la parte dice Content-Transfer-Encoding: base64, pero no es Base64"
            );
            ApiError::validation(vec![
                FieldError::new(["body", name], "value_error", msg).with_code("base64_decode"),
            ])
        })?;
        bytes = decoded.into();
    }
    Ok(FormFile { name: file_name, bytes })
}

/// Decodes UTF-8, or Latin-1 of older systems, in which every byte is a character.
fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().copied().map(char::from).collect(),
    }
}

fn base_name(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned()
}

fn unreadable(error: MultipartError) -> ApiError {
    match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::payload_too_large(BODY_LIMIT_BYTES),
        _ => {
            let why = error.body_text();
            malformed(say!("the form cannot be read: {why}", "no se puede leer el formulario"))
        }
    }
}

fn malformed(msg: Bilingual) -> ApiError {
    ApiError::validation(vec![FieldError::new(["body"], "multipart_invalid", msg)])
}

#[cfg(test)]
mod tests;
