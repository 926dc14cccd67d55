//! Assertions on the program's log.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

/// A verdict is one write, and only its writer logs it.
pub(crate) fn verdicts_were_written_once(log: &str) {
    let mut written = BTreeSet::new();
    for line in log
        .lines()
        .filter(|line| line.contains(" verdict recorded receipt.id="))
    {
        assert!(written.insert(receipt_of(line)), "a second verdict: {line}");
    }
    assert!(!written.is_empty(), "no verdict in the log");
}

/// Housekeeping claims a receipt before it enqueues a job: one due time leads to one message, and the next due time is
/// at least ten minutes later. A worker that holds the lease meanwhile may set an earlier one. Returns the number of
/// messages.
pub(crate) fn each_time_brought_one_message(log: &str) -> usize {
    let mut claimed = BTreeSet::new();
    for line in log
        .lines()
        .filter(|line| line.contains("an overdue receipt was enqueued"))
    {
        let (due, next) = (instant_of(line, "due"), instant_of(line, "next"));
        assert!(claimed.insert((receipt_of(line), due)), "was queued twice: {line}");
        let pause = next.duration_since(due);
        assert!(
            pause >= SignedDuration::from_mins(10),
            "is queued again after {pause:?}: {line}"
        );
    }
    assert!(!claimed.is_empty(), "no message of housekeeping in the log");
    claimed.len()
}

/// The receipt in a line of the log.
fn receipt_of(line: &str) -> &str {
    field_of(line, "receipt.id")
}

fn instant_of(line: &str, name: &str) -> Timestamp {
    field_of(line, name).parse().unwrap()
}

fn field_of<'a>(line: &'a str, name: &str) -> &'a str {
    let rest = line.split(&format!(" {name}=")).nth(1);
    let rest = rest.unwrap_or_else(|| panic!("the line names no {name}: {line}"));
    rest.split_whitespace().next().unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, due: &str, next: &str) -> String {
        format!(
            "2026-11-28T12:00:00Z INFO housekeeping: an overdue receipt was enqueued receipt.id={id} state=signed \
             due=2026-11-28T{due}Z next=2026-11-28T{next}Z\n"
        )
    }

    #[test]
    fn another_receipt_or_another_time_is_another_message() {
        let log = [
            line("a", "12:00:00", "12:10:00"),
            line("b", "12:00:00", "12:11:00"),
            line("a", "12:04:00", "12:15:00"),
        ];
        assert_eq!(each_time_brought_one_message(&log.concat()), 3);
    }

    #[test]
    #[should_panic(expected = "was queued twice")]
    fn a_time_that_is_claimed_twice_is_seen() {
        each_time_brought_one_message(&line("a", "12:00:00", "12:10:00").repeat(2));
    }

    #[test]
    #[should_panic(expected = "is queued again after")]
    fn a_pause_that_is_too_short_is_seen() {
        each_time_brought_one_message(&line("a", "12:00:00", "12:09:59"));
    }

    #[test]
    #[should_panic(expected = "no message of housekeeping in the log")]
    fn r9_a_log_whose_lines_read_otherwise_is_seen() {
        each_time_brought_one_message("2026-11-28T12:00:00Z INFO housekeeping: an overdue receipt went to the queue\n");
    }

    #[test]
    #[should_panic(expected = "the line names no due")]
    fn r9_a_line_without_its_fields_is_seen() {
        each_time_brought_one_message(
            "2026-11-28T12:00:00Z INFO housekeeping: an overdue receipt was enqueued receipt.id=a\n",
        );
    }

    #[test]
    #[should_panic(expected = "no verdict in the log")]
    fn r9_a_log_without_verdicts_is_seen() {
        verdicts_were_written_once("");
    }
}
