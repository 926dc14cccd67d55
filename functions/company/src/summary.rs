//! `GET /api/v1/client/summary`.

mod receipts;

use axum::Json;
use axum::extract::State;
use ecf::{Environment, Fecha};
use ecf_api::{
    ApiError, Caller, CodedError, CompanyCertificateView, Fields, FromFields, Instant, ValidQuery, ValidationError,
};
use ecf_store::{
    authority::AuthorityCondition,
    companies::CompanySettings,
    fiscal_day,
    numbers::{Range, RangeAlert, RangeState, Thresholds},
    webhooks::Webhook,
};
use ecf_taxauth::held_until;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use self::receipts::{DayCountsView, OpenReceiptsView, PeriodView};
use crate::App;
use crate::show::no_company;

/// Upper bound of `days`.
const MOST_DAYS: i64 = 90;

/// What the summary shows beside the present.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SummaryQuery {
    /// `receipts.days` lists this number of days, at most 90; the last one is today.
    #[param(required = false, minimum = 0, maximum = 90, default = 0)]
    days: u32,
}

impl FromFields for SummaryQuery {
    fn read(fields: &mut Fields) -> Option<Self> {
        let days = fields.integer("days").range(0..=MOST_DAYS).or(0);
        Some(Self {
            days: u32::try_from(days).ok()?,
        })
    }
}

/// The company's data in the key's environment.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SummaryView {
    #[schema(value_type = String, example = "TesteCF")]
    environment: Environment,
    generated_at: Instant,
    receipts: ReceiptsView,
    /// `null` until a P12 was uploaded.
    certificate: Option<CompanyCertificateView>,
    /// One entry for each type that has a range.
    sequences: Vec<SequenceSummaryView>,
    inbox: InboxSummaryView,
    webhooks: WebhookHealthView,
    taxauth: TaxauthView,
}

/// How many receipts there were and what they come to. Days are the authority's, −04:00.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReceiptsView {
    today: PeriodView,
    month: PeriodView,
    open: OpenReceiptsView,
    /// One entry for each day that `days` asks for, oldest first, also for days without receipts.
    days: Vec<DayCountsView>,
}

/// The numbers of one receipt type.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SequenceSummaryView {
    ecf_type: &'static str,
    /// How many the service can still give; `null` where only the caller numbers.
    remaining: Option<u64>,
    /// How many the caller can still use; `null` where only the service numbers.
    caller_remaining: Option<u64>,
    /// The last day of the range that expires first; `null` when none does.
    #[schema(value_type = Option<String>, format = Date)]
    valid_until: Option<Date>,
    /// Every active range that the service numbers is low, as `sequence.low` reports it, or every one that the caller numbers; no
    /// active range is low too.
    low: bool,
    /// A range expires within `sequence_alert_days`, as `sequence.expiring` reports it.
    expiring: bool,
}

/// Receipts of other issuers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InboxSummaryView {
    /// How many were not acknowledged yet.
    unread: usize,
}

/// The number of webhooks that get events, and of those that do not.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WebhookHealthView {
    active: usize,
    inactive: usize,
    /// How many of the active ones took nothing since their last failure; what they miss is delivered again.
    failing: usize,
    /// Since when the first of these fails.
    #[schema(value_type = Option<String>, format = DateTime)]
    failing_since: Option<Instant>,
}

/// Whether issued receipts are being sent to the tax authority; details in `/api/v1/taxauth/status`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TaxauthView {
    /// `sent` or `held`: receipts in full, and the questions for their verdicts.
    #[schema(value_type = String, example = "sent")]
    receipts: &'static str,
    /// `sent` or `held`: summaries of consumer invoices.
    #[schema(value_type = String, example = "sent")]
    summaries: &'static str,
    /// Whether one of them is held now, so that they are issued in contingency.
    recommend_contingency: bool,
}

impl TaxauthView {
    fn of(condition: &AuthorityCondition, now: Timestamp) -> Self {
        let held = held_until(condition, now).map(|until| until.is_some());
        let [receipts, summaries] = held.map(|held| if held { "held" } else { "sent" });
        Self {
            receipts,
            summaries,
            recommend_contingency: held.contains(&true),
        }
    }
}

impl WebhookHealthView {
    fn of(webhooks: &[Webhook]) -> Self {
        let active: Vec<_> = webhooks.iter().filter(|webhook| webhook.is_active).collect();
        let failing: Vec<_> = active.iter().filter_map(|webhook| webhook.failing_since).collect();
        Self {
            active: active.len(),
            inactive: webhooks.len() - active.len(),
            failing: failing.len(),
            failing_since: failing.into_iter().min().map(Instant::from),
        }
    }
}

