//! A day of receipts over many companies in a time lapse, or its busiest minutes in real time: how long answers,
//! verdicts and webhooks take, and what the functions, AWS and the logs are asked for. Writes one JSON file, from which
//! `infra/checks/load/chart` makes docs/load.md.
//!
//! [`Plan`] lists the variables. [`latency`] names every assumed latency.

mod latency;
mod measured;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ecf::Fecha;
use ecf_local::{Local, RunOptions};
use http::Method;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use self::latency::Receiver;
use self::measured::{Logs, Series, percentiles, processor_seconds};
use crate::payloads::payload;
use crate::support::System;

/// Shares of an hour's receipts, from the hour in which the first shops open. Assumed.
const CURVE: [u32; 14] = [2, 4, 6, 8, 10, 12, 11, 9, 8, 8, 9, 8, 4, 1];
/// Below it, receipts come evenly.
const CURVE_FROM_MINUTES: u32 = 120;
/// Requests that are open at the same time. More are sent later, and the report says how much later.
const OPEN_REQUESTS: usize = 64;
const UNTIL_DELIVERED: Duration = Duration::from_secs(900);
/// Receipts of which the record is read afterwards.
const SAMPLE: usize = 500;

/// What is played, by environment variables.
struct Plan {
    /// `LOAD_RECEIPTS`
    receipts: u32,
    /// `LOAD_COMPANIES`
    companies: u32,
    /// `LOAD_SPEED`: how much faster than real time the clock runs.
    speed: u32,
    /// `LOAD_MINUTES` of that clock in which the receipts come.
    minutes: u32,
    /// `LOAD_LATENCY=1` lets calls take as long as in a deployment.
    latency: bool,
    /// `LOAD_TYPE`: only this type; otherwise 60 % summaries of type 32, 3 % debit notes, the rest type 31.
    only: Option<String>,
    /// `LOAD_OUT`: the file to write.
    out: PathBuf,
}

impl Plan {
    fn of_environment() -> Self {
        let only: String = setting("LOAD_TYPE", String::new());
        Self {
            receipts: setting("LOAD_RECEIPTS", 100_000),
            companies: setting("LOAD_COMPANIES", 200),
            speed: setting("LOAD_SPEED", 60),
            minutes: setting("LOAD_MINUTES", 840),
            latency: setting("LOAD_LATENCY", 0) == 1,
            only: Some(only).filter(|only| !only.is_empty()),
            out: setting("LOAD_OUT", "load.json".into()),
        }
    }

    fn ecf_type(&self, place: u32) -> &str {
        match &self.only {
            Some(only) => only,
            None if place * 37 % 100 < 60 => "32",
            None if place * 37 % 100 < 63 => "33",
            None => "31",
        }
    }

    /// The real time from the first to the last receipt.
    fn real(&self) -> Duration {
        Duration::from_secs(60) * self.minutes / self.speed
    }

    /// When a receipt comes, as a share of the run.
    fn arrival(&self, place: u32) -> f64 {
        let share = f64::from(place) / f64::from(self.receipts);
        if self.minutes < CURVE_FROM_MINUTES {
            return share;
        }
        let mut left = share * f64::from(CURVE.iter().sum::<u32>());
        for (hour, weight) in CURVE.into_iter().enumerate() {
            if left < f64::from(weight) {
                return (hour as f64 + left / f64::from(weight)) / CURVE.len() as f64;
            }
            left -= f64::from(weight);
        }
        1.0
    }
}

#[expect(clippy::disallowed_methods, reason = "a run by hand chooses what is played")]
fn setting<T: FromStr>(name: &str, otherwise: T) -> T {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} cannot be `{text}`")),
        Err(_) => otherwise,
    }
}

struct Company {
    rnc: String,
    key: String,
}

/// A company that signs up with its own certificate and subscribes to its verdicts.
async fn company(system: &System, receiver: &Receiver, number: u32) -> Company {
    let caller = &system.caller;
    let rnc = (131_000_000 + number).to_string();
    let request = json!({
        "rnc": rnc, "name": format!("COMERCIO {number} SRL"), "email": "caja@comercio.example",
        "p12_base64": latency::base64(&system.certificate(&rnc)), "pin": ecf_local::CERTIFICATE_PIN,
    });
    let url = format!("{}/api/v1/public/register", caller.base_url);
    let registered = caller.send(Method::POST, &url, None, Some(&request)).await.expect(201);
    let key = registered["api_key"]["key"].as_str().unwrap().to_owned();
    let hook = json!({ "url": receiver.url(), "events": ["ecf.*"] });
    caller
        .of_company(&key, &rnc)
        .post("/client/webhooks", &hook)
        .await
        .expect(201);
    Company { rnc, key }
}

