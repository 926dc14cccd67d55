//! The order in which a run serves companies. Pure, so that the simulation in `infra/yardsticks/tests/backlog.rs` uses
//! the same code and constants.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

/// The interval of the schedule.
pub const EVERY: Duration = Duration::from_secs(60);
/// The time for due records in a run. Together with the other work of a run it fits into the function's time limit.
pub const BUDGET: Duration = Duration::from_secs(40);
/// The time between two looks; each look reads the length of the queues and the newly due entries.
pub const LOOK: Duration = Duration::from_secs(5);
/// Entries that a look reads from each end of a shard. The newest are read too, so that a long backlog does not hide a
/// record that has just become due.
pub const REACH: usize = 10_000;
/// Entries of one company in one turn.
pub const SHARE: usize = 25;
/// Records that are processed concurrently.
pub const CONCURRENT: usize = 32;
/// Queue length from which on no jobs are added. The backlog waits on the due index, where companies take turns, and
/// not in a queue, where they cannot.
pub const QUEUE_LEVEL: usize = 2_000;
/// Jobs that a look may still add to a full queue, so that companies with few due records pass a burst of others.
pub const LEAST_ROOM: usize = 100;
/// With fewer due records, the length of the queues is not read.
pub const FEW: usize = 500;
/// Upper bound of the receipts of one environment that a run holds while the authority is out of reach. The others stay
/// due without a write.
pub const HOLDS: u64 = 2_000;

/// Orders entries so that companies take turns of [`SHARE`] entries. Within a turn the company with the fewest entries
/// comes first, then the older entry. A single company is served in order of time.
pub fn round_robin<T, C: Eq + Hash + Ord + Copy>(entries: Vec<T>, company: impl Fn(&T) -> C) -> Vec<T> {
    let mut counts: HashMap<C, usize> = HashMap::new();
    let turns: Vec<usize> = entries
        .iter()
        .map(|entry| {
            let count = counts.entry(company(entry)).or_default();
            *count += 1;
            (*count - 1) / SHARE
        })
        .collect();
    let mut order: Vec<(usize, usize, usize, T)> = entries
        .into_iter()
        .zip(turns)
        .enumerate()
        .map(|(place, (entry, turn))| (turn, counts[&company(&entry)], place, entry))
        .collect();
    order.sort_unstable_by_key(|(turn, count, place, _)| (*turn, *count, *place));
    order.into_iter().map(|(.., entry)| entry).collect()
}

/// The number of messages that may be added to a queue of this length.
pub fn room(waiting: usize) -> usize {
    QUEUE_LEVEL.saturating_sub(waiting).max(LEAST_ROOM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companies_take_turns_and_the_one_with_the_fewest_entries_is_first() {
        // Company 1 has sixty older entries, company 2 thirty, company 3 two, the newest of all.
        let entries: Vec<(u32, u32)> = [(1, 60), (2, 30), (3, 2)]
            .into_iter()
            .flat_map(|(company, count)| (0..count).map(move |number| (company, number)))
            .collect();
        let ordered = round_robin(entries, |(company, _)| *company);
        let mut runs: Vec<(u32, u32, u32)> = Vec::new();
        for (company, number) in ordered {
            match runs.last_mut() {
                Some((last, _, to)) if *last == company => *to = number,
                _ => runs.push((company, number, number)),
            }
        }
        assert_eq!(
            runs,
            [(3, 0, 1), (2, 0, 24), (1, 0, 24), (2, 25, 29), (1, 25, 59)],
            "(company, first, last)"
        );
    }

    #[test]
    fn one_company_is_served_in_order_of_time() {
        let entries: Vec<u32> = (0..1_000).collect();
        assert_eq!(round_robin(entries.clone(), |_| 1), entries);
    }

    #[test]
    fn a_queue_is_filled_up_to_its_level() {
        let rooms = [0, 1_500, 2_000, 9_000].map(room);
        assert_eq!(rooms, [2_000, 500, LEAST_ROOM, LEAST_ROOM]);
    }
}
