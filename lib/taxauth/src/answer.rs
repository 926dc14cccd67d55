//! An answer of the authority: parsed as far as possible, together with its raw text.

use serde::Serialize;

use crate::about::About;
use crate::body::{Body, Record, Value, plain};

/// The code for a number that is already used.
///
/// No list of codes is published. This code occurred in real answers. It matters because it may refer to an earlier
/// copy of the same receipt.
const SEQUENCE_ALREADY_USED: u32 = 1209;

/// The message that refuses a certificate of the wrong kind (seen in 2026 as a bare JSON string with status 400).
const CERTIFICATE_KIND_REFUSED: &str = "tipodecertificadonoadmitido";

/// Upper bound of the raw text that is stored, in bytes; it fits into a record.
const MAX_RAW_BYTES: usize = 8 * 1024;

/// Upper bound of the messages that are stored of one answer.
const MAX_MENSAJES: usize = 100;

/// A message of the authority. `valor` is for people, `codigo` is an opaque key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mensaje {
    /// The code as received, number or text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub codigo: Option<String>,
    /// The text.
    pub valor: String,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// An empty body.
    Empty,
    /// An HTML page, from a gateway rather than from the service.
    Html,
    /// Plain text.
    Text,
    /// The web framework's own error record (ProblemDetails), from the framework rather than from the service.
    ProblemDetails,
    /// A record of named values, or a list of messages.
    Record,
}

/// An answer of the authority, in any form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its form.
    pub shape: Shape,
    /// The code of the state, as received.
    pub codigo: Option<String>,
    /// The state in words, as received.
    pub estado: Option<String>,
    /// Its messages, without empty ones.
    pub mensajes: Vec<Mensaje>,
    /// Whether the number is used up; meaningful only in a rejection.
    pub secuencia_utilizada: Option<bool>,
    /// The identifier of the submission.
    pub track_id: Option<String>,
    /// The raw text, cut to an upper bound.
    pub raw: String,
    /// The identifiers that it names.
    pub(crate) about: About,
    is_cut: bool,
}

