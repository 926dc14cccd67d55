//! Faults on order, waiting for the requests they are meant for.

use rusqlite::{OptionalExtension, params};

use super::{State, StateError};
use crate::fault::{FaultOrder, Target};

impl State {
    /// Adds an order; faults apply in the order they were given.
    pub(crate) fn add_fault(&self, order: &FaultOrder) -> Result<i64, StateError> {
        let connection = self.connection();
        connection.execute(
            "INSERT INTO faults (spec, remaining) VALUES (?1, ?2)",
            params![serde_json::to_string(order)?, order.times],
        )?;
        Ok(connection.last_insert_rowid())
    }

    /// The first order that fits, one time less to come.
    pub(crate) fn take_fault(&self, target: &Target<'_>) -> Result<Option<FaultOrder>, StateError> {
        let found = self.faults()?.into_iter().find(|(_, order, _)| order.is_for(target));
        let Some((id, order, _)) = found else { return Ok(None) };
        let connection = self.connection();
        // Two requests may have found the same order: only who still finds a time left has it.
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

    /// All orders with the times they have left.
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

    /// `(fault, service, number, times)` of all requests that met an order; no number: an empty one.
    pub(crate) fn struck(&self) -> Result<Vec<(String, String, String, u64)>, StateError> {
        let connection = self.connection();
        let mut query = connection.prepare("SELECT fault, service, encf, times FROM struck ORDER BY rowid")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Forgets all orders.
    pub(crate) fn clear_faults(&self) -> Result<(), StateError> {
        self.connection().execute("DELETE FROM faults", [])?;
        Ok(())
    }
}
