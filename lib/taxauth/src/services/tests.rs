//! The services against a test double that gives every answer in the reference.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use ecf::{Encf, Environment, Rnc};
use jiff::Timestamp;

use crate::client::{TaxAuth, TimeOuts};
use crate::endpoints::{Endpoints, Service};
use crate::error::TaxAuthError;
use crate::token::Token;
use crate::upload::Upload;
use crate::verdict::Estado;

#[path = "../../tests/support/double.rs"]
mod double;
mod questions;
mod uploads;
mod wire;

use double::{Double, Play};

const ENVIRONMENT: Environment = Environment::TesteCF;

/// A double that gives these answers in order. Further requests get status 599.
async fn playing(plays: Vec<Play>) -> Double {
    let plays = Mutex::new(VecDeque::from(plays));
    Double::answering(move |_| {
        plays
            .lock()
            .unwrap()
            .pop_front()
            .unwrap_or_else(|| Play::new(599, "too many"))
    })
    .await
}

fn client(base: &str) -> TaxAuth {
    let time_outs = TimeOuts {
        connect: Duration::from_secs(2),
        total: Duration::from_secs(5),
    };
    TaxAuth::new(Endpoints::from_bases(base, base, base).unwrap(), time_outs).unwrap()
}

fn token() -> Token {
    Token::new("the.token".into(), Timestamp::MAX)
}

fn rnc() -> Rnc {
    "101672919".parse().unwrap()
}

fn encf() -> Encf {
    "E310000000001".parse().unwrap()
}
