//! Runs a task to its end: all parts of a list or a check, its answer, and the exit status.

use std::io::{IsTerminal as _, Read as _, Write as _};

use ecf_runtime::{Error, telemetry};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::arguments::Arguments;
use super::caller::Caller;
use super::resolving::resolve;
use super::tasks::Task;
use super::{say, text};

const DONE: u8 = 0;
const REFUSED: u8 = 1;
const FOUND: u8 = 3;

/// Why a task has no answer, or not all of it.
pub(super) enum Failure {
    /// The function refused the command.
    Refused(Value),
    /// It was not reached, or broke.
    Broken(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}

/// Runs the task; prints its answer and what went wrong. Returns the exit status.
///
/// # Errors
/// When the system is not there, or the answer cannot be printed.
pub async fn operate(arguments: &Arguments) -> Result<u8, Error> {
    let Arguments { target, task } = arguments;
    let caller = Caller::of(target).await?;
    let mut command = task.command()?;
    if let Task::FindKey { sha256: None } = task {
        command["sha256"] = json!(hash_of_input()?);
    }
    let as_json = target.json || matches!(task, Task::Raw { .. });
    if let Task::Raw { .. } = task {
        let answer = caller.call(&command).await?;
        print(&serde_json::to_string_pretty(&answer)?)?;
        return Ok(if answer["error"].is_null() { DONE } else { REFUSED });
    }
    if let Err(failure) = resolve(&caller, &mut command).await {
        return tell(&failure, as_json, None);
    }
    let (answer, failure, next) = parts(&caller, command).await;
    if !answer.is_null() {
        print(&if as_json {
            serde_json::to_string_pretty(&answer)?
        } else {
            text::of(&answer)
        })?;
    }
    match failure {
        Some(failure) => tell(&failure, as_json && answer.is_null(), next.as_ref()),
        None if task.found(&answer) => Ok(FOUND),
        None => Ok(DONE),
    }
}

/// The answers of all parts as one.
pub(super) async fn all_parts(caller: &Caller, command: Value) -> Result<Value, Failure> {
    let (answer, failure, _) = parts(caller, command).await;
    failure.map_or(Ok(answer), Err)
}

/// Sends a command until its `next` is null. Returns the merged answer, what stopped it, and where to continue.
async fn parts(caller: &Caller, mut command: Value) -> (Value, Option<Failure>, Option<Value>) {
    let mut whole = Value::Null;
    let shows_progress = std::io::stderr().is_terminal();
    for part in 1_u64.. {
        let at = command.get("at").filter(|_| part > 1).cloned();
        let answer = tokio::select! {
            answer = caller.call(&command) => answer,
            _ = tokio::signal::ctrl_c(), if part > 1 => Err("stopped".into()),
        };
        let answer = match answer {
            Ok(answer) if answer["error"].is_null() => answer,
            Ok(refusal) => return (whole, Some(Failure::Refused(refusal)), at),
            Err(error) => return (whole, Some(Failure::Broken(error)), at),
        };
        let next = answer["next"].clone();
        merge(&mut whole, answer);
        if next.is_null() {
            if shows_progress && part > 1 {
                say(&format!("{part} parts, done"));
            }
            break;
        }
        if shows_progress {
            say(&format!("part {part}: {}; goes on --at '{next}'", text::counts(&whole)));
        }
        command["at"] = next;
    }
    (whole, None, None)
}

/// Adds a part to the answer: lists grow, numbers add up, and a check agrees if all of its parts do.
fn merge(whole: &mut Value, part: Value) {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            for (name, value) in part {
                if name == "next" {
                    whole.insert(name, value);
                } else {
                    merge(whole.entry(name).or_insert(Value::Null), value);
                }
            }
        }
        (Value::Array(whole), Value::Array(part)) => whole.extend(part),
        (Value::Bool(whole), Value::Bool(part)) => *whole &= part,
        (Value::Number(whole), Value::Number(part)) => {
            if let (Some(one), Some(more)) = (whole.as_u64(), part.as_u64()) {
                *whole = (one + more).into();
            }
        }
        (whole, part) => *whole = part,
    }
}

/// Says what went wrong, and what to do about it.
fn tell(failure: &Failure, as_json: bool, next: Option<&Value>) -> Result<u8, Error> {
    match failure {
        Failure::Refused(answer) => {
            if as_json {
                print(&serde_json::to_string_pretty(answer)?)?;
            }
            let error = &answer["error"];
            let code = error["code"].as_str().unwrap_or_default();
            say(&format!(
                "refused, {code}: {}",
                error["message"].as_str().unwrap_or_default()
            ));
            if let Some(hint) = hint(code) {
                say(hint);
            }
        }
        Failure::Broken(error) => say(&telemetry::chain(&**error).to_string()),
    }
    if let Some(next) = next {
        say(&format!("continue with --at '{next}'"));
    }
    Ok(REFUSED)
}

fn hint(code: &str) -> Option<&'static str> {
    Some(match code {
        "try_again" => "AWS did not answer in time; every command may be repeated",
        "store_failed" => "the log of the operator's function has the cause",
        "not_verified" => "verify-company confirms that the company is the taxpayer",
        "rnc_taken" => "companies --rnc shows who has it",
        "range_overlaps" | "too_many_ranges" => "ranges --rnc shows the ranges",
        "not_looked_up" => "requeue asks the authority",
        "nothing_to_do" | "not_failed" | "changed_meanwhile" | "outcome_is_known" => "show-receipt shows its state",
        _ => return None,
    })
}

/// Reads a key from the input, so that it is in no history and no list of processes.
fn hash_of_input() -> Result<String, Error> {
    if std::io::stdin().is_terminal() {
        say("paste the API key, then Enter and Ctrl-D");
    }
    let mut key = String::new();
    std::io::stdin().read_to_string(&mut key)?;
    Ok(Sha256::digest(key.trim())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

fn print(text: &str) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", text.trim_end())?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_merged_and_one_problem_is_enough() {
        let mut whole = Value::Null;
        for part in [
            json!({ "found": { "numbers": 2, "problems": [] }, "agrees": true, "next": { "day": 1 } }),
            json!({ "found": { "numbers": 3, "problems": ["x"] }, "agrees": false, "next": { "day": 2 } }),
            json!({ "found": { "numbers": 0, "problems": [] }, "agrees": true, "next": null }),
        ] {
            merge(&mut whole, part);
        }
        let expected = json!({ "found": { "numbers": 5, "problems": ["x"] }, "agrees": false, "next": null });
        assert_eq!(whole, expected);
    }
}
