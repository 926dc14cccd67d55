//! Wakes the long polls of a queue when something may have arrived in it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct Arrivals(Mutex<HashMap<String, Arc<Notify>>>);

impl Arrivals {
    pub(crate) fn of(&self, queue: &str) -> Arc<Notify> {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(queues.entry(queue.to_owned()).or_default())
    }

    pub(crate) fn announce(&self, queue: &str) {
        self.of(queue).notify_waiters();
    }
}
