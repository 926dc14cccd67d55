//! Whether an answer belongs to the question. The authority's answers name the taxpayer, the number or the submission.
//! An answer that names a different one proves nothing: recording it could give a receipt the verdict of another, or
//! free a number that is in use.

use ecf::{Encf, Rnc};

use crate::answer::Answer;
use crate::body::Record;
use crate::endpoints::Service;
use crate::error::{Lost, TaxAuthError};

/// The identifiers of a question or an upload that its answer may repeat.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asked<'a> {
    pub(crate) rnc_emisor: Option<&'a Rnc>,
    pub(crate) encf: Option<&'a Encf>,
    pub(crate) track_id: Option<&'a str>,
}

/// The identifiers that an answer names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct About {
    rnc_emisor: Option<String>,
    encf: Option<String>,
    track_id: Option<String>,
}

impl About {
    pub(crate) fn of(record: &Record) -> Self {
        let first = |names: &[&str]| {
            let mut texts = names.iter().filter_map(|name| record.text(name));
            texts.find(|text| is_named(text)).map(str::to_owned)
        };
        Self {
            rnc_emisor: first(&["rnc", "rncemisor"]),
            encf: first(&["encf", "ncfelectronico"]),
            track_id: first(&["trackid"]),
        }
    }
}

/// Whether the text names anything: not-found answers carry an empty text or a GUID of zeros.
fn is_named(text: &str) -> bool {
    text.chars()
        .any(|character| character.is_alphanumeric() && character != '0')
}

impl Asked<'_> {
    /// Returns the answer if it belongs to the question. Missing identifiers are accepted; letter case and punctuation
    /// are ignored.
    ///
    /// # Errors
    /// Names the first identifier that differs.
    pub(crate) fn check(&self, service: Service, answer: Answer) -> Result<Answer, TaxAuthError> {
        let rnc_emisor = self.rnc_emisor.map(ToString::to_string);
        let encf = self.encf.map(ToString::to_string);
        let about = &answer.about;
        let members = [
            ("rnc", rnc_emisor.as_deref(), &about.rnc_emisor),
            ("eNCF", encf.as_deref(), &about.encf),
            ("trackId", self.track_id, &about.track_id),
        ];
        let other = members.into_iter().find_map(|(member, asked, given)| {
            let given = given.as_deref()?;
            (letters(asked?) != letters(given)).then(|| (member, given.to_owned()))
        });
        match other {
            None => Ok(answer),
            Some((member, given)) => Err(TaxAuthError::Unknown {
                service,
                cause: Lost::Another {
                    member,
                    given,
                    answer: Box::new(answer),
                },
            }),
        }
    }
}

fn letters(text: &str) -> String {
    let letters = text.chars().filter(|character| character.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str) -> Result<(), &'static str> {
        let rnc: Rnc = "130000001".parse().unwrap();
        let encf: Encf = "E310000000001".parse().unwrap();
        let asked = Asked {
            rnc_emisor: Some(&rnc),
            encf: Some(&encf),
            track_id: Some("D2B6E27C-3908-46F3-AFAA-2207B9501B4B"),
        };
        match asked.check(Service::ConsultaResultado, Answer::read(body.as_bytes())) {
            Ok(_) => Ok(()),
            Err(TaxAuthError::Unknown {
                cause: Lost::Another { member, .. },
                ..
            }) => Err(member),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn r3_what_an_answer_names_must_be_what_was_asked() {
        for right in [
            r#"{"codigo":1}"#,
            r#"{"codigo":"1","rnc":"130000001","eNCF":"E310000000001","trackId":"d2b6e27c-3908-46f3-afaa-2207b9501b4b"}"#,
            r#"{"codigo":"1","rnc":"1-30-00000-1","encf":"e310000000001 "}"#,
            r#"{"codigo":1,"rncEmisor":130000001,"ncfElectronico":"E310000000001"}"#,
            r#"{"codigo":0,"rnc":null,"encf":"","trackId":"00000000-0000-0000-0000-000000000000"}"#,
            "<R><codigo>1</codigo><rnc>130000001</rnc></R>",
            "Aceptado",
        ] {
            assert_eq!(check(right), Ok(()), "{right}");
        }
        for (wrong, member) in [
            (r#"{"codigo":1,"rnc":"130000002"}"#, "rnc"),
            (
                r#"{"codigo":2,"eNCF":"E310000000002","secuenciaUtilizada":false}"#,
                "eNCF",
            ),
            (r#"{"codigo":1,"ncfElectronico":"E320000000001"}"#, "eNCF"),
            (
                r#"{"codigo":1,"trackId":"d2b6e27c-3908-46f3-afaa-2207b9501b4c"}"#,
                "trackId",
            ),
            ("<R><codigo>1</codigo><rnc>130000002</rnc></R>", "rnc"),
        ] {
            assert_eq!(check(wrong), Err(member), "{wrong}");
        }
    }
}
