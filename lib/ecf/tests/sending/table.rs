//! The next step after every event, in every standing of a receipt.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;

use ecf::sending::{
    Before, Call, Claim, FailCause, Finding, Grounds, Happened, Invoice, Judgement, LookUp, Lost, NotClaimed, Purpose,
    Said, Standing, Task, Then, decide,
};
use ecf::{Environment, ReceiptState};
use jiff::{SignedDuration, Timestamp};

type Event = Happened<&'static str>;

/// The names of all events; the compiler asks for each.
macro_rules! kinds {
    ($($kind:ident),* $(,)?) => {
        const KINDS: &[&str] = &[$(stringify!($kind)),*];
        fn kind(event: &Event) -> &'static str {
            match event { $(Happened::$kind { .. } => stringify!($kind)),* }
        }
    };
}

kinds![
    Came,
    Missing,
    StoreFailed,
    GatesOpen,
    GatesClosed,
    Held,
    Loaded,
    OfEarlierAttempt,
    OfCurrentAttempt,
    Authenticated,
    NoCertificate,
    UnusableCertificate,
    CertificateRefused,
    NoToken,
    Claimed,
    Leased,
    NotClaimed,
    NoInvoiceNamed,
    InvoiceMissing,
    InvoiceRead,
    OpenCredit,
    NoOpenCredit,
    NoteCleared,
    InvoiceChanged,
    NoDocument,
    DocumentUnreadable,
    Taken,
    SummaryJudged,
    Refused,
    NothingTaken,
    OutcomeUnknown,
    TrackRecorded,
    Released,
    AnswerLost,
    Found,
    NegativeRecorded,
    NegativeNotRecorded,
    Polled,
    PollFailed,
    NegativesForgotten,
    TrackReplaced,
    ReturnedToSend,
    Overtaken,
    VerdictRecorded,
    FailureRecorded,
    Logged,
    Finished,
];

fn now() -> Timestamp {
    "2026-11-29T12:00:00Z".parse().unwrap()
}

/// A receipt in this state, as it usually is: sent once if it is past its send, and with its track id.
fn usual(state: ReceiptState) -> Standing {
    let is_past_send = state == ReceiptState::Submitted || state.is_final();
    Standing {
        state,
        has_look_up: true,
        sends: is_past_send.into(),
        has_track_id: is_past_send,
        ..Standing::unread(Environment::Ecf, now())
    }
}

struct Case {
    name: String,
    task: Task,
    attempt: u32,
    standing: Standing,
}

fn cases() -> Vec<Case> {
    let signed = usual(ReceiptState::Signed);
    let submitted = usual(ReceiptState::Submitted);
    let lease_ran_out = Standing {
        sends: 1,
        lease_until: Some(now() - SignedDuration::from_secs(5)),
        ..signed
    };
    let being_sent = Standing {
        sends: 1,
        lease_until: Some(now() + SignedDuration::from_secs(40)),
        ..signed
    };
    let of_certification = |standing| Standing {
        environment: Environment::CerteCF,
        has_look_up: false,
        ..standing
    };
    let special = [
        ("signed, being sent", being_sent),
        ("signed, being sent again", Standing { sends: 2, ..being_sent }),
        ("signed, lease ran out", lease_ran_out),
        (
            "signed, lease ran out, found nothing once",
            Standing {
                negatives: 1,
                ..lease_ran_out
            },
        ),
        (
            "signed, lease ran out, found nothing twice",
            Standing {
                negatives: 2,
                ..lease_ran_out
            },
        ),
        ("signed, CerteCF", of_certification(signed)),
        ("signed, CerteCF, lease ran out", of_certification(lease_ran_out)),
        (
            "signed, invoice read four times",
            Standing {
                invoice_reads: 4,
                ..signed
            },
        ),
    ];
    let asked = [
        ("submitted", submitted),
        ("submitted, sent again", Standing { sends: 2, ..submitted }),
        (
            "submitted, sent again a while ago",
            Standing {
                sends: 2,
                resent_at: Some(now() - SignedDuration::from_hours(1)),
                ..submitted
            },
        ),
        (
            "submitted, four hours ago",
            Standing {
                submitted_at: now() - SignedDuration::from_hours(4),
                ..submitted
            },
        ),
        (
            "submitted, found nothing once",
            Standing {
                negatives: 1,
                ..submitted
            },
        ),
        (
            "submitted, found nothing twice",
            Standing {
                negatives: 2,
                ..submitted
            },
        ),
        ("submitted, CerteCF", of_certification(submitted)),
    ];
    let states = ReceiptState::ALL
        .into_iter()
        .filter(|state| *state != ReceiptState::Submitted)
        .map(|state| (state.to_string(), usual(state)));
    let sends = states.chain(special.map(|(name, standing)| (name.to_owned(), standing)));
    let sends = sends.map(|(name, standing)| (name, Task::Send, 0, standing));
    let late = [
        ("signed, attempt 4", Task::Send, 3, signed),
        ("signed, attempt 8", Task::Send, 7, signed),
        ("submitted, attempt 10", Task::Poll, 9, submitted),
    ];
    let polls = asked.map(|(name, standing)| (name, Task::Poll, 0, standing));
    let others = late.into_iter().chain(polls);
    let others = others.map(|(name, task, attempt, standing)| (name.to_owned(), task, attempt, standing));
    let all = sends.chain(others);
    all.map(|(name, task, attempt, standing)| Case {
        name,
        task,
        attempt,
        standing,
    })
    .collect()
}

