//! How long the way to the tax authority waits: between attempts, for a worker that may be dead, before a document counts as lost.

use std::time::Duration;

use jiff::SignedDuration;

/// The waits between attempts, in seconds.
#[derive(Debug, Clone, Copy)]
pub struct Waits(pub &'static [u64]);

impl Waits {
    /// The wait before the next attempt, after this number of attempts before the last one; `None`: the last one was the end.
    pub fn after(self, earlier_attempts: u32) -> Option<Duration> {
        let seconds = self.0.get(usize::try_from(earlier_attempts).ok()?)?;
        Some(Duration::from_secs(*seconds))
    }
}

/// A step of a receipt that failed, such as its signing or its send. After the last the due index brings it back.
pub const STEP: Waits = Waits(&[2, 5, 15, 30, 60, 120, 300]);
/// The questions for a verdict. The authority judges most receipts within seconds (reference, polling).
pub const VERDICT: Waits = Waits(&[1, 2, 3, 5, 8, 13, 30, 60, 120, 300]);

/// The longest delay of a queue's message; longer waits go to the due index.
pub const LONGEST_DELAY: Duration = Duration::from_secs(15 * 60);

/// How long a worker that sends or looks up a receipt holds it. A send takes 60 seconds at most.
pub const SEND_LEASE: SignedDuration = SignedDuration::from_secs(90);
/// How many look-ups must find nothing before a receipt whose send was lost is sent again.
pub const LOOKUPS_BEFORE_RESEND: u32 = 2;
/// How far apart these look-ups must be.
pub const LOOKUP_SPACING: SignedDuration = SignedDuration::from_secs(60);
/// How long the authority may not find a document before it is looked up by number.
pub const NOT_FOUND_WINDOW: SignedDuration = SignedDuration::from_hours(4);
