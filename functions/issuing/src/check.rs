//! Validates a document before anything is stored: structure, amounts, fiscal rules.

use ecf::rules::{self, OnConditional};
use ecf::totals::IscRates;
use ecf::{Draft, Ecf, FailReason, Fecha, Grade, Node, Violation};
use ecf_api::{ApiError, FieldError};
use ecf_language::say;
use ecf_store::companies::CompanySettings;
use jiff::Timestamp;

use crate::issuer::Issuer;
use crate::request::{IssueQuery, IssueRequest};

/// A document that may be issued, and its warnings.
pub(crate) struct Checked {
    pub(crate) ecf: Ecf,
    pub(crate) warnings: Vec<Violation>,
    /// Whether the authority would accept the document only conditionally, because of one of the warnings.
    pub(crate) conditional: bool,
}

/// Reads, completes and validates the document as of an instant, and collects all findings.
///
/// # Errors
/// 422 with everything that the authority would reject. Findings that make it accept only conditionally are included,
/// unless the request, the company or the environment treats them as warnings.
pub(crate) fn check(
    issuer: &Issuer,
    request: &IssueRequest,
    query: &IssueQuery,
    settings: &CompanySettings,
    at: Timestamp,
) -> Result<Checked, ApiError> {
    let environment = issuer.scope.environment;
    let amounts = query.amounts_in(environment);
    let (draft, mut notices) = Draft::read(request.ecf_type, &request.payload, amounts).map_err(refused)?;
    let rnc_emisor = draft.document().encabezado.emisor.rnc_emisor.clone();
    let policy = query
        .on_conditional
        .or(settings.on_conditional)
        .unwrap_or_else(|| OnConditional::default_of(environment));
    let (ecf, warnings) =
        rules::judge(draft, environment, Fecha::at(at), &IscRates::of(environment), policy).map_err(refused)?;
    if rnc_emisor.as_ref() != Some(&issuer.rnc) {
        return Err(foreign_issuer(issuer, rnc_emisor.map(|rnc| rnc.to_string())));
    }
    let conditional = warnings.iter().any(|warning| warning.grade == Grade::Conditional);
    notices.extend(warnings);
    Ok(Checked {
        ecf,
        warnings: notices,
        conditional,
    })
}

/// The warnings of a response: the first hundred, and a count of the others.
pub(crate) fn listed(warnings: &[Violation]) -> Vec<FieldError> {
    FieldError::listed(warnings, |violation| {
        FieldError::of_violation(&["body", "payload"], violation)
    })
}

/// 422 with the violations in the document.
pub(crate) fn refused(violations: Vec<Violation>) -> ApiError {
    ApiError::violations(&violations)
}

fn foreign_issuer(issuer: &Issuer, given: Option<String>) -> ApiError {
    let given = given.unwrap_or_default();
    let loc = ["body", "payload", "Encabezado", "Emisor", "RNCEmisor"];
    let msg = say!(
        "RNCEmisor is {given}, but the API key belongs to {}",
        "RNCEmisor es {given}, pero la clave de API es de {}",
        issuer.rnc
    );
    let error = FieldError::new(loc, "value_error", msg)
        .with_code(FailReason::RncMismatch.as_str())
        .with_input(&Node::Text(given.as_str().into()))
        .with_ctx("given", given)
        .with_ctx("expected", issuer.rnc.to_string());
    ApiError::validation(vec![error])
}
