//! Reading the receipt, and the attempt of the certification that it belongs to.

use ecf::sending::Purpose;
use ecf_store::{Receipt, SubmissionJob};

use crate::App;
use crate::report::{Happened, Report, Reported, Words};

pub(crate) async fn receipt(app: &App, job: &SubmissionJob, purpose: Purpose<Words>) -> Reported {
    let receipt = app.table.receipt(&job.scope(), &job.receipt()).await?;
    Ok(match receipt {
        Some(receipt) => Report::of_receipt(Happened::Loaded(purpose), receipt),
        None => Happened::Missing.into(),
    })
}

pub(crate) async fn attempt(app: &App, receipt: &Receipt) -> Reported {
    let is_of_earlier = app
        .table
        .is_of_earlier_attempt(&receipt.scope, receipt.created_at)
        .await?;
    let happened = if is_of_earlier {
        Happened::OfEarlierAttempt
    } else {
        Happened::OfCurrentAttempt
    };
    Ok(happened.into())
}
