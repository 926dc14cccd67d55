//! What a person sees of a run: a progress bar, the findings of workbooks that were refused, a table of the rows.

use std::fmt::Write as _;
use std::process::ExitCode;

use ecf_runtime::Error;
use indicatif::{ProgressBar, ProgressStyle};

use super::say;
use super::service::{Finding, Row, Run};

/// The progress on a terminal; invisible elsewhere.
pub(super) struct Bar(ProgressBar);

impl Bar {
    pub(super) fn new() -> Self {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self(bar)
    }

    pub(super) fn show(&self, run: &Run) {
        self.0.set_length(run.counts.rows);
        self.0.set_position(run.counts.accepted);
        let sent = run.rows.iter().find(|row| row.row_state == "sent");
        let words = sent.map(|row| format!("{} {} is sent", row.document, row.number()));
        self.0.set_message(words.unwrap_or_default());
    }

    /// Prints a line above the bar.
    pub(super) fn say(&self, text: &str) {
        // A closed standard output shows at the next line.
        self.0.suspend(|| _ = say(text));
    }

    pub(super) fn end(&self) {
        self.0.finish_and_clear();
    }
}

/// Prints why workbooks cannot be sent.
pub(super) fn findings(file: &str, findings: &[Finding]) -> Result<ExitCode, Error> {
    let count = findings.len();
    let noun = if count == 1 { "finding" } else { "findings" };
    say(&format!("{file}: {count} {noun}; nothing was sent"))?;
    for finding in findings {
        say(&format!("  {finding}"))?;
    }
    Ok(ExitCode::FAILURE)
}

/// Prints the rows.
pub(super) fn table(run: &Run) -> Result<(), Error> {
    let head = ["row", "document", "number", "state", "track id", "verdict"].map(str::to_owned);
    let cells = run.rows.iter().map(|row| {
        [
            row.row.to_string(),
            row.document.clone(),
            row.number(),
            row.row_state.clone(),
            row.track_id.clone().unwrap_or_default(),
            verdict(row),
        ]
    });
    let lines: Vec<[String; 6]> = std::iter::once(head).chain(cells).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
    let widths: Vec<usize> = (0..6).map(|column| width(column).unwrap_or_default()).collect();
    for line in &lines {
        let mut text = String::new();
        for (cell, width) in line.iter().zip(&widths) {
            write!(text, "{cell:width$}  ")?;
        }
        say(text.trim_end())?;
    }
    say(&format!("{} of {} rows accepted", run.counts.accepted, run.counts.rows))
}

fn verdict(row: &Row) -> String {
    let status = row.status.clone().unwrap_or_default();
    match &row.error_message {
        Some(message) => format!("{status}: {message}"),
        None => status,
    }
}

/// Prints why a run ended before its last row, and what to do.
pub(super) fn stop(run: &Run) -> Result<(), Error> {
    let row = run.stop.as_ref().and_then(|stop| run.rows.get(stop.place));
    if let (Some(stop), Some(row)) = (&run.stop, row) {
        let why = stop.message.as_deref().unwrap_or("no reason is known");
        say(&format!(
            "stopped ({}) at {} {}, row {}: {why}",
            stop.cause,
            row.document,
            row.number(),
            row.row
        ))?;
        for explanation in &row.explanations {
            say(&format!("  {} {}", explanation.cause, explanation.fix))?;
        }
    } else {
        say(&run.status)?;
    }
    say(&run.next)
}
