//! Runs a job: asks [`decide`] for the next step, carries it out and reports what happened, until a step ends the job.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ecf::sending::{self, Awaited, Standing, Task, decide};
use ecf_runtime::{Outcome, telemetry};
use ecf_store::{Receipt, ReceiptId, ReceiptJob, StoreError, SubmissionJob, receipts::ModifiedReceipt};
use ecf_taxauth::{Session, where_to_look};
use xmldsig::Identity;

use crate::App;
use crate::report::{Happened, Learned, Report, Words};
use crate::steps::{announce, claim, gates, load, look_up, lost, note, poll, record, submit, token};

type Step = sending::Step<Words>;

/// More steps than any job takes.
const MOST_STEPS: usize = 64;

pub(crate) async fn run(app: &App, job: &SubmissionJob) -> Outcome<SubmissionJob> {
    let opened = OnceLock::new();
    let mut run = Run {
        app,
        job,
        receipt: None,
        opened: &opened,
        session: None,
        invoice: None,
        invoice_reads: 0,
        open_credit: None,
    };
    let mut happened = Happened::Came;
    for _ in 0..MOST_STEPS {
        let step = run.decide(happened);
        happened = match step {
            Step::Retry(after) => return run.retry(after),
            Step::Enqueue(task, after) => return run.enqueue(task, after),
            Step::GiveUp => {
                return Outcome::GiveUp {
                    reason: "the receipt does not exist".to_owned(),
                };
            }
            Step::Done => return Outcome::Done,
            // Boxed: together the steps would be a large future on the stack of every caller.
            step => match Box::pin(run.carry_out(step)).await {
                Ok(report) => run.learn(report),
                Err(error) => {
                    tracing::warn!(receipt.id = %job.receipt(), error = %telemetry::chain(&error), "the store failed; the job is retried");
                    Happened::StoreFailed
                }
            },
        };
    }
    tracing::error!(receipt.id = %job.receipt(), "a job did not end within {MOST_STEPS} steps; it is retried");
    match run.decide(Happened::StoreFailed) {
        Step::Retry(after) => run.retry(after),
        _ => Outcome::Done,
    }
}

/// A job, and what its steps have learned.
struct Run<'a> {
    app: &'a App,
    job: &'a SubmissionJob,
    /// As it was last read.
    receipt: Option<Box<Receipt>>,
    /// The company's certificate and key.
    opened: &'a OnceLock<Arc<Identity>>,
    /// One for all calls of the job: a call that finds out whether the authority is back opens the gates for the next of the same
    /// session, while those of others stay closed.
    session: Option<Session<'a>>,
    invoice: Option<Box<ModifiedReceipt>>,
    invoice_reads: u32,
    open_credit: Option<ReceiptId>,
}

impl<'a> Run<'a> {
    fn decide(&self, happened: Happened) -> Step {
        let task = match self.job {
            SubmissionJob::Send(_) => Task::Send,
            SubmissionJob::Poll(_) => Task::Poll,
        };
        let now = self.app.clock.now();
        let unread = || Standing::unread(self.job.scope().environment, now);
        let seen = Standing {
            invoice_reads: self.invoice_reads,
            ..self.receipt.as_deref().map_or_else(unread, standing)
        };
        decide(task, self.job.attempt(), &seen, happened, now)
    }

