//! A repeated `idempotency_key`: what its request asks for that the stored receipt does not have.
//!
//! The same key always answers with the same receipt. A caller that reuses a key for another document would take the
//! answer for its own, so the body of the answer says what differs.

use ecf::totals::IscRates;
use ecf::{Draft, Fecha, Monto};
use ecf_api::{ApiError, FieldError};
use ecf_language::{Bilingual, say};
use ecf_runtime::Metric;
use ecf_store::Receipt;

use crate::App;
use crate::request::{IssueQuery, IssueRequest, OnReplay};

/// One property that differs, with both values where they are known.
struct Difference {
    name: &'static str,
    values: Option<(String, String)>,
}

impl Difference {
    fn of(name: &'static str, stored: impl Into<String>, given: impl Into<String>) -> Option<Self> {
        let (stored, given) = (stored.into(), given.into());
        (stored != given).then_some(Self {
            name,
            values: Some((stored, given)),
        })
    }
}

/// Reports a request that differs from the receipt of its key: as a metric, and to the caller.
///
/// # Errors
/// 409 when the request differs and `on_replay` is `refuse`.
pub(crate) fn compare(
    app: &App,
    existing: &Receipt,
    request: &IssueRequest,
    query: &IssueQuery,
    payload_hash: [u8; 32],
) -> Result<Option<FieldError>, ApiError> {
    let differences = differences(existing, request, query, payload_hash);
    if differences.is_empty() {
        return Ok(None);
    }
    tracing::info!(receipt.id = %existing.public_id, "an idempotency key was repeated with another request");
    let environment = existing.scope.environment.as_str();
    app.metrics
        .emit(environment, &[(Metric::ReplaysDiffering, 1)], app.clock.now());
    let warning = warning(existing, &differences);
    match query.on_replay {
        OnReplay::Answer => Ok(Some(warning)),
        OnReplay::Refuse => Err(ApiError::conflict("replay_differs", warning.msg)),
    }
}

fn differences(
    existing: &Receipt,
    request: &IssueRequest,
    query: &IssueQuery,
    payload_hash: [u8; 32],
) -> Vec<Difference> {
    let fiscal = &existing.fiscal;
    let mut found: Vec<_> = Difference::of("ecf_type", fiscal.ecf_type.as_str(), request.ecf_type.as_str())
        .into_iter()
        .collect();
    if existing.payload_hash == payload_hash {
        return found;
    }
    found.push(Difference {
        name: "payload",
        values: None,
    });
    // A payload that cannot be read differs, and its amounts are unknown.
    let amounts = query.amounts_in(existing.scope.environment);
    let Ok((mut draft, _)) = Draft::read(request.ecf_type, &request.payload, amounts) else {
        return found;
    };
    draft.complete(&IscRates::of(existing.scope.environment));
    let header = &draft.document().encabezado;
    let text = |value: Option<String>| value.unwrap_or_default();
    let total = text(header.totales.monto_total.as_ref().map(Monto::to_string));
    let buyer = text(header.comprador.rnc_comprador.as_ref().map(ToString::to_string));
    let day = text(header.emisor.fecha_emision.map(|day: Fecha| day.to_string()));
    found.extend(Difference::of("MontoTotal", fiscal.monto_total.as_str(), total));
    found.extend(Difference::of(
        "RNCComprador",
        text(fiscal.rnc_comprador.clone()),
        buyer,
    ));
    found.extend(Difference::of("FechaEmision", fiscal.fecha_emision.to_string(), day));
    found
}

fn warning(existing: &Receipt, differences: &[Difference]) -> FieldError {
    let named = match existing.encf() {
        Some(encf) => say!("receipt {encf}", "el comprobante {encf}"),
        None => say!("receipt {}", "el comprobante {}", existing.public_id),
    };
    let shown = differences.iter().map(|difference| match &difference.values {
        Some((stored, given)) => {
            let or_none = |value: &String| {
                if value.is_empty() {
                    say!("none", "ninguno")
                } else {
                    Bilingual::same(value.clone())
                }
            };
            let (name, stored, given) = (difference.name, or_none(stored), or_none(given));
            say!(
                [stored, given],
                "{name} (there {stored}, here {given})",
                "{name} (allí {stored}, aquí {given})"
            )
        }
        None => Bilingual::same(difference.name),
    });
    let shown = Bilingual::joined(&shown.collect::<Vec<_>>(), ", ");
    let msg = say!(
        [named, shown],
        "this idempotency_key already has {named}, and no other was issued; this request differs in {shown}; use a \
         new key for another document",
        "esta idempotency_key ya tiene {named}, y no se emitió otro; esta petición difiere en {shown}; use una clave \
         nueva para otro documento"
    );
    let names: Vec<_> = differences.iter().map(|difference| difference.name).collect();
    let side = |pick: fn(&(String, String)) -> &String| -> serde_json::Map<String, serde_json::Value> {
        let known = differences
            .iter()
            .filter_map(|one| Some((one.name, one.values.as_ref()?)));
        known
            .map(|(name, values)| (name.to_owned(), pick(values).clone().into()))
            .collect()
    };
    FieldError::new(["body", "idempotency_key"], "idempotency_replayed", msg)
        .with_code("REPETICION-01")
        .with_ctx("differs", names)
        .with_ctx("expected", side(|(stored, _)| stored))
        .with_ctx("given", side(|(_, given)| given))
}
