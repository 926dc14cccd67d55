//! `consultadirectorio`: the addresses of an electronic taxpayer (not in certification).

use ecf::{Environment, Rnc};
use ecf_store::directory::DirectoryEntry;

use crate::answer::Answer;
use crate::body::{Body, Record, Value};
use crate::client::{TaxAuth, says_not_found};
use crate::endpoints::Service;
use crate::error::{Lost, TaxAuthError};
use crate::token::Token;

/// An answer that neither lists a taxpayer nor says that it is not listed.
#[derive(Debug, PartialEq, Eq)]
struct Odd;

impl TaxAuth {
    /// `None`: the taxpayer is not in the directory.
    pub(crate) async fn directory_entry(
        &self,
        environment: Environment,
        token: &Token,
        rnc: &Rnc,
    ) -> Result<Option<DirectoryEntry>, TaxAuthError> {
        let service = Service::ConsultaDirectorio;
        let query = [("RNC", rnc.as_str())];
        match self.ask(service, environment, Some(token), &query).await {
            Ok(reply) => {
                let answer = reply.answer();
                read(rnc, &reply.body(), &answer).map_err(|Odd| TaxAuthError::Unknown {
                    service,
                    cause: Lost::Odd(Box::new(answer)),
                })
            }
            Err(TaxAuthError::Refused { answer, .. }) if says_not_found(&answer) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Documented as an array. Production returns one object, and an empty answer for a taxpayer that is not listed.
fn read(rnc: &Rnc, body: &Body, answer: &Answer) -> Result<Option<DirectoryEntry>, Odd> {
    let records: Vec<&Record> = match body {
        Body::Empty => return Ok(None),
        Body::List(items) if items.is_empty() => return Ok(None),
        Body::List(items) => items.iter().filter_map(as_record).collect(),
        Body::Record(record) => match record.all("directorio").next() {
            Some(_) => record.all("directorio").filter_map(as_record).collect(),
            None => vec![record],
        },
        _ => Vec::new(),
    };
    match records.iter().find_map(|record| entry(rnc, record)) {
        Some(entry) => Ok(Some(entry)),
        None if says_not_found(answer) => Ok(None),
        None => Err(Odd),
    }
}

fn as_record(value: &Value) -> Option<&Record> {
    match value {
        Value::Record(record) => Some(record),
        _ => None,
    }
}

/// The entry in a record; `None` if it belongs to another taxpayer or has no address.
fn entry(rnc: &Rnc, record: &Record) -> Option<DirectoryEntry> {
    if record.text("rnc").is_some_and(|other| other != rnc.as_str()) {
        return None;
    }
    let entry = DirectoryEntry {
        nombre: record.text("nombre").map(str::to_owned),
        url_recepcion: record.text("urlrecepcion").map(prefix),
        url_aceptacion: record.text("urlaceptacion").map(prefix),
        url_opcional: record.text("urlopcional").map(prefix),
    };
    (entry.url_recepcion.is_some() || entry.url_aceptacion.is_some()).then_some(entry)
}

/// Addresses are prefixes, to which the fixed paths of the services are appended.
fn prefix(address: &str) -> String {
    address.trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str) -> Result<Option<DirectoryEntry>, Odd> {
        let rnc = "101672919".parse().unwrap();
        read(&rnc, &Body::read(body.as_bytes()), &Answer::read(body.as_bytes()))
    }

    #[test]
    fn an_array_one_object_and_xml_give_the_entry() {
        let expected = DirectoryEntry {
            nombre: Some("COMPRADORA".into()),
            url_recepcion: Some("https://x.example/a".into()),
            url_aceptacion: Some("https://y.example".into()),
            url_opcional: None,
        };
        let object = r#"{"nombre":"COMPRADORA","rnc":"101672919","urlRecepcion":"https://x.example/a/","urlAceptacion":"https://y.example","urlOpcional":""}"#;
        let other = r#"{"nombre":"OTRA","rnc":"131880681","urlRecepcion":"https://other.example"}"#;
        for body in [
            object.to_owned(),
            format!("[{object}]"),
            format!("[{other},{object}]"),
            "<ArrayOfDirectorio><Directorio><nombre>COMPRADORA</nombre><rnc>101672919</rnc>\
             <urlRecepcion>https://x.example/a/</urlRecepcion><urlAceptacion>https://y.example</urlAceptacion>\
             <urlOpcional/></Directorio></ArrayOfDirectorio>"
                .to_owned(),
        ] {
            assert_eq!(of(&body), Ok(Some(expected.clone())), "{body}");
        }
    }

    #[test]
    fn who_is_not_listed_is_said_by_nothing_or_in_words() {
        for body in [
            "",
            "[]",
            "null",
            "\"RNC no encontrado.\"",
            r#"{"mensaje":"No encontrado"}"#,
        ] {
            assert_eq!(of(body), Ok(None), "{body}");
        }
    }

    #[test]
    fn an_answer_about_somebody_else_or_about_nothing_is_not_believed() {
        for body in [
            r#"{"nombre":"OTRA","rnc":"131880681","urlRecepcion":"https://other.example"}"#,
            r#"{"rnc":"101672919"}"#,
            "{}",
            "[1]",
            "OK",
            "<html><title>Mantenimiento</title></html>",
        ] {
            assert_eq!(of(body), Err(Odd), "{body}");
        }
    }
}
