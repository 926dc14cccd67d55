//! Observes every SDK call: counts it, reads its DynamoDB cost, and injects faults that a test requests.
//!
//! Units are DynamoDB's own figures: each request asks for the consumed capacity, index writes included. DynamoDB does
//! not report the cost of a rejected conditional write; it is counted as one unit, and two for each part of a
//! transaction.

mod capacity;
mod conflict;
mod messages;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use aws_smithy_runtime_api::{
    box_error::BoxError,
    client::{
        interceptors::{
            Intercept,
            context::{
                BeforeDeserializationInterceptorContextMut, BeforeSerializationInterceptorContextMut,
                BeforeTransmitInterceptorContextMut, BeforeTransmitInterceptorContextRef,
                FinalizerInterceptorContextRef,
            },
        },
        orchestrator::Metadata,
        runtime_components::RuntimeComponents,
    },
};
use aws_smithy_types::config_bag::{ConfigBag, Storable, StoreReplace};

use self::messages::{Effect, Messages};

/// One call of the code under test.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// `DynamoDB`, `S3`, `SQS` or `Secrets Manager`.
    pub service: String,
    /// The operation, for example `UpdateItem`.
    pub operation: String,
    /// The number of requests; more than one when the SDK retried.
    pub requests: u32,
    /// Whether the service answered with success.
    pub succeeded: bool,
    /// Its cost in DynamoDB units.
    pub units: Units,
}

/// Units of DynamoDB's on-demand price. An eventually consistent read costs half a unit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Units {
    pub write: f64,
    pub read: f64,
}

impl std::iter::Sum for Units {
    fn sum<I: Iterator<Item = Self>>(units: I) -> Self {
        units.fold(Self::default(), |sum, next| Self {
            write: sum.write + next.write,
            read: sum.read + next.read,
        })
    }
}

/// A fault of a call. The SDK does not retry such a call: the code under test gets the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The request is not sent.
    NotSent,
    /// The service executes the request and the response is lost.
    AnswerLost,
    /// The function dies before the request is sent.
    DiesBefore,
    /// The service executes the request and the function dies before it gets the response.
    DiesAfter,
    /// DynamoDB rejects a write because another transaction holds the item. The code under test retries it.
    Conflict,
}

impl Fault {
    /// The faults that apply to every operation.
    pub const ALL: [Self; 4] = [Self::NotSent, Self::AnswerLost, Self::DiesBefore, Self::DiesAfter];
}

/// All calls to AWS; clones share them.
#[derive(Debug, Clone, Default)]
pub struct AwsCalls(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    calls: Vec<Call>,
    /// Operation, number of its calls until the fault applies, and the fault.
    faults: Vec<(String, u32, Fault)>,
    delays: Vec<Duration>,
    messages: Messages,
}

/// The fault of a call, stored in the call's configuration.
#[derive(Debug)]
struct Meets(Fault);

impl Storable for Meets {
    type Storer = StoreReplace<Self>;
}

/// The error body of a call with a conflict, stored in the call's configuration.
#[derive(Debug)]
struct Refusal(String);

impl Storable for Refusal {
    type Storer = StoreReplace<Self>;
}

/// Data of a call that is saved when it begins, because its input is not available when it ends.
#[derive(Debug)]
struct Begun {
    /// Its index in the list of calls.
    place: usize,
    /// Its cost if it is rejected.
    when_refused: Units,
    on_messages: Option<Effect>,
}

impl Storable for Begun {
    type Storer = StoreReplace<Self>;
}

#[derive(Debug)]
struct Injected(Fault);

impl std::fmt::Display for Injected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            Fault::NotSent | Fault::DiesBefore => "the test let the request get lost",
            Fault::AnswerLost | Fault::DiesAfter => "the test let the answer get lost",
            Fault::Conflict => "the test let another transaction hold the item",
        })
    }
}

impl std::error::Error for Injected {}

impl AwsCalls {
    /// All calls since the start or the last [`AwsCalls::reset`], in the order of their begin.
    pub fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    /// The number of calls of an operation.
    pub fn count(&self, operation: &str) -> usize {
        self.state()
            .calls
            .iter()
            .filter(|call| call.operation == operation)
            .count()
    }

