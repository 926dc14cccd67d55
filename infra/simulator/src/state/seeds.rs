//! Seeds: each is valid for five minutes and for one token.

use jiff::Timestamp;
use rusqlite::params;

use super::{State, StateError};
use crate::environment::Environment;

/// Lifetime of a seed.
const LIFETIME_MS: i64 = 5 * 60 * 1000;

impl State {
    /// Stores an issued seed.
    pub(crate) fn add_seed(&self, environment: Environment, valor: &str, now: Timestamp) -> Result<(), StateError> {
        let connection = self.connection();
        connection.execute(
            "DELETE FROM seeds WHERE issued_at < ?1",
            params![now.as_millisecond() - 2 * LIFETIME_MS],
        )?;
        connection.execute(
            "INSERT INTO seeds (valor, environment, issued_at) VALUES (?1, ?2, ?3)",
            params![valor, environment.segment(), now.as_millisecond()],
        )?;
        Ok(())
    }

    /// Uses a seed; false when it is unknown, expired or used before.
    pub(crate) fn use_seed(&self, environment: Environment, valor: &str, now: Timestamp) -> Result<bool, StateError> {
        let changed = self.connection().execute(
            "UPDATE seeds SET used = 1 WHERE valor = ?1 AND environment = ?2 AND used = 0 AND issued_at >= ?3",
            params![valor, environment.segment(), now.as_millisecond() - LIFETIME_MS],
        )?;
        Ok(changed == 1)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn a_seed_works_once_in_its_environment_for_five_minutes() {
        let state = State::open(None).unwrap();
        let now: Timestamp = "2027-01-15T12:00:00Z".parse().unwrap();
        for valor in ["a", "b"] {
            state.add_seed(Environment::Testecf, valor, now).unwrap();
        }
        assert!(!state.use_seed(Environment::Ecf, "a", now).unwrap());
        assert!(state.use_seed(Environment::Testecf, "a", now).unwrap());
        assert!(!state.use_seed(Environment::Testecf, "a", now).unwrap());
        assert!(!state.use_seed(Environment::Testecf, "c", now).unwrap());
        let later = Timestamp::from_millisecond(now.as_millisecond() + LIFETIME_MS + 1).unwrap();
        assert!(!state.use_seed(Environment::Testecf, "b", later).unwrap());
    }
}
