//! SQLite for the services: one connection behind a lock, one transaction per request.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::StartError;

/// How long a request waits while a just dropped `Embedded` finishes its last write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The database of one service.
pub(crate) struct Db(Mutex<Connection>);

/// A service's tables.
pub(crate) struct Schema {
    pub(crate) service: &'static str,
    /// Raised by every change of `sql`. A database with another number is rejected instead of misread.
    pub(crate) layout: i64,
    pub(crate) sql: &'static str,
}

impl Db {
    /// Opens the file, or a database in memory, and creates missing tables.
    pub(crate) fn open(path: Option<&Path>, schema: &Schema) -> Result<Db, StartError> {
        let failed = |source| StartError::Database {
            service: schema.service,
            source,
        };
        let connection = match path {
            Some(path) => Connection::open(path),
            None => Connection::open_in_memory(),
        }
        .map_err(failed)?;
        let found = prepare(&connection, schema).map_err(failed)?;
        if found != schema.layout {
            return Err(StartError::Layout {
                service: schema.service,
                found,
                expected: schema.layout,
            });
        }
        Ok(Db(Mutex::new(connection)))
    }

    /// Runs `work` in a transaction: commits on success, rolls back on failure.
    ///
    /// Blocks the calling thread, so it is only for this crate's own runtime, which moves its other tasks to a fresh
    /// thread.
    pub(crate) fn write<T, E: From<rusqlite::Error>>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        blocking(|| self.write_at_start(work))
    }

    /// Like [`Db::write`], for the start: the caller's thread may belong to any runtime or to none.
    pub(crate) fn write_at_start<T, E: From<rusqlite::Error>>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        // A panic rolls its transaction back, so the connection behind a poisoned lock is consistent.
        let mut connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = work(&transaction)?;
        transaction.commit()?;
        Ok(value)
    }

    /// Runs the read-only `work` on one consistent state.
    pub(crate) fn read<T, E: From<rusqlite::Error>>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        blocking(|| {
            let mut connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let transaction = connection.transaction()?;
            work(&transaction)
        })
    }
}

/// Runs work that blocks briefly, without delaying the other tasks of this worker thread.
pub(crate) fn blocking<T>(work: impl FnOnce() -> T) -> T {
    let on_worker = tokio::runtime::Handle::try_current()
        .is_ok_and(|handle| handle.runtime_flavor() == tokio::runtime::RuntimeFlavor::MultiThread);
    if on_worker {
        tokio::task::block_in_place(work)
    } else {
        work()
    }
}

/// Configures the connection and returns the layout number of its tables.
fn prepare(connection: &Connection, schema: &Schema) -> rusqlite::Result<i64> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // With NORMAL a killed process loses nothing; only a power cut could lose the last commits.
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.set_prepared_statement_cache_capacity(64);
    let layout = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if layout != 0 {
        return Ok(layout);
    }
    connection.execute_batch(&format!(
        "BEGIN; {} PRAGMA user_version = {}; COMMIT;",
        schema.sql, schema.layout
    ))?;
    Ok(schema.layout)
}
