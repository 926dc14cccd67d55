//! `POST /api/v1/ecf?validate_only=true`: all steps of issuing except storing.

use ecf::FechaHora;
use ecf_api::ApiError;
use ecf_issuance::note;
use ecf_store::{Scope, companies::CompanySettings};
use jiff::Timestamp;

use crate::App;
use crate::check::{Checked, listed, refused};
use crate::numbering::foresee;
use crate::views::{TotalsView, ValidationView};

/// The forecast of a document that passed every check.
pub(crate) async fn forecast(
    app: &App,
    scope: &Scope,
    checked: Checked,
    settings: &CompanySettings,
    now: Timestamp,
) -> Result<ValidationView, ApiError> {
    let mut warnings = checked.warnings;
    let document = checked.ecf.document();
    let note = note::judge(
        &app.table,
        scope,
        document,
        checked.ecf.receipt_type(),
        settings.hold_notes,
    )
    .await?;
    warnings.extend(note::waits(note.as_ref()));
    let number = foresee(app, scope, &checked.ecf, now).await?;
    let totals = TotalsView::of(&checked.ecf.document().encabezado.totales);
    let numbered = checked
        .ecf
        .numbered(number.encf, number.valid_until)
        .map_err(|violation| refused(vec![*violation]))?;
    let xml = String::from_utf8(numbered.to_xml(FechaHora::at(now))).map_err(ApiError::internal)?;
    Ok(ValidationView {
        verdict_forecast: if checked.conditional {
            "conditionally_accepted"
        } else {
            "accepted"
        },
        warnings: listed(&warnings),
        totals,
        encf: numbered.encf().to_string(),
        xml,
    })
}
