//! An answer as text for people: lines of names and values, then a table for each list.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// The order of columns and lines; others follow by name.
const ORDER: [&str; 44] = [
    "agrees",
    "finding",
    "problem",
    "queue",
    "rnc",
    "name",
    "verified",
    "is_active",
    "environment",
    "host",
    "open",
    "ecf_type",
    "encf",
    "status",
    "state",
    "since",
    "hours",
    "awaits",
    "range_start",
    "range_end",
    "available",
    "total",
    "valid_until",
    "not_after",
    "days_left",
    "url",
    "failing_since",
    "slow_since",
    "paused_at",
    "monto_total",
    "track_id",
    "external_id",
    "prefix",
    "scope",
    "created_at",
    "last_used_at",
    "expires_at",
    "revoked_at",
    "public_id",
    "id",
    "company",
    "error_code",
    "error_message",
    "detail",
];
/// Cells are cut to this number of characters; --json shows them whole.
const WIDEST: usize = 60;

/// The text of an answer.
pub(super) fn of(answer: &Value) -> String {
    let mut text = String::new();
    section(&mut text, "", answer);
    text.trim_start_matches('\n').trim_end().to_owned()
}

/// The numbers and the lengths of the lists of an answer, on one line.
pub(super) fn counts(answer: &Value) -> String {
    let mut counts = Vec::new();
    count(answer, &mut counts);
    counts.join(", ")
}

fn count(answer: &Value, counts: &mut Vec<String>) {
    for (name, value) in answer.as_object().into_iter().flatten() {
        match value {
            Value::Number(number) => counts.push(format!("{number} {}", words(name))),
            Value::Array(rows) => counts.push(format!("{} {}", rows.len(), words(name))),
            Value::Object(_) if name != "next" => count(value, counts),
            _ => {}
        }
    }
}

fn section(text: &mut String, title: &str, value: &Value) {
    let Some(members) = value.as_object() else { return };
    if !title.is_empty() {
        let _ = writeln!(text, "\n{title}");
    }
    let members = sorted(members);
    let simple: Vec<(String, String)> = members
        .iter()
        .filter(|(name, value)| is_simple(value) && !(*name == "next" && value.is_null()))
        .map(|(name, value)| (words(name), cell(value)))
        .collect();
    let width = simple.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, value) in &simple {
        let _ = writeln!(text, "{name:<width$}  {value}");
    }
    for (name, value) in members {
        let title = if title.is_empty() {
            words(name)
        } else {
            format!("{title}, {}", words(name))
        };
        match value {
            Value::Array(rows) if !is_simple(value) => table(text, &title, rows),
            Value::Object(_) if name != "next" && !is_simple(value) => section(text, &title, value),
            _ => {}
        }
    }
}

/// A table of objects. Columns without a value are left out.
fn table(text: &mut String, title: &str, rows: &[Value]) {
    let mut columns: Vec<&str> = Vec::new();
    for (name, value) in rows.iter().filter_map(Value::as_object).flatten() {
        if !value.is_null() && !columns.contains(&&**name) {
            columns.push(name);
        }
    }
    columns.sort_by_key(|name| place(name));
    let heads = columns.iter().map(|name| words(name)).collect();
    let mut lines: Vec<Vec<String>> = vec![heads];
    lines.extend(
        rows.iter()
            .map(|row| columns.iter().map(|name| cut(cell(&row[*name]))).collect()),
    );
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let _ = writeln!(text, "\n{title} ({})", rows.len());
    for line in &lines {
        let cells: Vec<String> = line
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        let _ = writeln!(text, "  {}", cells.join("  ").trim_end());
    }
}

fn sorted(members: &Map<String, Value>) -> Vec<(&str, &Value)> {
    let mut members: Vec<_> = members.iter().map(|(name, value)| (name.as_str(), value)).collect();
    members.sort_by_key(|(name, _)| place(name));
    members
}

fn place(name: &str) -> (usize, String) {
    let known = ORDER.iter().position(|known| *known == name);
    (known.unwrap_or(ORDER.len()), name.to_owned())
}

/// Whether a value fits on a line: no object with members, and no list of objects.
fn is_simple(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(rows) => !rows.iter().any(Value::is_object),
        _ => true,
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.replace(['\n', '\r', '\t'], " "),
        Value::Array(values) if values.is_empty() => "none".to_owned(),
        Value::Object(members) if members.is_empty() => "none".to_owned(),
        Value::Array(values) => values.iter().map(cell).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn cut(text: String) -> String {
    if text.chars().count() <= WIDEST {
        return text;
    }
    let mut cut: String = text.chars().take(WIDEST - 1).collect();
    cut.push('…');
    cut
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}