    /// The number of calls by service and operation.
    pub fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for call in &self.state().calls {
            *counts
                .entry(format!("{} {}", call.service, call.operation))
                .or_default() += 1;
        }
        counts
    }

    /// The number of requests to a service, including retries of the SDK: the number that AWS bills.
    pub fn requests_to(&self, service: &str) -> u32 {
        self.state()
            .calls
            .iter()
            .filter(|call| call.service == service)
            .map(|call| call.requests)
            .sum()
    }

    /// The total cost of all calls in DynamoDB units.
    pub fn units(&self) -> Units {
        self.state().calls.iter().map(|call| call.units).sum()
    }

    /// Delays of the sent messages, in order. The messages themselves are delivered without delay.
    pub fn delays(&self) -> Vec<Duration> {
        self.state().delays.clone()
    }

    /// Clears calls and delays. Pending faults and waiting messages stay.
    pub fn reset(&self) {
        let mut state = self.state();
        state.calls.clear();
        state.delays.clear();
    }

    /// Injects a fault into the `nth` call of an operation from now on, counted from one. `*` means every operation
    /// except those that feed a function from its queue.
    pub fn inject(&self, operation: &str, nth: u32, fault: Fault) {
        assert!(nth > 0, "calls are counted from one");
        self.state().faults.push((operation.to_owned(), nth, fault));
    }

    /// The number of pending faults.
    pub fn faults_to_come(&self) -> usize {
        self.state().faults.len()
    }

    /// The delay of a message; zero if the response to its sender was lost.
    pub(crate) fn delay_of(&self, message_id: &str) -> Duration {
        self.state().messages.delay_of(message_id)
    }

    pub(crate) fn undeleted_messages(&self) -> Vec<String> {
        self.state().messages.undeleted()
    }

    /// A poisoned lock is ignored: the test that panicked has already failed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next_fault(&mut self, operation: &str) -> Option<Fault> {
        let mut met = None;
        for (place, (of, left, fault)) in self.faults.iter_mut().enumerate() {
            let feeds = matches!(operation, "ReceiveMessage" | "DeleteMessage");
            if of == operation || (of == "*" && !feeds) {
                *left -= 1;
                if *left == 0 && met.is_none() {
                    met = Some((place, *fault));
                }
            }
        }
        let (place, fault) = met?;
        self.faults.remove(place);
        Some(fault)
    }
}

fn fails_with(cfg: &ConfigBag, fails: Fault, dies: Fault) -> Result<(), BoxError> {
    match cfg.load::<Meets>() {
        Some(Meets(met)) if *met == fails => Err(Injected(fails).into()),
        // No code of the function runs after this; `process_batch` handles it as a crash. `resume_unwind` skips the
        // panic hook, because an injected crash must not print a message.
        Some(Meets(met)) if *met == dies => std::panic::resume_unwind(Box::new(Injected(dies))),
        _ => Ok(()),
    }
}

impl Intercept for AwsCalls {
    fn name(&self) -> &'static str {
        "AwsCalls"
    }

    fn modify_before_serialization(
        &self,
        context: &mut BeforeSerializationInterceptorContextMut<'_>,
        _components: &RuntimeComponents,
        cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let metadata = cfg.load::<Metadata>().expect("every operation says its name");
        let (service, operation) = (metadata.service().to_owned(), metadata.name().to_owned());
        let when_refused = capacity::of_refused(context.input());
        capacity::ask_for(context.input_mut());
        let delay = messages::take_delay(context.input_mut());
        let on_messages = Effect::of(context.input(), delay);
        let mut state = self.state();
        state.delays.extend(delay);
        let fault = state.next_fault(&operation);
        let refusal = (fault == Some(Fault::Conflict)).then(|| conflict::refusal(context.input()));
        let begun = Begun {
            place: state.calls.len(),
            when_refused,
            on_messages,
        };
        state.calls.push(Call {
            service,
            operation,
            requests: 0,
            succeeded: false,
            units: Units::default(),
        });
        drop(state);
        let carried = cfg.interceptor_state();
        carried.store_put(begun);
        if let Some(refusal) = refusal {
            carried.store_put(Refusal(refusal));
        }
        if let Some(fault) = fault {
            carried.store_put(Meets(fault));
        }
        Ok(())
    }

    fn modify_before_transmit(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _components: &RuntimeComponents,
        cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if cfg.load::<Refusal>().is_some() {
            conflict::divert(context.request_mut());
        }
        fails_with(cfg, Fault::NotSent, Fault::DiesBefore)
    }

    fn read_before_transmit(
        &self,
        _context: &BeforeTransmitInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(begun) = cfg.load::<Begun>()
            && let Some(call) = self.state().calls.get_mut(begun.place)
        {
            call.requests += 1;
        }
        Ok(())
    }

    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _components: &RuntimeComponents,
        cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(Refusal(body)) = cfg.load::<Refusal>() {
            *context.response_mut() = conflict::answer(body)?;
        }
        fails_with(cfg, Fault::AnswerLost, Fault::DiesAfter)
    }

    fn read_after_execution(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let Some(begun) = cfg.load::<Begun>() else {
            return Ok(());
        };
        let output = context.output_or_error().and_then(Result::ok);
        let mut state = self.state();
        if let Some(output) = output {
            state.messages.note(begun.on_messages.as_ref(), output);
        }
        // Missing when the test called `reset` during this call.
        let Some(call) = state.calls.get_mut(begun.place) else {
            return Ok(());
        };
        call.succeeded = output.is_some();
        call.units = match output {
            Some(output) => capacity::consumed(output),
            None if context.response().is_some() => begun.when_refused,
            None => Units::default(),
        };
        Ok(())
    }
}
