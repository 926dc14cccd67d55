//! Received documents and their verdicts.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, named_params, params};

use super::{State, StateError, random_id};
use crate::{
    environment::Environment,
    facts::Facts,
    verdict::{Codigo, Verdict},
};

/// Kind of a received document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ecf,
    Rfce,
    Acecf,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ecf => "ECF",
            Self::Rfce => "RFCE",
            Self::Acecf => "ACECF",
        }
    }
}

/// A document to store.
#[derive(Debug)]
pub(crate) struct NewDocument<'a> {
    pub(crate) environment: Environment,
    pub(crate) kind: Kind,
    pub(crate) sha256: &'a str,
    pub(crate) received_at: Timestamp,
    pub(crate) visible_at: Timestamp,
    pub(crate) verdict: &'a Verdict,
    pub(crate) facts: &'a Facts,
}

/// A stored document.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) environment: String,
    pub(crate) kind: String,
    pub(crate) track_id: Option<String>,
    pub(crate) sha256: String,
    pub(crate) received_at: Timestamp,
    pub(crate) visible_at: Timestamp,
    pub(crate) verdict: Verdict,
    pub(crate) facts: Facts,
}

impl Record {
    /// The state that a query may report at `now`.
    pub(crate) fn codigo_at(&self, now: Timestamp) -> Codigo {
        if now < self.visible_at {
            Codigo::EnProceso
        } else {
            self.verdict.codigo
        }
    }
}

const COLUMNS: &str = "environment, kind, track_id, sha256, received_at, visible_at, codigo, secuencia_utilizada, \
                       mensajes, facts";

impl State {
    /// Stores a document; full receipts get a track id.
    pub(crate) fn add_document(&self, new: &NewDocument<'_>) -> Result<String, StateError> {
        let track_id = random_id();
        self.connection().execute(
            "INSERT INTO documents (environment, kind, track_id, rnc, encf, sha256, received_at, visible_at, codigo,
                 secuencia_utilizada, mensajes, facts)
             VALUES (:environment, :kind, :track_id, :rnc, :encf, :sha256, :received_at, :visible_at, :codigo,
                 :secuencia_utilizada, :mensajes, :facts)",
            named_params! {
                ":environment": new.environment.segment(),
                ":kind": new.kind.name(),
                ":track_id": (new.kind == Kind::Ecf).then_some(&track_id),
                ":rnc": new.facts.rnc_emisor,
                ":encf": new.facts.encf,
                ":sha256": new.sha256,
                ":received_at": new.received_at.as_millisecond(),
                ":visible_at": new.visible_at.as_millisecond(),
                ":codigo": new.verdict.codigo.number(),
                ":secuencia_utilizada": new.verdict.secuencia_utilizada,
                ":mensajes": serde_json::to_string(&new.verdict.mensajes)?,
                ":facts": serde_json::to_string(new.facts)?,
            },
        )?;
        Ok(track_id)
    }

    /// The document of a track id.
    pub(crate) fn document_by_track_id(
        &self,
        environment: Environment,
        track_id: &str,
    ) -> Result<Option<Record>, StateError> {
        let connection = self.connection();
        let sql = format!("SELECT {COLUMNS} FROM documents WHERE environment = ?1 AND track_id = lower(?2)");
        let row = connection
            .query_row(&sql, params![environment.segment(), track_id], read)
            .optional()?;
        row.transpose()
    }

    /// All receipts and summaries of a number, oldest first.
    pub(crate) fn documents_by_number(
        &self,
        environment: Environment,
        rnc: &str,
        encf: &str,
    ) -> Result<Vec<Record>, StateError> {
        self.documents(
            "WHERE environment = ?1 AND rnc = ?2 AND encf = upper(?3) AND kind IN ('ECF', 'RFCE')",
            params![environment.segment(), rnc, encf],
        )
    }

    /// Accepted notes on a receipt, oldest first.
    pub(crate) fn notes_on(&self, environment: Environment, rnc: &str, encf: &str) -> Result<Vec<Record>, StateError> {
        self.documents(
            "WHERE environment = ?1 AND rnc = ?2 AND kind = 'ECF' AND codigo IN (1, 4)
                 AND substr(encf, 2, 2) IN ('33', '34') AND json_extract(facts, '$.ncf_modificado') = upper(?3)",
            params![environment.segment(), rnc, encf],
        )
    }

    /// All documents of an environment, or of all environments, oldest first.
    pub(crate) fn all_documents(&self, environment: Option<Environment>) -> Result<Vec<Record>, StateError> {
        self.documents(
            "WHERE ?1 IS NULL OR environment = ?1",
            params![environment.map(Environment::segment)],
        )
    }

    /// Whether a document with a number of the range was accepted, or rejected with the number burned.
    pub(crate) fn is_used(
        &self,
        environment: Environment,
        rnc: &str,
        first: &str,
        last: &str,
    ) -> Result<bool, StateError> {
        Ok(self.connection().query_row(
            "SELECT EXISTS (SELECT 1 FROM documents
             WHERE environment = ?1 AND rnc = ?2 AND encf BETWEEN ?3 AND ?4 AND kind IN ('ECF', 'RFCE')
                 AND secuencia_utilizada = 1)",
            params![environment.segment(), rnc, first, last],
            |row| row.get(0),
        )?)
    }

    /// Forgets the receipts, summaries and approvals of a taxpayer in an environment.
    pub(crate) fn forget(&self, environment: Environment, rnc: &str) -> Result<(), StateError> {
        self.connection().execute(
            "DELETE FROM documents
             WHERE environment = ?1 AND (rnc = ?2 OR json_extract(facts, '$.rnc_comprador') = ?2)",
            params![environment.segment(), rnc],
        )?;
        Ok(())
    }

    fn documents(&self, filter: &str, parameters: impl rusqlite::Params) -> Result<Vec<Record>, StateError> {
        let connection = self.connection();
        let mut query = connection.prepare(&format!("SELECT {COLUMNS} FROM documents {filter} ORDER BY id"))?;
        let rows = query.query_map(parameters, read)?;
        rows.map(|row| row?).collect()
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Result<Record, StateError>> {
    let instant = |column| {
        let milliseconds: i64 = row.get(column)?;
        Timestamp::from_millisecond(milliseconds)
            .map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, milliseconds))
    };
    let (mensajes, facts): (String, String) = (row.get(8)?, row.get(9)?);
    let (received_at, visible_at) = (instant(4)?, instant(5)?);
    let (environment, kind, track_id, sha256) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
    let (codigo, secuencia_utilizada) = (Codigo::from_number(row.get(6)?), row.get(7)?);
    Ok((|| {
        let verdict = Verdict {
            codigo,
            secuencia_utilizada,
            mensajes: serde_json::from_str(&mensajes)?,
        };
        let facts = serde_json::from_str(&facts)?;
        Ok(Record {
            environment,
            kind,
            track_id,
            sha256,
            received_at,
            visible_at,
            verdict,
            facts,
        })
    })())
}
