//! Annulled ranges of numbers.

use rusqlite::params;

use super::{State, StateError};
use crate::environment::Environment;

impl State {
    /// Stores a range; its numbers can never be used.
    pub(crate) fn add_annulment(
        &self,
        environment: Environment,
        rnc: &str,
        tipo: u8,
        desde: u64,
        hasta: u64,
    ) -> Result<(), StateError> {
        self.connection().execute(
            "INSERT INTO annulments (environment, rnc, tipo, desde, hasta) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![environment.segment(), rnc, tipo, desde, hasta],
        )?;
        Ok(())
    }

    /// Whether any number of the range is annulled.
    pub(crate) fn is_annulled(
        &self,
        environment: Environment,
        rnc: &str,
        tipo: u8,
        desde: u64,
        hasta: u64,
    ) -> Result<bool, StateError> {
        Ok(self.connection().query_row(
            "SELECT EXISTS (SELECT 1 FROM annulments
             WHERE environment = ?1 AND rnc = ?2 AND tipo = ?3 AND desde <= ?5 AND hasta >= ?4)",
            params![environment.segment(), rnc, tipo, desde, hasta],
            |row| row.get(0),
        )?)
    }
}