fn events() -> Vec<Event> {
    let until = now() + SignedDuration::from_mins(10);
    let soon = Some(Duration::from_secs(40));
    let late = Some(Duration::from_secs(3_600));
    let refused = |rejection| Said {
        rejection,
        answer: "1209",
    };
    let used = || LookUp::UsedNumber(refused(None));
    let rejected = |grounds| Judgement::Rejected {
        secuencia_utilizada: Some(false),
        grounds,
    };
    let judgements = [
        Judgement::Accepted,
        Judgement::ConditionallyAccepted,
        rejected(Grounds::Given),
        rejected(Grounds::NotGiven),
        rejected(Grounds::AlreadyUsed),
        Judgement::InProcess,
        Judgement::NotFound,
        Judgement::Unclear,
    ];
    let findings = || {
        let track = || "T".to_owned();
        let judged = judgements
            .into_iter()
            .map(move |judgement| Finding::Judged(judgement, "found", Some(track())));
        let others = [
            Finding::Nothing,
            Finding::OtherBytes,
            Finding::Unclear,
            Finding::Failed(None),
            Finding::Failed(late),
        ];
        [Finding::Track(track())].into_iter().chain(judged).chain(others)
    };
    let invoice = Invoice {
        state: ReceiptState::Accepted,
        secuencia_utilizada: None,
        awaited_since: now() - SignedDuration::from_hours(1),
        await_limit: Some(SignedDuration::from_hours(72)),
        covers_note: true,
        is_annulled: false,
    };
    let invoices = ReceiptState::ALL.into_iter().map(|state| Invoice { state, ..invoice });
    let left_free = Invoice {
        state: ReceiptState::Rejected,
        secuencia_utilizada: Some(false),
        ..invoice
    };
    let hours = |hours| Some(SignedDuration::from_hours(hours));
    let invoices = invoices.chain([
        left_free,
        Invoice {
            await_limit: hours(1),
            ..left_free
        },
        Invoice {
            awaited_since: now() - SignedDuration::from_mins(50),
            await_limit: hours(1),
            ..left_free
        },
        Invoice {
            covers_note: false,
            ..invoice
        },
        Invoice {
            is_annulled: true,
            ..invoice
        },
        Invoice {
            await_limit: None,
            ..left_free
        },
        Invoice {
            is_annulled: true,
            await_limit: None,
            ..invoice
        },
    ]);
    let mut events = vec![
        Happened::Came,
        Happened::GatesOpen(Before::Job),
        Happened::GatesOpen(Before::Retry(None)),
        Happened::GatesOpen(Before::Retry(soon)),
        Happened::GatesOpen(Before::Retry(late)),
        Happened::GatesOpen(Before::Question(None)),
        Happened::GatesOpen(Before::Question(soon)),
        Happened::GatesOpen(Before::Question(late)),
        Happened::GatesClosed(until),
        Happened::Held(Call::Token, until),
        Happened::Held(Call::Send, until),
        Happened::Held(Call::LookUp(LookUp::Lost(Lost::Answer)), until),
        Happened::Held(Call::LookUp(LookUp::Lost(Lost::Document)), until),
        Happened::Held(Call::LookUp(used()), until),
        Happened::Missing,
        Happened::StoreFailed,
        Happened::Loaded(Purpose::Attempt),
        Happened::Loaded(Purpose::Poll),
        Happened::Loaded(Purpose::Hold(until)),
        Happened::Loaded(Purpose::Stop(FailCause::CertificateMissing)),
        Happened::OfEarlierAttempt,
        Happened::OfCurrentAttempt,
        Happened::Authenticated,
        Happened::NoCertificate,
        Happened::UnusableCertificate("why".to_owned()),
    ];
    events.extend([false, true].map(|is_wrong_kind| Happened::CertificateRefused {
        is_wrong_kind,
        answer: "refused",
    }));
    events.push(Happened::NoToken(soon));
    for claim in [Claim::First, Claim::Cleared, Claim::LookUp, Claim::Resend] {
        events.push(Happened::Claimed(claim));
        let reasons = [
            NotClaimed::LeaseExpired,
            NotClaimed::NoteAwaitsInvoice,
            NotClaimed::NotSendable,
            NotClaimed::Missing,
        ];
        events.extend(reasons.map(|why| Happened::NotClaimed(claim, why)));
    }
    events.extend([Happened::Leased, Happened::NoInvoiceNamed, Happened::InvoiceMissing]);
    events.extend(invoices.map(Happened::InvoiceRead));
    events.extend([
        Happened::OpenCredit,
        Happened::NoOpenCredit,
        Happened::NoteCleared,
        Happened::InvoiceChanged,
        Happened::NoDocument,
        Happened::DocumentUnreadable,
        Happened::Taken("T".to_owned()),
    ]);
    events.extend(judgements.map(|judgement| Happened::SummaryJudged(judgement, "answer")));
    events.extend([false, true].map(|is_already_used| Happened::Refused {
        is_already_used,
        answer: "refused",
    }));
    events.extend([
        Happened::NothingTaken(soon),
        Happened::OutcomeUnknown(soon),
        Happened::TrackRecorded,
    ]);
    for then in [Then::Hold(until), Then::Retry(soon), Then::RetryStore] {
        events.extend([Happened::Released(then), Happened::AnswerLost(then)]);
    }
    let reasons = [
        LookUp::Lost(Lost::Answer),
        LookUp::Lost(Lost::Document),
        used(),
        LookUp::UsedNumber(refused(Some(None))),
    ];
    for why in reasons {
        events.extend(findings().map(|finding| Happened::Found(why.clone(), finding)));
    }
    for lost in [Lost::Answer, Lost::Document] {
        events.extend([Happened::NegativeRecorded(lost), Happened::NegativeNotRecorded(lost)]);
    }
    events.extend(judgements.map(|judgement| Happened::Polled(judgement, "answer")));
    events.extend([
        Happened::PollFailed(soon),
        Happened::NegativesForgotten,
        Happened::TrackReplaced,
        Happened::ReturnedToSend,
        Happened::Overtaken,
        Happened::VerdictRecorded,
        Happened::FailureRecorded,
        Happened::Logged,
        Happened::Finished,
    ]);
    events
}

#[test]
fn the_next_step_after_every_event() {
    let cases = cases();
    let mut table = String::new();
    let mut seen = BTreeSet::new();
    for event in events() {
        seen.insert(kind(&event));
        let mut steps = BTreeMap::<String, Vec<&str>>::new();
        for case in &cases {
            let step = decide(case.task, case.attempt, &case.standing, event.clone(), now());
            steps.entry(format!("{step:?}")).or_default().push(&case.name);
        }
        let (usual, _) = steps.iter().max_by_key(|(_, names)| names.len()).unwrap();
        writeln!(table, "{event:?}\n    -> {usual}").unwrap();
        for (step, names) in steps.iter().filter(|(step, _)| *step != usual) {
            writeln!(table, "    -> {step}  if {}", names.join(" | ")).unwrap();
        }
    }
    assert_eq!(
        seen,
        BTreeSet::from_iter(KINDS.iter().copied()),
        "an event without a row"
    );
    insta::assert_snapshot!(table);
}
