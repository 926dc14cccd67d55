//! Counts and times the invocations of each function, as Lambda bills them.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What the invocations of one function took. A streamed response is not counted: it outlives its invocation here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Invocations {
    pub count: u64,
    /// Messages of queues; the invocations by requests and timers have none.
    pub messages: u64,
    /// Time from the start to the end of each invocation.
    pub wall: Duration,
    /// The part of `wall` in which the function's own code ran. The rest is waiting for a call.
    pub busy: Duration,
}

/// The counts of all functions; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter(Arc<Mutex<BTreeMap<String, Invocations>>>);

impl Meter {
    pub(crate) fn of(&self, function: &str) -> OfFunction {
        OfFunction {
            meter: self.clone(),
            function: function.to_owned(),
        }
    }

    pub(crate) fn so_far(&self) -> BTreeMap<String, Invocations> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Invocations>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The counts of one function.
#[derive(Debug, Clone)]
pub(crate) struct OfFunction {
    meter: Meter,
    function: String,
}

impl OfFunction {
    pub(crate) fn function(&self) -> &str {
        &self.function
    }

    /// Runs one invocation. One that its time limit ends is counted as well.
    pub(crate) async fn measure<T>(&self, messages: usize, invocation: impl Future<Output = T>) -> T {
        let mut invocation = pin!(invocation);
        let mut open = Open {
            of: self,
            messages,
            began: Instant::now(),
            busy: Duration::ZERO,
        };
        poll_fn(|context| {
            let began = Instant::now();
            let polled = invocation.as_mut().poll(context);
            open.busy += began.elapsed();
            polled
        })
        .await
    }
}

/// An invocation that has not ended. Dropping it records it.
struct Open<'m> {
    of: &'m OfFunction,
    messages: usize,
    began: Instant,
    busy: Duration,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let mut counts = self.of.meter.lock();
        let counts = counts.entry(self.of.function.clone()).or_default();
        counts.count += 1;
        counts.messages += u64::try_from(self.messages).unwrap_or(u64::MAX);
        counts.wall += self.began.elapsed();
        counts.busy += self.busy;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waiting_is_wall_time_and_an_ended_invocation_counts() {
        let meter = Meter::default();
        let worker = meter.of("worker");
        let long = Duration::from_millis(30);
        worker.measure(3, tokio::time::sleep(long)).await;
        worker.measure(1, async { std::thread::sleep(long) }).await;
        let ended = tokio::time::timeout(long, worker.measure(2, std::future::pending::<()>())).await;
        assert!(ended.is_err());
        let counted = meter.so_far()["worker"];
        assert_eq!((counted.count, counted.messages), (3, 6));
        assert!(
            counted.busy >= long && counted.wall >= counted.busy + 2 * long,
            "{counted:?}"
        );
    }
}
