//! What must hold for any bytes that the authority sends: one function for each target in `fuzz/`. The fuzzer calls them
//! with bytes of its own making, the tests below with the corpus.

#![expect(clippy::unwrap_used, reason = "a fuzz target and a test fail by panicking")]

use std::sync::OnceLock;

use jiff::{SignedDuration, Timestamp};
use xmldsig::{Identity, Limits, Method, canonicalize, sign_foreign};

use crate::answer::Answer;
use crate::body::Body;
use crate::services::autenticacion::{grant, is_seed};
use crate::services::{Submissions, consultatrackids};
use crate::token::Token;
use crate::verdict::Verdict;

/// Whatever an answer is, what is kept of it is bounded and is JSON, and a verdict needs something that says it.
pub fn answer(bytes: &[u8]) {
    let answer = Answer::read(bytes);
    assert!(answer.raw.len() <= 8 * 1024 && answer.mensajes.len() <= 100);
    let json: serde_json::Value = serde_json::from_str(&answer.to_json()).unwrap();
    assert!(json.is_object());
    if Verdict::of(&answer) != Verdict::Unclear {
        assert!(answer.codigo.is_some() || answer.estado.is_some());
    }
    assert!(answer.words().is_none_or(|words| !words.trim().is_empty()));
    let _ = (answer.says_already_used(), answer.error_code());
    match consultatrackids::read(&Body::read(bytes), answer.clone()) {
        Submissions::Found(found) => assert!(found.iter().all(|one| !one.track_id.trim().is_empty())),
        // "None" leads to a resend.
        Submissions::None(_) => assert!(!Verdict::of(&answer).is_acceptance()),
        Submissions::Unclear(_) => {}
    }
}

/// Whatever grants a token, it is no blank, and it ends after now and within a day.
pub fn token(bytes: &[u8]) {
    let now: Timestamp = "2026-11-28T12:00:00Z".parse().unwrap();
    let Some(grant) = grant(&Body::read(bytes)) else { return };
    let token = Token::granted(grant, now);
    assert!(!token.expose().trim().is_empty());
    assert!(now < token.expires_at() && token.expires_at() <= now + SignedDuration::from_hours(24));
}

/// What is taken for a seed is one in the eyes of the signer too: nothing else gets the taxpayer's signature.
pub fn seed(bytes: &[u8]) {
    static IDENTITY: OnceLock<Identity> = OnceLock::new();
    let identity = IDENTITY.get_or_init(|| {
        let (from, to) = (
            "2020-01-01T00:00:00Z".parse().unwrap(),
            "2040-01-01T00:00:00Z".parse().unwrap(),
        );
        Identity::from_pkcs12(
            &test_certificates::pkcs12("Firma", "1", "", from, to).unwrap(),
            "",
            from,
        )
        .unwrap()
    });
    if !is_seed(bytes) || sign_foreign(bytes, identity, &Limits::default()).is_err() {
        return;
    }
    let canonical = canonicalize(bytes, Method::Inclusive, &Limits::default()).unwrap();
    let canonical = std::str::from_utf8(&canonical).unwrap();
    assert_eq!(root(canonical), "SemillaModel", "{canonical}");
}

/// The local name of the root of a canonical document: what stands before it are processing instructions, a line each.
fn root(canonical: &str) -> &str {
    let mut rest = canonical;
    while let Some(instruction) = rest.strip_prefix("<?") {
        let (_, after) = instruction.split_once("?>\n").unwrap();
        rest = after;
    }
    let tag = rest.strip_prefix('<').unwrap();
    let name = tag.split([' ', '>']).next().unwrap();
    name.rsplit(':').next().unwrap()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// Runs `check` on every input of a target and wants at least so many.
    fn replay(target: &str, at_least: usize, check: impl Fn(&[u8])) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
        let files: Vec<_> = std::fs::read_dir(folder).unwrap().collect();
        assert!(files.len() >= at_least, "{target} has {} inputs", files.len());
        for file in files {
            let path = file.unwrap().path();
            eprintln!("{}", path.display());
            check(&std::fs::read(path).unwrap());
        }
    }

    #[test]
    fn every_answer_is_kept_bounded() {
        replay("answer", 12, super::answer);
    }

    #[test]
    fn every_token_ends_within_a_day() {
        replay("token", 5, super::token);
    }

    #[test]
    fn nothing_but_seeds_is_taken_for_a_seed() {
        replay("seed", 5, super::seed);
    }
}
