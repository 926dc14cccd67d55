//! Holding receipts while the authority is out of reach: nothing is claimed, sent or asked, and the due index brings them
//! back when the gates may open.

use ecf_runtime::Outcome;
use ecf_store::{Host, Receipt, StoreError, SubmissionJob};
use ecf_taxauth::{Held, Passage, Service, where_to_look};
use jiff::Timestamp;

use crate::{App, send};

/// Holds a job's receipt if its host is closed. `None`: the job may go on.
pub(crate) async fn if_closed(app: &App, job: &SubmissionJob) -> Result<Option<Outcome<SubmissionJob>>, StoreError> {
    let scope = job.scope();
    let gates = app.tokens.gates();
    let [ecf, fc] = [
        gates.passage(scope.environment, Host::Ecf).await,
        gates.passage(scope.environment, Host::Fc).await,
    ];
    // The usual case, which reads nothing.
    if !is_closed(ecf) && !is_closed(fc) {
        return Ok(None);
    }
    let Some(receipt) = app.table.receipt(&scope, &job.receipt()).await? else {
        return Ok(Some(send::missing()));
    };
    let passage = match host(&receipt) {
        Host::Ecf => ecf,
        Host::Fc => fc,
    };
    let Passage::Closed(until) = passage else {
        return Ok(None);
    };
    hold(app, &receipt, until).await.map(Some)
}

/// Holds a job's receipt because one of its calls was.
pub(crate) async fn until(app: &App, job: &SubmissionJob, held: Held) -> Result<Outcome<SubmissionJob>, StoreError> {
    match app.table.receipt(&job.scope(), &job.receipt()).await? {
        Some(receipt) => hold(app, &receipt, held.until).await,
        None => Ok(send::missing()),
    }
}

fn is_closed(passage: Passage) -> bool {
    matches!(passage, Passage::Closed(_))
}

/// The host that the receipt's next call goes to, its token aside.
fn host(receipt: &Receipt) -> Host {
    let is_summary = receipt.is_sent_as_summary();
    match receipt.lease_until {
        // Its send may have arrived: it is looked up first.
        Some(_) => where_to_look(receipt.scope.environment, is_summary).map_or(Host::Ecf, Service::host),
        None if is_summary => Host::Fc,
        None => Host::Ecf,
    }
}

async fn hold(app: &App, receipt: &Receipt, until: Timestamp) -> Result<Outcome<SubmissionJob>, StoreError> {
    if app.table.hold(&receipt.scope, receipt, until, app.clock.now()).await? {
        tracing::info!(receipt.id = %receipt.public_id, state = %receipt.state, %until, "held: the authority is out of reach");
    }
    Ok(Outcome::Done)
}
