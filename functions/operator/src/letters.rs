//! Dead letters: how many there are, what they say, and their replay.

use serde_json::{Value, json};

use crate::{App, OperatorError};

/// Upper bound of the dead letters that one command moves.
const MOST_LETTERS: usize = 100;
/// Characters of a message that are shown. A job is shorter.
const SHOWN: usize = 1_000;

/// The number of dead letters of each queue, or some messages of one.
pub(crate) async fn list(app: &App, queue: Option<&str>) -> Result<Value, OperatorError> {
    let Some(name) = queue else {
        let mut queues = Vec::new();
        for (name, letters) in &app.dead_letters {
            queues.push(json!({ "queue": name, "messages": letters.count().await? }));
        }
        return Ok(json!({ "queues": queues }));
    };
    let letters = letters(app, name)?;
    let shown = letters.peek().await?.into_iter().map(|letter| {
        let body: String = letter.body.chars().take(SHOWN).collect();
        json!({ "sent_at": letter.sent_at, "body": body })
    });
    let shown: Vec<Value> = shown.collect();
    let queue = json!({ "queue": name, "messages": letters.count().await? });
    Ok(json!({ "queues": [queue], "letters": shown }))
}

/// Moves dead letters back to their queue. The cause of the crash must be corrected first.
pub(crate) async fn replay(app: &App, queue: &str, limit: Option<usize>) -> Result<Value, OperatorError> {
    let letters = letters(app, queue)?;
    let limit = limit.unwrap_or(MOST_LETTERS);
    if !(1..=MOST_LETTERS).contains(&limit) {
        return Err(OperatorError::refused(
            "bad_limit",
            format!("limit is {limit}; it may be 1 to {MOST_LETTERS}"),
        ));
    }
    let moved = letters.replay(limit).await?;
    Ok(json!({ "queue": queue, "moved": moved }))
}

fn letters<'a>(app: &'a App, queue: &str) -> Result<&'a ecf_store::DeadLetters, OperatorError> {
    app.dead_letters.get(queue).ok_or_else(|| {
        let known: Vec<&str> = app.dead_letters.keys().copied().collect();
        OperatorError::refused(
            "unknown_queue",
            format!("queue is {queue}; the queues are {}", known.join(", ")),
        )
    })
}