impl Answer {
    /// Reads an answer. Never fails: a body that cannot be parsed is kept as text.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        Self::of(&Body::read(bytes), bytes)
    }

    pub(crate) fn of(body: &Body, bytes: &[u8]) -> Self {
        let (raw, is_cut) = bounded(bytes);
        let mut answer = Self {
            shape: Shape::Empty,
            codigo: None,
            estado: None,
            mensajes: Vec::new(),
            secuencia_utilizada: None,
            track_id: None,
            raw,
            about: About::default(),
            is_cut,
        };
        match body {
            Body::Empty => {}
            Body::Html(words) => {
                answer.shape = Shape::Html;
                answer.say(None, words);
            }
            Body::Text(text) => {
                answer.shape = Shape::Text;
                answer.say(None, text);
            }
            Body::Record(record) => answer.take(record),
            Body::List(items) => match body.as_record() {
                Some(record) if !is_message(record) => answer.take(record),
                _ => {
                    answer.shape = Shape::Record;
                    items.iter().for_each(|item| answer.say_all(item));
                }
            },
        }
        answer
    }

    fn take(&mut self, record: &Record) {
        self.shape = if is_problem(record) {
            Shape::ProblemDetails
        } else {
            Shape::Record
        };
        self.about = About::of(record);
        self.codigo = record.text("codigo").map(str::to_owned);
        self.estado = record.text("estado").map(str::to_owned);
        self.track_id = record.text("trackid").map(str::to_owned);
        self.secuencia_utilizada = record.text("secuenciautilizada").and_then(truth);
        // `errores` lists what is behind a general `mensaje`.
        for name in ["mensajes", "mensaje", "error", "errores"] {
            record.all(name).for_each(|value| self.say_all(value));
        }
        if let Some(valor) = record.text("valor") {
            // A single message without an envelope: the code belongs to the message, not to the state.
            let codigo = self.codigo.take();
            self.say(codigo.as_deref(), valor);
        }
        if self.shape == Shape::ProblemDetails {
            for name in ["title", "detail"] {
                if let Some(words) = record.text(name) {
                    self.say(None, words);
                }
            }
            for errors in record.all("errors") {
                self.say_all(errors);
            }
        }
    }

    /// Adds messages of any form: text, record, list, or record of lists.
    fn say_all(&mut self, value: &Value) {
        match value {
            Value::Null => {}
            Value::Text(text) => self.say(None, text),
            Value::List(items) => items.iter().for_each(|item| self.say_all(item)),
            Value::Record(record) => match record.text("valor").or_else(|| record.text("mensaje")) {
                Some(valor) => self.say(record.text("codigo"), valor),
                // An empty message with code 0 comes with every success.
                None if is_message(record) => {
                    if let Some(codigo) = record.text("codigo").filter(|codigo| number(codigo) != Some(0)) {
                        self.say(Some(codigo), "");
                    }
                }
                None => record.values().for_each(|(_, nested)| self.say_all(nested)),
            },
        }
    }

    fn say(&mut self, codigo: Option<&str>, valor: &str) {
        let valor = valor.trim();
        let message = Mensaje {
            codigo: codigo.map(str::to_owned),
            valor: valor.to_owned(),
        };
        let is_blank = valor.is_empty() && codigo.is_none();
        if !is_blank && self.mensajes.len() < MAX_MENSAJES && !self.mensajes.contains(&message) {
            self.mensajes.push(message);
        }
    }

    /// The code of the state as a number: `1`, `"1"` and `"01"` are equal.
    #[must_use]
    pub fn codigo_number(&self) -> Option<u32> {
        self.codigo.as_deref().and_then(number)
    }

    /// Whether the authority says that the number is already used (code 1209).
    ///
    /// If the receipt may have been sent before, this code suggests that a copy was taken: look the number up before
    /// treating the answer as a refusal.
    #[must_use]
    pub fn says_already_used(&self) -> bool {
        self.codigo_number() == Some(SEQUENCE_ALREADY_USED)
            || self
                .mensajes
                .iter()
                .any(|mensaje| mensaje.codigo.as_deref().and_then(number) == Some(SEQUENCE_ALREADY_USED))
    }

    /// Whether the authority refuses the certificate for its kind. A retry cannot succeed.
    #[must_use]
    pub fn refuses_the_kind_of_certificate(&self) -> bool {
        self.mensajes
            .iter()
            .any(|mensaje| plain(&mensaje.valor).contains(CERTIFICATE_KIND_REFUSED))
    }

    /// The code for `error_code`: the first code of a message that is not 0, else the code of the state.
    #[must_use]
    pub fn error_code(&self) -> Option<&str> {
        self.mensajes
            .iter()
            .filter_map(|mensaje| mensaje.codigo.as_deref())
            .find(|codigo| number(codigo) != Some(0))
            .or(self.codigo.as_deref())
    }

    /// The text for `error_message`: the messages, else the state.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let words: Vec<_> = self
            .mensajes
            .iter()
            .map(|mensaje| mensaje.valor.as_str())
            .filter(|valor| !valor.is_empty())
            .collect();
        if words.is_empty() {
            self.estado.clone()
        } else {
            Some(words.join("; "))
        }
    }

    /// Whether the answer comes from the service itself, not from a gateway or the framework in front of it.
    pub(crate) fn is_by_the_service(&self) -> bool {
        matches!(self.shape, Shape::Record | Shape::Text) && !(self.mensajes.is_empty() && self.estado.is_none())
    }

    /// The answer as a compact JSON object, for `taxauth_response`.
    ///
    /// A JSON object is kept as received, without blanks between its parts. Any other form becomes an object of the
    /// parsed values and the raw text.
    #[must_use]
    pub fn to_json(&self) -> String {
        if let Some(object) = self.as_json_object() {
            return object;
        }
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Understood<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            track_id: &'a Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            codigo: &'a Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            estado: &'a Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            secuencia_utilizada: Option<bool>,
            mensajes: &'a [Mensaje],
            texto: &'a str,
        }
        serde_json::to_string(&Understood {
            track_id: &self.track_id,
            codigo: &self.codigo,
            estado: &self.estado,
            secuencia_utilizada: self.secuencia_utilizada,
            mensajes: &self.mensajes,
            texto: &self.raw,
        })
        .expect("texts and truth values always serialize")
    }

    fn as_json_object(&self) -> Option<String> {
        if self.is_cut || !self.raw.starts_with('{') {
            return None;
        }
        // A full parse, because well-formed JSON may still be unreadable for clients: for example a number out of
        // range.
        serde_json::from_str::<serde_json::Value>(&self.raw).ok()?;
        Some(without_blanks(&self.raw))
    }
}

fn bounded(bytes: &[u8]) -> (String, bool) {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.len() <= MAX_RAW_BYTES {
        return (text.to_owned(), false);
    }
    let end = (0..=MAX_RAW_BYTES)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    (text[..end].to_owned(), true)
}

/// Removes the blanks between the parts of a JSON text, but not those inside strings.
fn without_blanks(json: &str) -> String {
    let mut compact = String::with_capacity(json.len());
    let (mut is_inside, mut is_escaped) = (false, false);
    for character in json.chars() {
        if is_inside {
            compact.push(character);
            is_inside = is_escaped || character != '"';
            is_escaped = !is_escaped && character == '\\';
        } else if !character.is_ascii_whitespace() {
            compact.push(character);
            is_inside = character == '"';
        }
    }
    compact
}

/// ASP.NET's ProblemDetails. Its `status` is the HTTP status, not a state.
fn is_problem(record: &Record) -> bool {
    record.has("title") && !record.has("estado") && !record.has("codigo")
}

fn is_message(record: &Record) -> bool {
    record.has("valor") && !record.has("estado")
}

fn truth(text: &str) -> Option<bool> {
    match plain(text).as_str() {
        "true" | "1" | "si" => Some(true),
        "false" | "0" | "no" => Some(false),
        _ => None,
    }
}

/// A code as a number; leading zeros are ignored.
pub(crate) fn number(codigo: &str) -> Option<u32> {
    codigo.trim().parse().ok()
}

#[cfg(test)]
mod tests;
