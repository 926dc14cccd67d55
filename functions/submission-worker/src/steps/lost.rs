//! What look-ups by number found of a lost answer or a lost document, on the receipt's record.

use ecf::sending::Lost;
use ecf_runtime::Metric;
use ecf_store::{
    Receipt,
    receipts::{NotFoundBy, Recorded},
};

use crate::App;
use crate::report::{Happened, Report, Reported};

/// Counts a look-up that found nothing, at most one a minute.
pub(crate) async fn record_negative(app: &App, receipt: &Receipt, lost: Lost) -> Reported {
    let (scope, id, now) = (&receipt.scope, &receipt.public_id, app.clock.now());
    let recorded = match lost {
        Lost::Answer => {
            app.table
                .record_lookup_negative(scope, id, receipt.sending.attempts, now)
                .await?
        }
        Lost::Document => app.table.record_not_found(scope, receipt, now).await?,
    };
    Ok(match (lost, recorded) {
        (_, Recorded::Now(receipt)) => Report::of_receipt(Happened::NegativeRecorded(lost), receipt),
        // Within a minute of the last, or another worker went on.
        (Lost::Document, Recorded::Already(receipt)) => Report::of_receipt(Happened::NegativeRecorded(lost), receipt),
        _ => Happened::NegativeNotRecorded(lost).into(),
    })
}

/// Forgets look-ups that found nothing: the authority knows the document again.
pub(crate) async fn forget_negatives(app: &App, receipt: &Receipt) -> Reported {
    app.table
        .record_found_again(&receipt.scope, receipt, app.clock.now())
        .await?;
    Ok(Happened::NegativesForgotten.into())
}

/// Takes the track id by which the authority has the document.
pub(crate) async fn replace_track(app: &App, receipt: &Receipt, track_id: &str) -> Reported {
    let now = app.clock.now();
    let replaced = app.table.replace_track(&receipt.scope, receipt, track_id, now).await?;
    let Recorded::Now(receipt) = replaced else {
        return Ok(Happened::Overtaken.into());
    };
    tracing::warn!(receipt.id = %receipt.public_id, track_id, "the document was found under another track id");
    Ok(Report::of_receipt(Happened::TrackReplaced, receipt))
}

/// Returns the receipt to its send, as if the answer to the send had been lost: the same bytes are sent again.
pub(crate) async fn return_to_send(app: &App, receipt: &Receipt) -> Reported {
    let (scope, now) = (&receipt.scope, app.clock.now());
    let returned = app
        .table
        .return_to_send(scope, receipt, NotFoundBy::LookUps, now)
        .await?;
    let Recorded::Now(receipt) = returned else {
        return Ok(Happened::Overtaken.into());
    };
    tracing::error!(
        receipt.id = %receipt.public_id,
        encf = receipt.encf().map(tracing::field::display),
        "the tax authority lost a document that it gave a track id for; the same bytes are sent again"
    );
    app.emit(receipt.scope.environment, &[(Metric::ReceiptsNotFound, 1)]);
    Ok(Report::of_receipt(Happened::ReturnedToSend, receipt))
}
