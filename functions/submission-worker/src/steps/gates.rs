//! While the authority is out of reach nothing is claimed, sent or asked: the due index brings a receipt back when the gates
//! may open.

use ecf::sending::Before;
use ecf_store::{Receipt, SubmissionJob, breaker::Host};
use ecf_taxauth::{Passage, Service, where_to_look};
use jiff::Timestamp;

use crate::App;
use crate::report::{Happened, Report, Reported};

/// Finds out whether the receipt's host is closed.
pub(crate) async fn check(app: &App, job: &SubmissionJob, before: Before) -> Reported {
    let scope = job.scope();
    let gates = app.tokens.gates();
    let [ecf, fc] = [
        gates.passage(scope.environment, Host::Ecf).await,
        gates.passage(scope.environment, Host::Fc).await,
    ];
    // The usual case, which reads nothing.
    if !is_closed(ecf) && !is_closed(fc) {
        return Ok(open(app, job, before));
    }
    let Some(receipt) = app.table.receipt(&scope, &job.receipt()).await? else {
        return Ok(Happened::Missing.into());
    };
    let passage = match host(&receipt) {
        Host::Ecf => ecf,
        Host::Fc => fc,
    };
    Ok(match passage {
        Passage::Closed(until) => Report::of_receipt(Happened::GatesClosed(until), receipt),
        _ => open(app, job, before),
    })
}

fn is_closed(passage: Passage) -> bool {
    matches!(passage, Passage::Closed(_))
}

fn open(app: &App, job: &SubmissionJob, before: Before) -> Report<'static> {
    // A question that closed the gates counts as an outage, not as an error.
    if matches!(before, Before::Question(_)) {
        app.emit_error(job);
    }
    Happened::GatesOpen(before).into()
}

/// The host that the receipt's next call goes to, its token aside.
fn host(receipt: &Receipt) -> Host {
    let is_summary = receipt.is_sent_as_summary();
    match receipt.sending.lease_until {
        // Its send may have arrived: it is looked up first.
        Some(_) => where_to_look(receipt.scope.environment, is_summary).map_or(Host::Ecf, Service::host),
        None if is_summary => Host::Fc,
        None => Host::Ecf,
    }
}

/// Holds the receipt: one that waits for its send becomes `contingency`.
pub(crate) async fn hold(app: &App, receipt: &Receipt, until: Timestamp) -> Reported {
    if app.table.hold(&receipt.scope, receipt, until, app.clock.now()).await? {
        tracing::info!(receipt.id = %receipt.public_id, state = %receipt.state, %until, "the receipt is held: the tax authority is unreachable");
    }
    Ok(Happened::Finished.into())
}

/// Leaves the receipt to the due index until then.
pub(crate) async fn postpone(app: &App, job: &SubmissionJob, until: Timestamp) -> Reported {
    app.table.postpone(&job.scope(), &job.receipt(), until).await?;
    Ok(Happened::Finished.into())
}
