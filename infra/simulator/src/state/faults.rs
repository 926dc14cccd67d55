//! Faults that await a matching request.

use rusqlite::{OptionalExtension, params};

use super::{State, StateError};
use crate::fault::{FaultOrder, Target};

impl State {
    /// Adds a fault; faults apply in the order of their addition.
    pub(crate) fn add_fault(&self, order: &FaultOrder) -> Result<i64, StateError> {
        let connection = self.connection();
        connection.execute(
            "INSERT INTO faults (spec, remaining) VALUES (?1, ?2)",
            params![serde_json::to_string(order)?, order.times],
        )?;
        Ok(connection.last_insert_rowid())
    }

    /// Returns the first fault that matches and counts down its remaining requests.
    pub(crate) fn take_fault(&self, target: &Target<'_>) -> Result<Option<FaultOrder>, StateError> {
        let found = self.faults()?.into_iter().find(|(_, order, _)| order.is_for(target));
        let Some((id, order, _)) = found else { return Ok(None) };
        let connection = self.connection();
        // Two requests may have found the same fault: the conditional update lets only one of them take its last use.
        let left = "remaining IS NULL OR remaining > 0";
        let taken: Option<i64> = connection
            .query_row(
                &format!("UPDATE faults SET remaining = remaining - 1 WHERE id = ?1 AND ({left}) RETURNING id"),
                params![id],
                |row| row.get(0),
            )
            .optional()?;
        connection.execute("DELETE FROM faults WHERE remaining = 0", [])?;
        if taken.is_none() {
            return Ok(None);
        }
        connection.execute(
            "INSERT INTO struck (fault, service, encf, times) VALUES (?1, ?2, ?3, 1)
             ON CONFLICT (fault, service, encf) DO UPDATE SET times = times + 1",
            params![order.name(), target.service.segment(), target.encf.unwrap_or_default()],
        )?;
        Ok(Some(order))
    }

    /// All faults with their remaining uses.
    pub(crate) fn faults(&self) -> Result<Vec<(i64, FaultOrder, Option<u32>)>, StateError> {
        let connection = self.connection();
        let mut query = connection.prepare("SELECT id, spec, remaining FROM faults ORDER BY id")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?, row.get(2)?)))?;
        rows.map(|row| {
            let (id, spec, remaining) = row?;
            Ok((id, serde_json::from_str(&spec)?, remaining))
        })
        .collect()
    }

    /// `(fault, service, number, times)` of all requests that met a fault. A request without a number has an empty one.
    pub(crate) fn struck(&self) -> Result<Vec<(String, String, String, u64)>, StateError> {
        let connection = self.connection();
        let mut query = connection.prepare("SELECT fault, service, encf, times FROM struck ORDER BY rowid")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Deletes all faults.
    pub(crate) fn clear_faults(&self) -> Result<(), StateError> {
        self.connection().execute("DELETE FROM faults", [])?;
        Ok(())
    }
}