/// `ranges` is sorted by type.
fn sequences(ranges: &[Range], settings: &CompanySettings, today: Fecha) -> Vec<SequenceSummaryView> {
    ranges
        .chunk_by(|one, next| one.ecf_type == next.ecf_type)
        .map(|ranges| sequence(ranges, settings, today))
        .collect()
}

fn sequence(ranges: &[Range], settings: &CompanySettings, today: Fecha) -> SequenceSummaryView {
    let thresholds = Thresholds {
        remaining: settings.sequence_alert_remaining.into(),
        days: settings.sequence_alert_days,
    };
    let is_low = |range: &&Range| {
        let mut alerts = range.alerts(thresholds, today).into_iter();
        alerts.any(|alert| matches!(alert, RangeAlert::Low { .. }))
    };
    let is_expiring = |range: &&Range| {
        let mut alerts = range.alerts(thresholds, today).into_iter();
        alerts.any(|alert| matches!(alert, RangeAlert::Expiring { .. }))
    };
    let usable: Vec<_> = ranges
        .iter()
        .filter(|range| range.state(today) == RangeState::Active)
        .collect();
    let (by_caller, by_service): (Vec<&Range>, Vec<&Range>) = usable.iter().partition(|range| range.is_callers());
    // A type without ranges of one kind (`service` or `caller`) reports no count for that kind.
    let has = |callers: bool| ranges.iter().any(|range| range.is_callers() == callers);
    let left = |of_kind: &[&Range]| of_kind.iter().map(|range| range.available()).sum();
    SequenceSummaryView {
        ecf_type: ranges.first().map_or("", |range| range.ecf_type.as_str()),
        remaining: has(false).then(|| left(&by_service)),
        caller_remaining: has(true).then(|| left(&by_caller)),
        valid_until: usable
            .iter()
            .filter_map(|range| range.valid_until)
            .min()
            .map(|day| day.date()),
        low: has(false) && by_service.iter().all(is_low) || has(true) && by_caller.iter().all(is_low),
        expiring: usable.iter().any(is_expiring),
    }
}

/// Resumen de la empresa
///
/// How the company stands today: receipts, numbers, certificate, inbox, webhooks, the tax authority. `receipts.days` has the days
/// that `days` asks for, and `receipts.open` what is under way.
#[utoipa::path(
    get,
    path = "/api/v1/client/summary",
    tag = "Empresa",
    params(SummaryQuery),
    responses(
        (status = 200, description = "Counts and amounts of today and this month, numbers, certificate, inbox, webhooks, the tax authority", body = SummaryView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "A bad parameter, or a missing key", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn summary(
    State(app): State<App>,
    caller: Caller,
    ValidQuery(query): ValidQuery<SummaryQuery>,
) -> Result<Json<SummaryView>, ApiError> {
    let now = app.clock.now();
    let (environment, scope) = (caller.environment(), &caller.scope);
    let today = fiscal_day(now);
    let first = today.first_of_month();
    let listed = DayCountsView::days(query.days, today);
    let oldest = listed.first().map_or(first, |day| first.min(*day));
    let (company, days, open, ranges, unread, webhooks, condition) = tokio::try_join!(
        app.table.company(caller.company()),
        app.table.day_counts(scope, oldest, today),
        app.table.open_receipts(scope, now),
        app.table.ranges(scope, None),
        app.table.count_unread(scope),
        app.table.webhooks(scope),
        app.table.condition(environment),
    )?;
    let company = company.ok_or_else(no_company)?;
    Ok(Json(SummaryView {
        environment,
        generated_at: now.into(),
        receipts: ReceiptsView {
            today: PeriodView::of(today, today, &days),
            month: PeriodView::of(first, today, &days),
            open: OpenReceiptsView::from(open),
            days: listed.into_iter().map(|day| DayCountsView::of(day, &days)).collect(),
        },
        certificate: company
            .certificate
            .map(|certificate| CompanyCertificateView::of(&certificate, environment, now)),
        sequences: sequences(&ranges, &company.settings, Fecha::at(now)),
        inbox: InboxSummaryView { unread },
        webhooks: WebhookHealthView::of(&webhooks),
        taxauth: TaxauthView::of(&condition, now),
    }))
}
