//! `consultatrackids`: the submissions of a number (not in certification).

use ecf::{Encf, Environment, Rnc};

use crate::about::{About, Asked};
use crate::answer::{Answer, number};
use crate::body::{Body, Record, Value};
use crate::client::{TaxAuth, says_not_found};
use crate::endpoints::Service;
use crate::error::TaxAuthError;
use crate::token::Token;
use crate::verdict::Estado;

/// One submission of a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// Its identifier.
    pub track_id: String,
    /// Its verdict, as far as this service returns it.
    pub verdict: Estado,
    /// When it was received, in the authority's format, which varies.
    pub fecha_recepcion: Option<String>,
}

/// The submissions that the authority knows of a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Submissions {
    /// One or more submissions, in the authority's order.
    Found(Vec<Submission>),
    /// No submission, or none that is visible yet.
    None(Answer),
    /// An answer that says neither: ask again.
    Unclear(Answer),
}

impl TaxAuth {
    pub(crate) async fn submissions(
        &self,
        environment: Environment,
        token: &Token,
        rnc_emisor: &Rnc,
        encf: &Encf,
    ) -> Result<Submissions, TaxAuthError> {
        let asked = Asked {
            rnc_emisor: Some(rnc_emisor),
            encf: Some(encf),
            track_id: None,
        };
        let rnc_emisor = rnc_emisor.to_string();
        let encf = encf.to_string();
        let query = [("rncemisor", rnc_emisor.as_str()), ("encf", &encf)];
        match self
            .ask(Service::ConsultaTrackIds, environment, Some(token), &query)
            .await
        {
            Ok(reply) => {
                let (body, mut answer) = (reply.body(), reply.answer());
                // If one record of a list names another taxpayer, the whole list is rejected.
                for record in records(&body) {
                    answer.about = About::of(record);
                    answer = asked.check(Service::ConsultaTrackIds, answer)?;
                }
                Ok(read(&body, answer))
            }
            Err(TaxAuthError::Refused { answer, .. }) if says_none(&answer) => {
                asked.check(Service::ConsultaTrackIds, *answer).map(Submissions::None)
            }
            Err(error) => Err(error),
        }
    }
}

fn records(body: &Body) -> Vec<&Record> {
    match body {
        Body::Record(record) => match record.all("trackids").next() {
            Some(_) => record.all("trackids").filter_map(as_record).collect(),
            None => vec![record],
        },
        Body::List(items) => items.iter().filter_map(as_record).collect(),
        _ => Vec::new(),
    }
}

pub(crate) fn read(body: &Body, answer: Answer) -> Submissions {
    let records = records(body);
    let found: Vec<_> = records.iter().filter_map(|record| submission(record)).collect();
    if !found.is_empty() {
        return Submissions::Found(found);
    }
    // "None" leads to a resend, so the answer must say it: by an empty list or in words.
    let is_empty_list = matches!(body, Body::List(items) if items.is_empty());
    let all_say_none = !records.is_empty()
        && records.iter().all(|record| {
            record.text("estado").and_then(|estado| Estado::by_estado(estado, None)) == Some(Estado::NotFound)
        });
    if is_empty_list || all_say_none || says_none(&answer) {
        Submissions::None(answer)
    } else {
        Submissions::Unclear(answer)
    }
}

fn as_record(value: &Value) -> Option<&Record> {
    match value {
        Value::Record(record) => Some(record),
        _ => None,
    }
}

fn submission(record: &Record) -> Option<Submission> {
    let verdict = record.text("estado").and_then(|estado| Estado::by_estado(estado, None));
    let track_id = record.text("trackid").filter(|_| verdict != Some(Estado::NotFound))?;
    Some(Submission {
        track_id: track_id.to_owned(),
        verdict: verdict.unwrap_or(Estado::Unclear),
        fecha_recepcion: record.text("fecharecepcion").map(str::to_owned),
    })
}

fn says_none(answer: &Answer) -> bool {
    Estado::of(answer) == Estado::NotFound
        || (answer.codigo.as_deref().and_then(number).is_none() && says_not_found(answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str) -> Submissions {
        read(&Body::read(body.as_bytes()), Answer::read(body.as_bytes()))
    }

    #[test]
    fn a_list_a_single_record_and_xml_give_submissions() {
        for body in [
            r#"[{"trackId":"a","estado":"Aceptado","fechaRecepcion":"8/15/2023 6:06:57 AM"}]"#,
            r#"{"trackId":"a","estado":"Aceptado","fechaRecepcion":"8/15/2023 6:06:57 AM"}"#,
            "<ArrayOfTrackingDetalle><TrackingDetalle><trackId>a</trackId><estado>Aceptado</estado>\
             <fechaRecepcion>8/15/2023 6:06:57 AM</fechaRecepcion></TrackingDetalle></ArrayOfTrackingDetalle>",
        ] {
            let expected = Submission {
                track_id: "a".into(),
                verdict: Estado::Accepted,
                fecha_recepcion: Some("8/15/2023 6:06:57 AM".into()),
            };
            assert_eq!(of(body), Submissions::Found(vec![expected]), "{body}");
        }
        let two = of(r#"[{"trackId":"a","estado":"Rechazado"},{"TrackID":"b","estado":"En proceso"}]"#);
        let Submissions::Found(two) = two else {
            panic!("{two:?}")
        };
        let ids: Vec<_> = two.iter().map(|one| (one.track_id.as_str(), one.verdict)).collect();
        assert_eq!(
            ids,
            [
                (
                    "a",
                    Estado::Rejected {
                        secuencia_utilizada: None
                    }
                ),
                ("b", Estado::InProcess)
            ]
        );
    }

    #[test]
    fn none_is_believed_only_when_it_is_said() {
        for body in [
            "[]",
            r#"[{"trackId":null,"estado":"No encontrado"}]"#,
            r#"{"trackId":"00000000-0000-0000-0000-000000000000","estado":"TrackId no encontrado."}"#,
            r#"{"mensaje":"TrackId no encontrado."}"#,
            "\"TrackId no encontrado.\"",
        ] {
            assert!(matches!(of(body), Submissions::None(_)), "{body}");
        }
        for body in [
            "",
            "{}",
            "OK",
            "[1]",
            "<html><title>No encontrado</title></html>",
            r#"{"title":"Not Found"}"#,
        ] {
            assert!(matches!(of(body), Submissions::Unclear(_)), "{body}");
        }
    }
}