/// An answered request.
struct Issued {
    public_id: String,
    encf: String,
    company: usize,
    ecf_type: &'static str,
    sent: Instant,
    answered: Instant,
    /// How much later than planned the request was sent.
    late: Duration,
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes of full load; its numbers are in docs/load.md"]
async fn a_day_of_receipts_is_measured() {
    let plan = Plan::of_environment();
    let logs = Logs::install();
    let system = System::with(RunOptions {
        speed: Some(plan.speed.try_into().unwrap()),
        aws_latency: plan.latency,
        ..RunOptions::default()
    })
    .await;
    let local = &system.local;
    let receiver = Receiver::start(plan.latency).await;
    let mut companies = Vec::new();
    for number in 0..plan.companies {
        companies.push(company(&system, &receiver, number).await);
    }
    let companies = Arc::new(companies);
    if plan.latency {
        let order = latency::of_authority();
        system.caller.control(Method::POST, "faults", &order).await;
    }
    let (functions, calls) = (local.invocations(), local.aws_calls());
    let (log, processor, began) = (logs.so_far(), processor_seconds(), Instant::now());
    let series = Arc::new(Mutex::new(Series::default()));
    let sent = Arc::new(Mutex::new(Vec::new()));
    let refused = Arc::new(Mutex::new(BTreeMap::<u16, u32>::new()));
    let open = Arc::new(Semaphore::new(OPEN_REQUESTS));
    let mut requests = JoinSet::new();
    let every = plan.real() / 56;
    for place in 0..plan.receipts {
        sample(local, &series, &sent, &receiver, began, every);
        let at = began + plan.real().mul_f64(plan.arrival(place));
        while Instant::now() < at {
            let pause = at.saturating_duration_since(Instant::now());
            tokio::time::sleep(pause.min(every)).await;
            sample(local, &series, &sent, &receiver, began, every);
        }
        let permit = Arc::clone(&open).acquire_owned().await.unwrap();
        let number = place as usize % companies.len();
        let note = receiver.invoice_of(&companies[number].rnc, plan.ecf_type(place) == "33");
        let ecf_type = match (plan.ecf_type(place), &note) {
            ("32", _) => "32",
            ("33", Some(_)) => "33",
            _ => "31",
        };
        let (caller, companies) = (system.caller.clone(), Arc::clone(&companies));
        let today = Fecha::at(local.clock().now()).to_string();
        let (sent, refused) = (Arc::clone(&sent), Arc::clone(&refused));
        while let Some(done) = requests.try_join_next() {
            done.unwrap();
        }
        requests.spawn(async move {
            let company = &companies[number];
            let mut sale = payload(&company.rnc, &today, ecf_type, 1_000);
            if let Some((encf, date)) = note.filter(|_| ecf_type == "33") {
                sale["InformacionReferencia"] =
                    json!({ "NCFModificado": encf, "FechaNCFModificado": date, "CodigoModificacion": 3 });
            }
            let body = json!({ "idempotency_key": format!("sale {place}"), "ecf_type": ecf_type, "payload": sale });
            let url = format!("{}/api/v1/ecf", caller.base_url);
            let begun = Instant::now();
            let (status, answer) = caller.send_unchecked(&url, &company.key, &body).await;
            if status == 201 {
                sent.lock().unwrap().push(Issued {
                    public_id: answer["public_id"].as_str().unwrap().to_owned(),
                    encf: answer["encf"].as_str().unwrap().to_owned(),
                    company: number,
                    ecf_type,
                    sent: begun,
                    answered: Instant::now(),
                    late: begun.saturating_duration_since(at),
                });
            } else {
                eprintln!("{status} {answer}");
                *refused.lock().unwrap().entry(status).or_default() += 1;
            }
            drop(permit);
        });
    }
    while let Some(done) = requests.join_next().await {
        done.unwrap();
    }
    let issuing = began.elapsed();
    let issued = sent.lock().unwrap().len();
    while receiver.count() < issued && began.elapsed() < issuing + UNTIL_DELIVERED {
        tokio::time::sleep(Duration::from_millis(50)).await;
        sample(local, &series, &sent, &receiver, began, every);
    }
    let took = began.elapsed();
    // The last functions end after the last webhook has arrived.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let processor = processor_seconds() - processor;
    let functions = since(&functions, &local.invocations());
    let calls: BTreeMap<_, _> = local
        .aws_calls()
        .into_iter()
        .map(|(name, count)| (name.clone(), count - calls.get(&name).unwrap_or(&0)))
        .filter(|(_, count)| *count > 0)
        .collect();
    let log = logs.so_far() - log;
    let sent = std::mem::take(&mut *sent.lock().unwrap());
    let numbers: HashSet<_> = sent.iter().map(|one| (one.company, &one.encf)).collect();
    let delivered = receiver.delivered();
    let webhook = sent
        .iter()
        .filter_map(|one| Some(delivered.get(&one.public_id)?.0.duration_since(one.sent)));
    let types = sent.iter().fold(BTreeMap::<_, u32>::new(), |mut types, one| {
        *types.entry(one.ecf_type).or_default() += 1;
        types
    });
    let mut statuses: HashMap<&str, u32> = HashMap::new();
    for (_, status) in delivered.values() {
        *statuses.entry(status).or_default() += 1;
    }
    let report = json!({
        "run": {
            "date": jiff::fmt::strtime::format("%Y-%m-%d", ecf_runtime::Clock::system().now()).unwrap(),
            "build": if cfg!(debug_assertions) { "debug" } else { "release" },
            "cores": std::thread::available_parallelism().unwrap().get(),
            "receipts": issued, "types": types, "companies": plan.companies,
            "speed": plan.speed, "minutes": plan.minutes,
            "latencies_ms": plan.latency.then(latency::assumed),
        },
        "seconds": { "issuing": issuing.as_secs_f64(), "until_delivered": took.as_secs_f64(), "processor": processor },
        "refused": &*refused.lock().unwrap(),
        "verdicts": statuses,
        "repeated": { "numbers": issued - numbers.len(), "webhooks": receiver.repeated() },
        "milliseconds": {
            "answer": percentiles(sent.iter().map(|one| one.answered - one.sent)),
            "verdict": percentiles(verdicts(&system, &companies, &sent, plan.speed).await),
            "webhook": percentiles(webhook),
            "late": percentiles(sent.iter().map(|one| one.late)),
        },
        "functions": functions,
        "aws_calls": calls,
        "logs": { "lines": log.lines, "bytes": log.bytes, "metric_line_bytes": measured::metric_line_bytes() },
        "series": &*series.lock().unwrap(),
    });
    std::fs::write(&plan.out, serde_json::to_string_pretty(&report).unwrap()).unwrap();
    eprintln!("{report:#}");
    assert_eq!(numbers.len(), issued, "a number was given twice");
    assert_eq!(delivered.len(), issued, "receipts without a webhook");
    system.local.shutdown().await;
}

/// The real time from the request to the verdict, of some receipts, by their records.
async fn verdicts(system: &System, companies: &[Company], sent: &[Issued], speed: u32) -> Vec<Duration> {
    let mut took = Vec::new();
    for one in sent.iter().step_by(sent.len().div_ceil(SAMPLE).max(1)) {
        let company = &companies[one.company];
        let caller = system.caller.of_company(&company.key, &company.rnc);
        let receipt = caller.get(&format!("/ecf/{}", one.public_id)).await.expect(200);
        let instant = |name: &str| receipt[name].as_str()?.parse::<jiff::Timestamp>().ok();
        if let (Some(created), Some(completed)) = (instant("created_at"), instant("completed_at")) {
            took.push(Duration::try_from(completed.duration_since(created)).unwrap() / speed);
        }
    }
    took
}

fn sample(
    local: &Local,
    series: &Mutex<Series>,
    sent: &Mutex<Vec<Issued>>,
    receiver: &Receiver,
    began: Instant,
    every: Duration,
) {
    let mut series = series.lock().unwrap();
    if began.elapsed() >= every * series.len() {
        let counts = (sent.lock().unwrap().len(), receiver.count());
        series.add(began.elapsed(), counts, &local.oldest_messages());
    }
}

/// What each function took since these counts.
fn since(
    before: &BTreeMap<String, ecf_local::Invocations>,
    now: &BTreeMap<String, ecf_local::Invocations>,
) -> BTreeMap<String, Value> {
    let mut took = BTreeMap::new();
    for (name, now) in now {
        let before = before.get(name).copied().unwrap_or_default();
        if now.count > before.count {
            let value = json!({
                "invocations": now.count - before.count,
                "messages": now.messages - before.messages,
                "seconds": (now.wall - before.wall).as_secs_f64(),
                "busy_seconds": (now.busy - before.busy).as_secs_f64(),
            });
            took.insert(name.clone(), value);
        }
    }
    took
}
