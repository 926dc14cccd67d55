//! `GET /api/v1/ecf/states`: the state contract, generated from the table that validates every state change.

use axum::Json;
use ecf::{EventDerivedStage, ReceiptState, StateContract, StateView};
use ecf_api::{Caller, CodedError, Spoken, ValidationError};
use serde::Serialize;
use utoipa::ToSchema;

/// Which states a receipt can have, and who moves it from one to the next.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StateContractView {
    #[schema(value_type = String)]
    source_of_truth: Spoken,
    #[schema(value_type = String)]
    mutation_policy: Spoken,
    states: Vec<ContractStateView>,
    event_derived_stages: Vec<StageView>,
}

/// A state.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ContractStateView {
    #[schema(example = "submitted")]
    name: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    /// Whether nothing follows.
    terminal: bool,
    /// What may follow.
    transitions: Vec<&'static str>,
}

/// A stage that a receipt reaches while its state stays; `stages` of a document lists those it has reached.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StageView {
    #[schema(example = "notified")]
    name: &'static str,
    /// The webhook event that announces the stage.
    #[schema(example = "accepted")]
    event: &'static str,
    #[schema(value_type = String)]
    description: Spoken,
}

impl From<StateContract> for StateContractView {
    fn from(contract: StateContract) -> Self {
        Self {
            source_of_truth: contract.source_of_truth.into(),
            mutation_policy: contract.mutation_policy.into(),
            states: contract.states.into_iter().map(ContractStateView::from).collect(),
            event_derived_stages: contract.event_derived_stages.into_iter().map(StageView::from).collect(),
        }
    }
}

impl From<StateView> for ContractStateView {
    fn from(state: StateView) -> Self {
        Self {
            name: state.name.as_str(),
            kind: state.kind,
            terminal: state.terminal,
            transitions: state.transitions.into_iter().map(ReceiptState::as_str).collect(),
        }
    }
}

impl From<EventDerivedStage> for StageView {
    fn from(stage: EventDerivedStage) -> Self {
        Self {
            name: stage.name,
            event: stage.event,
            description: stage.description.into(),
        }
    }
}

/// Contrato de estados
///
/// Which states a receipt can have, which are final, and what each may become.
#[utoipa::path(
    get,
    path = "/api/v1/ecf/states",
    tag = "Comprobantes",
    responses(
        (status = 200, description = "The state contract", body = StateContractView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "The key is missing", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn states(_caller: Caller) -> Json<StateContractView> {
    Json(ReceiptState::contract().into())
}
