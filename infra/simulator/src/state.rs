//! The simulator's state: one SQLite database, in a file or in memory.
//!
//! A verdict is decided at reception and stored together with the instant from which it is visible. No background work
//! is needed, and a killed process loses nothing.

mod annulments;
mod documents;
mod exchange;
mod faults;
mod seeds;

use std::{
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

pub(crate) use self::documents::{Kind, NewDocument, Record};
pub(crate) use self::exchange::Exchanged;
use crate::settings::Settings;

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS settings (id INTEGER PRIMARY KEY CHECK (id = 1), value TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS seeds (
        valor TEXT PRIMARY KEY, environment TEXT NOT NULL, issued_at INTEGER NOT NULL, used INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE IF NOT EXISTS documents (
        id INTEGER PRIMARY KEY,
        environment TEXT NOT NULL,
        kind TEXT NOT NULL,
        track_id TEXT UNIQUE,
        rnc TEXT NOT NULL,
        encf TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        received_at INTEGER NOT NULL,
        visible_at INTEGER NOT NULL,
        codigo INTEGER NOT NULL,
        secuencia_utilizada INTEGER NOT NULL,
        mensajes TEXT NOT NULL,
        facts TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS documents_by_number ON documents (environment, rnc, encf);
    CREATE TABLE IF NOT EXISTS annulments (
        id INTEGER PRIMARY KEY,
        environment TEXT NOT NULL, rnc TEXT NOT NULL, tipo INTEGER NOT NULL,
        desde INTEGER NOT NULL, hasta INTEGER NOT NULL
    );
    CREATE TABLE IF NOT EXISTS exchanged (
        id INTEGER PRIMARY KEY,
        sentido TEXT NOT NULL, tipo TEXT NOT NULL, rnc_emisor TEXT NOT NULL, rnc_comprador TEXT NOT NULL,
        encf TEXT NOT NULL, estado TEXT NOT NULL, mensajes TEXT NOT NULL, xml TEXT NOT NULL
    );
    CREATE TABLE IF NOT EXISTS faults (id INTEGER PRIMARY KEY, spec TEXT NOT NULL, remaining INTEGER);
    CREATE TABLE IF NOT EXISTS struck (fault TEXT NOT NULL, service TEXT NOT NULL, encf TEXT NOT NULL, times INTEGER NOT NULL,
        PRIMARY KEY (fault, service, encf));
    CREATE TABLE IF NOT EXISTS requests (service TEXT NOT NULL, status INTEGER NOT NULL, times INTEGER NOT NULL,
        PRIMARY KEY (service, status));
";

/// The database and the settings it holds.
#[derive(Debug)]
pub(crate) struct State {
    connection: Mutex<Connection>,
    settings: Mutex<Settings>,
}

/// SQLite returned an error.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StateError {
    #[error("the simulator's database failed")]
    Database(#[from] rusqlite::Error),
    #[error("the simulator's database holds a row that cannot be read")]
    Row(#[from] serde_json::Error),
}

impl State {
    /// Opens the database in a folder, or a new one in memory.
    pub(crate) fn open(folder: Option<&Path>) -> Result<Self, StateError> {
        let connection = match folder {
            Some(folder) => Connection::open(folder.join("simulator.sqlite"))?,
            None => Connection::open_in_memory()?,
        };
        connection.execute_batch(SCHEMA)?;
        let stored: Option<String> = connection
            .query_row("SELECT value FROM settings WHERE id = 1", [], |row| row.get(0))
            .optional()?;
        let settings = match stored {
            Some(stored) => serde_json::from_str(&stored)?,
            None => Settings {
                token_key: random_id() + &random_id(),
                ..Settings::default()
            },
        };
        let state = Self {
            connection: Mutex::new(connection),
            settings: Mutex::new(settings),
        };
        // Stores the token key of a new database.
        state.change_settings(|_| ())?;
        Ok(state)
    }

    /// The settings as they are now.
    pub(crate) fn settings(&self) -> Settings {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the settings and stores them; one change at a time.
    pub(crate) fn change_settings(&self, change: impl FnOnce(&mut Settings)) -> Result<Settings, StateError> {
        let mut settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = settings.clone();
        change(&mut changed);
        let value = serde_json::to_string(&changed)?;
        self.connection().execute(
            "INSERT OR REPLACE INTO settings (id, value) VALUES (1, ?1)",
            params![value],
        )?;
        *settings = changed.clone();
        Ok(changed)
    }

    /// Counts a response.
    pub(crate) fn count_request(&self, service: &str, status: u16) -> Result<(), StateError> {
        self.connection().execute(
            "INSERT INTO requests (service, status, times) VALUES (?1, ?2, 1)
             ON CONFLICT (service, status) DO UPDATE SET times = times + 1",
            params![service, status],
        )?;
        Ok(())
    }

    /// `(service, status, times)` of all responses so far.
    pub(crate) fn request_counts(&self) -> Result<Vec<(String, u16, u64)>, StateError> {
        let connection = self.connection();
        let mut query = connection.prepare("SELECT service, status, times FROM requests ORDER BY service, status")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A statement is atomic, so a panic between two statements leaves no half-written row.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A random, unpredictable id for track ids, seeds and the token key.
pub(crate) fn random_id() -> String {
    Uuid::new_v4().to_string()
}
