//! The client of the authority's status service: which services are available, and which maintenance is announced.
//!
//! It runs on its own host, and requires a key instead of a token; the authority issues the key on request. One answer
//! covers all environments.

use std::fmt;

use ecf::Environment;
use ecf_store::authority::{MaintenanceWindow, ServiceStatus};
use jiff::civil::{Date, Time};
use jiff::tz::Offset;
use reqwest::header::{ACCEPT, AUTHORIZATION};
use zeroize::Zeroizing;

use crate::body::{Body, Record, Value, plain};
use crate::client::{Reply, TaxAuth};

/// The key of the status service; not shown by `Debug`.
#[derive(Clone)]
struct StatusKey(Zeroizing<String>);

impl fmt::Debug for StatusKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Why the status service gave no result.
#[derive(Debug, thiserror::Error)]
pub enum StatusError {
    /// It did not answer.
    #[error("the status service does not answer")]
    NotReached(#[source] reqwest::Error),
    /// It answered with an error status.
    #[error("the status service answers with status {0}")]
    Status(u16),
    /// It does not serve us: the key is unknown or revoked, or the address does not exist. Seen in 2026 as 401 and 404;
    /// the description of May 2026 no longer has a chapter about it.
    #[error(
        "the status service refuses with status {0}: how the authority is stays unknown, and nothing is held for it"
    )]
    Withdrawn(u16),
    /// It answered with unexpected content.
    #[error("the status service answers with something that is not the list of {0}")]
    Odd(&'static str),
}

/// A service of an environment, as the authority lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) environment: Environment,
    pub(crate) service: ServiceStatus,
}

/// The client of the status service.
#[derive(Debug, Clone)]
pub(crate) struct StatusService {
    taxauth: TaxAuth,
    key: StatusKey,
}

impl StatusService {
    /// A client with this key, at the status host of the client's endpoints.
    pub(crate) fn new(taxauth: TaxAuth, key: Zeroizing<String>) -> Self {
        Self {
            taxauth,
            key: StatusKey(key),
        }
    }

    /// The services and their state (`obtenerestatus`); certification is not listed.
    pub(crate) async fn services(&self) -> Result<Vec<Listed>, StatusError> {
        let body = self.ask("obtenerestatus", &[]).await?;
        let services: Vec<_> = records(&body).filter_map(listed).collect();
        if services.is_empty() {
            return Err(StatusError::Odd("services"));
        }
        Ok(services)
    }

    /// The announced maintenance windows (`obtenerventanasmantenimiento`), without those that cannot be read.
    pub(crate) async fn windows(&self) -> Result<Vec<(Environment, MaintenanceWindow)>, StatusError> {
        let body = self.ask("obtenerventanasmantenimiento", &[]).await?;
        let record = body.as_record().filter(|record| record.has(WINDOWS));
        let record = record.ok_or(StatusError::Odd("maintenance windows"))?;
        Ok(record.all(WINDOWS).flat_map(windows).collect())
    }

    /// Whether an environment is available (`verificarestado`).
    pub(crate) async fn is_available(&self, environment: Environment) -> Result<bool, StatusError> {
        let number = match environment {
            Environment::TesteCF => "1",
            Environment::Ecf => "2",
            Environment::CerteCF => "3",
        };
        let body = self.ask("verificarestado", &[("ambiente", number)]).await?;
        let estado = body.as_record().and_then(|record| record.text("estado"));
        estado.and_then(available).ok_or(StatusError::Odd("states"))
    }

    async fn ask(&self, question: &str, query: &[(&str, &str)]) -> Result<Body, StatusError> {
        let mut address = self.taxauth.endpoints().status_base().clone();
        address
            .path_segments_mut()
            .expect("bases are http and https addresses, which have path segments")
            .pop_if_empty()
            .extend(["api", "estatusservicios", question]);
        let request = self.taxauth.http().get(address).query(query);
        let request = request
            .header(ACCEPT, "application/json")
            .header(AUTHORIZATION, format!("Apikey {}", self.key.0.as_str()));
        let reply = Reply::of(request)
            .await
            .map_err(|error| StatusError::NotReached(error.without_url()))?;
        match reply {
            Ok(reply) => Ok(reply.body()),
            Err(status @ (401 | 403 | 404 | 410)) => Err(StatusError::Withdrawn(status)),
            Err(status) => Err(StatusError::Status(status)),
        }
    }
}

const WINDOWS: &str = "ventanamantenimientos";

fn records(body: &Body) -> impl Iterator<Item = &Record> {
    let items = match body {
        Body::List(items) => items.as_slice(),
        _ => &[],
    };
    let single = match body {
        Body::Record(record) => Some(record),
        _ => None,
    };
    single.into_iter().chain(items.iter().filter_map(|item| match item {
        Value::Record(record) => Some(record),
        _ => None,
    }))
}

fn listed(record: &Record) -> Option<Listed> {
    let estatus = record.text("estatus")?;
    Some(Listed {
        environment: environment(record.text("ambiente")?)?,
        service: ServiceStatus {
            servicio: record.text("servicio")?.to_owned(),
            estatus: estatus.to_owned(),
            available: available(estatus)?,
        },
    })
}

fn available(words: &str) -> Option<bool> {
    match plain(words).as_str() {
        "disponible" => Some(true),
        "nodisponible" => Some(false),
        _ => None,
    }
}

fn environment(name: &str) -> Option<Environment> {
    match plain(name).as_str() {
        "precertificacion" | "testecf" => Some(Environment::TesteCF),
        "certificacion" | "certecf" => Some(Environment::CerteCF),
        "produccion" | "ecf" => Some(Environment::Ecf),
        _ => None,
    }
}

