//! The scheduler, played in process: starts a function at the rate that the template says.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::mounted::TimedFunction;

/// Runs the function at its rate until told to stop; a run that started is finished.
pub(crate) async fn run(name: String, every: Duration, function: TimedFunction, stop: CancellationToken) {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = ticks.tick() => {
                if let Err(error) = function().await {
                    tracing::error!(function = name, error = %error, "a scheduled run failed");
                }
            }
        }
    }
}
