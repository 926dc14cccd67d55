//! `?wait=SECONDS`: an answer that comes as soon as a receipt's state is final.

use std::time::Duration;

use ecf::ReceiptState;
use ecf_store::{Receipt, Table};
use tokio::time::{Instant, sleep, timeout_at};
use utoipa::IntoParams;

use crate::{Fields, FromFields};

/// Upper bound of a wait. A gateway ends a request after 29 seconds.
const LONGEST: i64 = 20;
/// The pause after the first look; each later one is a quarter longer, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// The part of the wait that the last look may take.
const A_LOOK: Duration = Duration::from_millis(100);

/// How long the caller waits for the final state.
#[derive(Debug, Clone, Copy, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Wait {
    /// Seconds, at most 20. The answer comes as soon as the receipt has its verdict, has failed or was withdrawn, and after this
    /// time with the state that it has then. A `deferred` receipt is answered at once. 0 does not wait.
    #[param(required = false, value_type = u32, minimum = 0, maximum = 20, default = 0)]
    pub wait: Deadline,
}

/// The end of a wait, counted from when the request was read.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(Option<Instant>);

impl FromFields for Wait {
    fn read(fields: &mut Fields) -> Option<Self> {
        let seconds = u64::try_from(fields.integer("wait").range(0..=LONGEST).or(0)).unwrap_or(0);
        let wait = Deadline((seconds > 0).then(|| Instant::now() + Duration::from_secs(seconds)));
        Some(Self { wait })
    }
}

impl Wait {
    /// The receipt as soon as nothing more is expected to happen to it, or as it is when the time is over. Returns `None`
    /// when nobody waits, or when the record could not be read: a failed look must not hide a receipt that was issued.
    pub async fn for_end(self, table: &Table, receipt: &Receipt) -> Option<Receipt> {
        let until = self.wait.0?;
        let (scope, id) = (receipt.scope, receipt.public_id);
        let mut seen: Option<Receipt> = None;
        let mut pause = FIRST_PAUSE;
        while !is_settled(seen.as_ref().unwrap_or(receipt).state) {
            let left = until.saturating_duration_since(Instant::now());
            if left <= A_LOOK {
                break;
            }
            sleep(pause.min(left - A_LOOK)).await;
            pause = (pause + pause / 4).min(LONGEST_PAUSE);
            let Ok(found) = timeout_at(until, table.receipt_eventual(&scope, &id)).await else {
                break;
            };
            match found {
                // An eventually consistent read may be older than what is known.
                Ok(Some(found)) if found.updated_at >= seen.as_ref().unwrap_or(receipt).updated_at => {
                    seen = Some(found);
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(receipt.id = %id, error = %ecf_runtime::telemetry::chain(&error), "a read while waiting for the verdict failed");
                }
            }
        }
        seen
    }
}

/// Whether nothing is expected to happen within seconds.
fn is_settled(state: ReceiptState) -> bool {
    state.is_final() || matches!(state, ReceiptState::Failed | ReceiptState::Deferred)
}