/// The windows of one entry, one for each day.
fn windows(value: &Value) -> Vec<(Environment, MaintenanceWindow)> {
    let Value::Record(record) = value else {
        return Vec::new();
    };
    let read = || {
        let environment = environment(record.text("ambiente")?)?;
        let hours = [record.text("horainicio")?, record.text("horafin")?].map(hour);
        Some((environment, hours[0]?, hours[1]?))
    };
    let Some((environment, start, end)) = read() else {
        tracing::warn!("a maintenance window of the authority cannot be read");
        return Vec::new();
    };
    let days = record.all("dias").flat_map(texts);
    days.filter_map(|day| window(day, start, end))
        .map(|window| (environment, window))
        .collect()
}

/// A text, or the texts inside a record, as XML nests them.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::Record(record) => record.values().filter_map(|(_, value)| value.as_text()).collect(),
        one => one.as_text().into_iter().collect(),
    }
}

/// The hours of a day in Santo Domingo, −04:00 all year. An end that is not after the start belongs to the next day.
fn window(day: &str, start: Time, end: Time) -> Option<MaintenanceWindow> {
    let mut parts = day.split('-').map(|part| part.trim().parse::<i16>().ok());
    let (Some(day), Some(month), Some(year), None) = (parts.next()?, parts.next()?, parts.next()?, parts.next()) else {
        return None;
    };
    let day = Date::new(year, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    let last = if end > start { day } else { day.tomorrow().ok()? };
    let offset = Offset::constant(-4);
    Some(MaintenanceWindow {
        start: offset.to_timestamp(day.to_datetime(start)).ok()?,
        end: offset.to_timestamp(last.to_datetime(end)).ok()?,
    })
}

/// `9:00 AM`, `09:00 a. m.`, `21:00` or `21:00:00`.
fn hour(text: &str) -> Option<Time> {
    let letters: String = plain(text).chars().filter(char::is_ascii_alphabetic).collect();
    let clock: String = text.chars().filter(|c| c.is_ascii_digit() || *c == ':').collect();
    let mut numbers = clock.split(':').map(|number| number.parse::<i8>().ok());
    let (hour, minute) = (numbers.next()??, numbers.next()??);
    let hour = match letters.as_str() {
        "" => hour,
        "am" if (1..=12).contains(&hour) => hour % 12,
        "pm" if (1..=12).contains(&hour) => hour % 12 + 12,
        _ => return None,
    };
    Time::new(hour, minute, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Vec<String> {
        let body = Body::read(body.as_bytes());
        let record = body.as_record().unwrap();
        let windows = record.all(WINDOWS).flat_map(windows);
        windows
            .map(|(environment, window)| format!("{environment} {} {}", window.start, window.end))
            .collect()
    }

    #[test]
    fn a_window_is_told_for_each_of_its_days_in_local_time() {
        let body = r#"{"ventanaMantenimientos":[
            {"ambiente":"PreCertificacion","horaInicio":"9:00 AM","horaFin":"12:00 PM","dias":["06-08-2020","07-08-2020"]},
            {"ambiente":"Produccion","horaInicio":"10:00 PM","horaFin":"2:30 AM","dias":["31-12-2026"]},
            {"ambiente":"Certificacion","horaInicio":"00:00","horaFin":"23:59:59","dias":["01-01-2027"]}]}"#;
        assert_eq!(
            read(body),
            [
                "TesteCF 2020-08-06T13:00:00Z 2020-08-06T16:00:00Z",
                "TesteCF 2020-08-07T13:00:00Z 2020-08-07T16:00:00Z",
                "ecf 2027-01-01T02:00:00Z 2027-01-01T06:30:00Z",
                "CerteCF 2027-01-01T04:00:00Z 2027-01-02T03:59:00Z",
            ]
        );
    }

    #[test]
    fn what_cannot_be_read_of_a_window_is_left_out() {
        for (part, bad) in [
            ("Produccion", "Marte"),
            ("9:00 AM", "13:00 PM"),
            ("9:00 AM", "soon"),
            ("06-08-2020", "32-08-2020"),
            ("06-08-2020", "2020/08/06"),
        ] {
            let body = r#"{"ventanaMantenimientos":[{"ambiente":"Produccion","horaInicio":"9:00 AM","horaFin":"12:00 PM","dias":["06-08-2020"]}]}"#;
            assert_eq!(read(body).len(), 1);
            assert_eq!(read(&body.replace(part, bad)), Vec::<String>::new(), "{bad}");
        }
        assert_eq!(read(r#"{"ventanaMantenimientos":[]}"#), Vec::<String>::new());
    }

    #[test]
    fn services_are_read_in_the_authoritys_words() {
        let body = Body::read(
            r#"[{"servicio":"Recepción FC","estatus":"No Disponible","ambiente":"Produccion"},
                {"Servicio":"Autenticación","Estatus":"DISPONIBLE","Ambiente":"Pre Certificación"},
                {"servicio":"Recepción","estatus":"Quizás","ambiente":"Produccion"}]"#
                .as_bytes(),
        );
        let listed: Vec<_> = records(&body).filter_map(listed).collect();
        let words: Vec<_> = listed
            .iter()
            .map(|one| (one.environment, one.service.servicio.as_str(), one.service.available))
            .collect();
        assert_eq!(
            words,
            [
                (Environment::Ecf, "Recepción FC", false),
                (Environment::TesteCF, "Autenticación", true),
            ]
        );
    }
}
