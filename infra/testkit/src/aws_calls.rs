//! Sees every call of the SDK: counts it, reads what it cost, and lets it fail when a test wants that.
//!
//! DynamoDB is asked for the capacity it consumed, index writes included, so units are the service's own figures. What it does not tell
//! is the price of a refused conditional write; that is counted as one unit, and two for each part of a transaction.

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

/// One call, as the code under test made it.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// `DynamoDB`, `S3`, `SQS` or `Secrets Manager`.
    pub service: String,
    /// The operation, such as `UpdateItem`.
    pub operation: String,
    /// How many requests it took; more than one when the SDK tried again.
    pub requests: u32,
    /// Whether the service answered with success.
    pub succeeded: bool,
    /// What it cost in DynamoDB.
    pub units: Units,
}

/// Units of DynamoDB's on-demand price; a read that need not be consistent is half a unit.
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

/// How a call fails. The SDK does not try such a call again: the code under test sees the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The request does not get out.
    NotSent,
    /// The service carries it out and the answer is lost.
    AnswerLost,
    /// The function dies before the request gets out.
    DiesBefore,
    /// The service carries it out and the function dies before it hears of it.
    DiesAfter,
    /// DynamoDB refuses a write because another transaction holds the item: the code under test tries again.
    Conflict,
}

impl Fault {
    /// Every one that any call can meet.
    pub const ALL: [Self; 4] = [Self::NotSent, Self::AnswerLost, Self::DiesBefore, Self::DiesAfter];
}

/// Everything that was asked of AWS; clones see the same.
#[derive(Debug, Clone, Default)]
pub struct AwsCalls(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    calls: Vec<Call>,
    /// Operation, how many of its calls are still to go well, and what happens then.
    faults: Vec<(String, u32, Fault)>,
    delays: Vec<Duration>,
    messages: Messages,
}

/// The fault that a call is to meet, carried along with it.
#[derive(Debug)]
struct Meets(Fault);

impl Storable for Meets {
    type Storer = StoreReplace<Self>;
}

/// The refusal of a call that meets a conflict, carried along with it.
#[derive(Debug)]
struct Refusal(String);

impl Storable for Refusal {
    type Storer = StoreReplace<Self>;
}

/// What is known of a call when it begins; its input is gone when it ends.
#[derive(Debug)]
struct Begun {
    /// Its place in the list.
    place: usize,
    /// What it costs if it is refused.
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
    /// All calls since the start or the last [`AwsCalls::reset`], in the order in which they began.
    pub fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    /// How often an operation was called.
    pub fn count(&self, operation: &str) -> usize {
        self.state()
            .calls
            .iter()
            .filter(|call| call.operation == operation)
            .count()
    }

    /// Calls by service and operation.
    pub fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for call in &self.state().calls {
            *counts
                .entry(format!("{} {}", call.service, call.operation))
                .or_default() += 1;
        }
        counts
    }

    /// How many requests went to a service, retries of the SDK included: what is paid for.
    pub fn requests_to(&self, service: &str) -> u32 {
        self.state()
            .calls
            .iter()
            .filter(|call| call.service == service)
            .map(|call| call.requests)
            .sum()
    }

    /// The sum of what all calls cost in DynamoDB.
    pub fn units(&self) -> Units {
        self.state().calls.iter().map(|call| call.units).sum()
    }

    /// Delays of the messages that were sent, in order. The messages themselves came at once.
    pub fn delays(&self) -> Vec<Duration> {
        self.state().delays.clone()
    }

    /// Forgets calls and delays; faults that are still to come, and messages that wait, stay.
    pub fn reset(&self) {
        let mut state = self.state();
        state.calls.clear();
        state.delays.clear();
    }

    /// Lets the `nth` call of an operation from now on, counted from one, meet a fault. `*` means all operations that a function
    /// calls: all but those that feed it from its queue.
    pub fn inject(&self, operation: &str, nth: u32, fault: Fault) {
        assert!(nth > 0, "calls are counted from one");
        self.state().faults.push((operation.to_owned(), nth, fault));
    }

    /// Faults that no call has met yet.
    pub fn faults_to_come(&self) -> usize {
        self.state().faults.len()
    }

    /// The delay that a message was sent with; none for a message whose sender never heard that it was sent.
    pub(crate) fn delay_of(&self, message_id: &str) -> Duration {
        self.state().messages.delay_of(message_id)
    }

    pub(crate) fn undeleted_messages(&self) -> Vec<String> {
        self.state().messages.undeleted()
    }

    /// A test that panicked holding the lock has failed already.
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
        // Nothing of the function runs after it; `process_batch` takes it for what it is, a crash. Without the hook, because
        // a crash that was ordered is no news.
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
        // Absent when the test started to count anew while the call was under way.
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
