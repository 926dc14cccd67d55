//! Documents that the other taxpayer sent and received.

use rusqlite::params;
use serde::Serialize;

use super::{State, StateError};

/// A document between the other taxpayer and the system under test.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Exchanged {
    /// `enviado` or `recibido`.
    pub(crate) sentido: String,
    /// `ECF` or `ACECF`.
    pub(crate) tipo: String,
    #[serde(rename = "rncEmisor")]
    pub(crate) rnc_emisor: String,
    #[serde(rename = "rncComprador")]
    pub(crate) rnc_comprador: String,
    pub(crate) encf: String,
    /// For a sent document, the verdict on its answer; for a received one, the answer itself.
    pub(crate) estado: String,
    pub(crate) mensajes: Vec<String>,
    pub(crate) xml: String,
}

impl State {
    /// Stores a document.
    pub(crate) fn add_exchanged(&self, new: &Exchanged) -> Result<(), StateError> {
        self.connection().execute(
            "INSERT INTO exchanged (sentido, tipo, rnc_emisor, rnc_comprador, encf, estado, mensajes, xml)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                new.sentido,
                new.tipo,
                new.rnc_emisor,
                new.rnc_comprador,
                new.encf,
                new.estado,
                serde_json::to_string(&new.mensajes)?,
                new.xml
            ],
        )?;
        Ok(())
    }

    /// All documents, oldest first.
    pub(crate) fn exchanged(&self) -> Result<Vec<Exchanged>, StateError> {
        let connection = self.connection();
        let mut query = connection.prepare(
            "SELECT sentido, tipo, rnc_emisor, rnc_comprador, encf, estado, mensajes, xml FROM exchanged ORDER BY id",
        )?;
        let rows = query.query_map([], |row| {
            let mensajes: String = row.get(6)?;
            let exchanged = Exchanged {
                sentido: row.get(0)?,
                tipo: row.get(1)?,
                rnc_emisor: row.get(2)?,
                rnc_comprador: row.get(3)?,
                encf: row.get(4)?,
                estado: row.get(5)?,
                mensajes: Vec::new(),
                xml: row.get(7)?,
            };
            Ok((exchanged, mensajes))
        })?;
        let mut all = Vec::new();
        for row in rows {
            let (exchanged, mensajes) = row?;
            all.push(Exchanged {
                mensajes: serde_json::from_str(&mensajes)?,
                ..exchanged
            });
        }
        Ok(all)
    }
}