    async fn carry_out(&self, step: Step) -> Result<Report<'a>, StoreError> {
        let (app, job) = (self.app, self.job);
        match step {
            Step::CheckGates(before) => gates::check(app, job, before).await,
            Step::Load(purpose) => load::receipt(app, job, purpose).await,
            Step::CheckAttempt => load::attempt(app, self.receipt()?).await,
            Step::Authenticate => token::authenticate(app, job, self.opened).await,
            Step::RetryRefusedCertificate(answer) => Ok(token::retry_refused_certificate(app, job, answer)),
            Step::LogBlocked(cause) => Ok(claim::log_blocked(job, &cause)),
            Step::Claim(kind) => claim::claim(app, job, kind).await,
            Step::Release(then) => claim::release(app, self.receipt()?, then).await,
            Step::RecordAnswerLost(then) => claim::record_answer_lost(app, self.receipt()?, then).await,
            Step::RecordOutcomeUnknown => claim::record_outcome_unknown(app, self.receipt()?).await,
            Step::ReadInvoice => note::read_invoice(app, self.receipt()?).await,
            Step::FindOpenCredit => note::find_open_credit(app, self.receipt()?, self.invoice()?).await,
            Step::AwaitVerdict(awaited) => note::await_verdict(app, job, &self.awaited(awaited)?).await,
            Step::ClearNote => note::clear(app, self.receipt()?, self.invoice()?).await,
            Step::Submit => submit::submit(app, job, self.session()?, self.receipt()?).await,
            Step::LookUp(why) => look_up::look_up(app, job, self.session()?, self.receipt()?, why).await,
            Step::PollEarlier(said, track_id) => {
                Ok(poll::poll_earlier(self.session()?, self.receipt()?, said, track_id).await)
            }
            Step::Poll => poll::poll(app, self.receipt()?, self.opened).await,
            Step::RecordNegative(what) => lost::record_negative(app, self.receipt()?, what).await,
            Step::ForgetNegatives => lost::forget_negatives(app, self.receipt()?).await,
            Step::ReplaceTrack(track_id) => lost::replace_track(app, self.receipt()?, &track_id).await,
            Step::ReturnToSend => lost::return_to_send(app, self.receipt()?).await,
            Step::RecordTrack(track_id) => record::track(app, self.receipt()?, &track_id).await,
            Step::RecordVerdict(verdict) => record::verdict(app, self.receipt()?, verdict).await,
            Step::Fail(cause) => record::failure(app, self.receipt()?, &cause).await,
            Step::Announce(effects) => Ok(announce::announce(app, self.receipt()?, effects).await),
            Step::Hold(until) => gates::hold(app, self.receipt()?, until).await,
            Step::Postpone(until) => gates::postpone(app, job, until).await,
            // `run` ends with these.
            Step::Retry(_) | Step::Enqueue(..) | Step::GiveUp | Step::Done => Ok(Happened::Finished.into()),
        }
    }

    fn learn(&mut self, report: Report<'a>) -> Happened {
        match report.learned {
            Some(Learned::Receipt(receipt)) => self.receipt = Some(receipt),
            Some(Learned::Session(session)) => self.session = Some(session),
            Some(Learned::Invoice(invoice)) => {
                self.invoice = Some(invoice);
                self.invoice_reads += 1;
            }
            Some(Learned::OpenCredit(credit)) => self.open_credit = Some(credit),
            None => {}
        }
        report.happened
    }

    fn retry(&self, after: Duration) -> Outcome<SubmissionJob> {
        Outcome::Again {
            job: self.job.clone().next(),
            after,
        }
    }

    fn enqueue(&self, task: Task, after: Duration) -> Outcome<SubmissionJob> {
        let first = ReceiptJob {
            attempt: 0,
            ..*self.job.job()
        };
        let job = match task {
            Task::Send => SubmissionJob::Send(first),
            Task::Poll => SubmissionJob::Poll(first),
        };
        Outcome::Again { job, after }
    }

    fn receipt(&self) -> Result<&Receipt, StoreError> {
        self.receipt.as_deref().ok_or_else(|| too_early("the receipt"))
    }

    fn invoice(&self) -> Result<&ModifiedReceipt, StoreError> {
        self.invoice.as_deref().ok_or_else(|| too_early("the modified receipt"))
    }

    fn awaited(&self, awaited: Awaited) -> Result<ReceiptId, StoreError> {
        match awaited {
            Awaited::Invoice => self.invoice().map(|invoice| invoice.receipt.public_id),
            Awaited::OpenCredit => self.open_credit.ok_or_else(|| too_early("the credit note")),
        }
    }

    fn session(&self) -> Result<&Session<'a>, StoreError> {
        self.session.as_ref().ok_or_else(|| too_early("the certificate"))
    }
}

/// A step that the decision asked for before the step that reads what it works on.
fn too_early(missing: &'static str) -> StoreError {
    StoreError::unexpected("step", format!("{missing} has not been read"))
}

fn standing(receipt: &Receipt) -> Standing {
    Standing {
        state: receipt.state,
        environment: receipt.scope.environment,
        has_look_up: where_to_look(receipt.scope.environment, receipt.is_sent_as_summary()).is_some(),
        sends: receipt.sending.attempts,
        lease_until: receipt.sending.lease_until,
        negatives: receipt.sending.lookup_negatives,
        has_track_id: receipt.sending.track_id.is_some(),
        submitted_at: receipt.sending.submitted_at.unwrap_or(receipt.created_at),
        resent_at: receipt.sending.resent_at,
        invoice_reads: 0,
    }
}
