//! The scheduler in process: invokes a function at the template's rate.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::invocations::OfFunction;
use crate::mounted::TimedFunction;

/// Invokes the function at its rate until `stop`; a started run is finished.
pub(crate) async fn run(metered: OfFunction, every: Duration, function: TimedFunction, stop: CancellationToken) {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = ticks.tick() => {
                if let Err(error) = metered.measure(0, function()).await {
                    tracing::error!(function = metered.function(), error = %error, "a scheduled run failed");
                }
            }
        }
    }
}
