//! Fault injection for AWS calls: rejected, throttled, executed without a response, or delayed, as it happens between a
//! function and AWS. Each injected fault is logged, so that a test can assert it.
//!
//! The SDK retries a call under the same invocation id. Some faults affect only the first request of a call, so that
//! the retry finds the work already done. Others affect every request, so that the caller never learns the result.

mod refusal;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderMap, Request, Response};
use hyper::body::Incoming;
use s3s::Body;

use self::refusal::Call;

/// The share of calls that meet a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultRate {
    /// Percentage of calls.
    pub percent: u8,
    /// Seed of the sequence: with the same seed, the n-th call meets the same fault in every run.
    pub seed: u64,
}

/// Upper bound of calls whose retries are still recognised; it exceeds the open calls of any SDK client.
const REMEMBERED: usize = 512;

/// The connection closes without a response.
#[derive(Debug, thiserror::Error)]
#[error("a fault was ordered: this call gets no answer")]
pub(crate) struct Lost;

/// The fault that one request meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// The request is not executed, and the connection closes without a response.
    NotSent,
    /// The request is executed, and the connection closes without a response.
    AnswerLost,
    LateBefore(Duration),
    LateAfter(Duration),
    /// The request is not executed: the service throttles it.
    Throttled,
    /// The request is not executed: a transaction holds the item. An operation that writes no item is throttled
    /// instead.
    Conflict,
    /// The request is not executed, and the response is 500.
    Failed,
    /// The request is executed, and the response is 500.
    FailedAfter,
}

impl Fault {
    /// The fault's name in the log.
    fn name(self) -> &'static str {
        match self {
            Fault::None => "none",
            Fault::NotSent => "not_sent",
            Fault::AnswerLost => "answer_lost",
            Fault::LateBefore(_) => "late_before",
            Fault::LateAfter(_) => "late_after",
            Fault::Throttled => "throttled",
            Fault::Conflict => "conflict",
            Fault::Failed => "failed",
            Fault::FailedAfter => "failed_after",
        }
    }

    /// Applies this fault to a request; `serve` executes the request.
    pub(crate) async fn meet<F>(
        self,
        request: Request<Incoming>,
        serve: impl FnOnce(Request<Incoming>) -> F,
    ) -> Result<Response<Body>, Lost>
    where
        F: Future<Output = Response<Body>>,
    {
        if self == Fault::None {
            return Ok(serve(request).await);
        }
        let call = Call::of(request.method(), request.headers());
        tracing::info!(fault = self.name(), service = call.service, operation = %call.operation, "an ordered fault struck");
        match self {
            Fault::NotSent => Err(Lost),
            Fault::AnswerLost => {
                serve(request).await;
                Err(Lost)
            }
            Fault::LateBefore(by) => {
                tokio::time::sleep(by).await;
                Ok(serve(request).await)
            }
            Fault::LateAfter(by) => {
                let answer = serve(request).await;
                tokio::time::sleep(by).await;
                Ok(answer)
            }
            Fault::Throttled => Ok(call.throttled()),
            Fault::Conflict => Ok(call.conflict(request).await),
            Fault::Failed => Ok(call.failed()),
            Fault::FailedAfter => {
                serve(request).await;
                Ok(call.failed())
            }
            Fault::None => Ok(serve(request).await),
        }
    }
}

/// The configured faults; clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults(Arc<Mutex<Option<Row>>>);

impl Faults {
    pub(crate) fn set(&self, rate: Option<FaultRate>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = rate.map(Row::new);
    }

    /// The fault for the request with these headers.
    pub(crate) fn next(&self, headers: &HeaderMap) -> Fault {
        let mut row = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(row) = row.as_mut() else {
            return Fault::None;
        };
        let invocation = headers.get("amz-sdk-invocation-id").map(|id| id.as_bytes().to_vec());
        row.next(invocation)
    }
}

/// The sequence of faults.
#[derive(Debug)]
struct Row {
    percent: u64,
    state: u64,
    /// The fault for the retries of each recent call.
    met: VecDeque<(Vec<u8>, Fault)>,
}

impl Row {
    fn new(rate: FaultRate) -> Row {
        Row {
            percent: rate.percent.into(),
            state: rate.seed,
            met: VecDeque::new(),
        }
    }

    fn next(&mut self, invocation: Option<Vec<u8>>) -> Fault {
        if let Some((_, fault)) = self.met.iter().find(|(id, _)| Some(id) == invocation.as_ref()) {
            return *fault;
        }
        let (first, later) = self.decide();
        if let Some(id) = invocation {
            if self.met.len() == REMEMBERED {
                self.met.pop_front();
            }
            self.met.push_back((id, later));
        }
        first
    }

    /// The fault for the first request of a call, and the fault for its retries.
    fn decide(&mut self) -> (Fault, Fault) {
        if self.random() % 100 >= self.percent {
            return (Fault::None, Fault::None);
        }
        let late = Duration::from_millis(100 + self.random() % 1_400);
        match self.random() % 12 {
            0 => (Fault::NotSent, Fault::None),
            1 => (Fault::NotSent, Fault::NotSent),
            2 => (Fault::AnswerLost, Fault::None),
            3 => (Fault::AnswerLost, Fault::AnswerLost),
            4 => (Fault::LateBefore(late), Fault::None),
            5 => (Fault::LateAfter(late), Fault::None),
            6 => (Fault::Throttled, Fault::None),
            7 => (Fault::Throttled, Fault::Throttled),
            8 => (Fault::Conflict, Fault::None),
            9 => (Fault::Conflict, Fault::Conflict),
            10 => (Fault::Failed, Fault::Failed),
            _ => (Fault::FailedAfter, Fault::None),
        }
    }

    /// SplitMix64: the sequence depends on the seed alone.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(percent: u8, seed: u64) -> Row {
        Row::new(FaultRate { percent, seed })
    }

    #[test]
    fn the_same_seed_gives_the_same_faults_at_about_the_rate_asked_for() {
        let decisions = |seed| -> Vec<_> {
            let mut row = row(5, seed);
            (0..10_000).map(|_| row.next(None)).collect()
        };
        assert_eq!(decisions(7), decisions(7));
        assert_ne!(decisions(7), decisions(8));
        let faults = decisions(7).iter().filter(|fault| **fault != Fault::None).count();
        assert!((400..600).contains(&faults), "{faults}");
    }

    #[test]
    fn later_requests_of_a_call_meet_what_its_first_one_left_for_them() {
        let mut row = row(100, 1);
        let mut kinds = Vec::new();
        for call in 0..100_u8 {
            let id = Some(vec![call]);
            let (first, second) = (row.next(id.clone()), row.next(id.clone()));
            assert_ne!(first, Fault::None);
            assert_eq!(second, row.next(id));
            kinds.push((first, second));
        }
        for kind in [
            (Fault::NotSent, Fault::None),
            (Fault::NotSent, Fault::NotSent),
            (Fault::AnswerLost, Fault::None),
            (Fault::AnswerLost, Fault::AnswerLost),
            (Fault::Throttled, Fault::Throttled),
            (Fault::Conflict, Fault::None),
            (Fault::Failed, Fault::Failed),
            (Fault::FailedAfter, Fault::None),
        ] {
            assert!(kinds.contains(&kind), "{kind:?}");
        }
    }
}
