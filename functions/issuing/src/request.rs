//! The request of `POST /api/v1/ecf`.

use ecf::rules::OnConditional;
use ecf::{Amounts, Environment, Node, ReceiptType};
use ecf_api::{Fields, FromFields, Wait};
use ecf_issuance::{AMOUNTS, ON_CONDITIONAL};
use ecf_store::receipts::Mode;
use jiff::Timestamp;
use utoipa::{IntoParams, ToSchema};

/// The body: who asks for what, and the document as the authority names its fields. `ecf_type` decides which payload it
/// takes. A member that is null counts as absent.
#[derive(Debug, ToSchema)]
pub(crate) struct IssueRequest {
    /// Names the receipt: the same key always answers with the same receipt.
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) idempotency_key: String,
    #[schema(value_type = String, pattern = "^(31|32|33|34|41|43|44|45|46|47)$", example = "31")]
    pub(crate) ecf_type: ReceiptType,
    /// The document by the authority's element names, `Encabezado` and `DetallesItems`. Without `eNCF` the next number of
    /// the company's range is assigned. Amounts and quantities are declared as text (`"1500.00"`), which keeps their
    /// digits in every language; JSON numbers are accepted too, and so is text for a code that is declared as integer.
    #[schema(value_type = Object)]
    pub(crate) payload: Node,
    /// The caller's own id of the receipt.
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) external_id: Option<String>,
    /// May repeat the key's environment, never name another one.
    #[schema(value_type = Option<String>, example = "TesteCF")]
    pub(crate) environment: Option<Environment>,
    /// When to issue, at most 30 days ahead: kept as `deferred` until then; number and signature come when it is due. An
    /// instant that has passed is now; without an offset it is local time, -04:00.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) scheduled_for: Option<Timestamp>,
}

impl FromFields for IssueRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        fields.belong_in_query(&[
            "mode",
            "on_conditional",
            "validate_only",
            "amounts",
            "on_replay",
            "wait",
        ]);
        let idempotency_key = fields.text("idempotency_key").length(1..=100).required();
        let ecf_type = fields.receipt_type("ecf_type").required();
        let payload = fields.object("payload").required();
        let external_id = fields.text("external_id").length(1..=100).optional();
        let environment = fields.environment("environment").optional();
        let scheduled_for = fields.instant("scheduled_for").optional();
        Some(Self {
            idempotency_key: idempotency_key?,
            ecf_type: ecf_type?,
            payload: payload?,
            external_id,
            environment,
            scheduled_for,
        })
    }
}

/// The query: when to send, and how to judge.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct IssueQuery {
    /// `online`: sent at once. `deferred`: sent by the worker later.
    #[param(required = false, value_type = String, pattern = "^(online|deferred)$", default = "online")]
    pub(crate) mode: Mode,
    /// What the authority would accept only conditionally: `refuse` (the default in TesteCF and CerteCF) or `warn` (the default in
    /// production); a company may set another default.
    #[param(value_type = Option<String>, pattern = "^(refuse|warn)$")]
    pub(crate) on_conditional: Option<OnConditional>,
    /// All checks without storing: the expected verdict, warnings, totals and the document; no number is used.
    #[param(required = false, default = false)]
    pub(crate) validate_only: bool,
    /// `scaled`: amounts get their decimals, what is left out is computed. `verbatim` (the default in CerteCF): written as given,
    /// nothing is added.
    #[param(value_type = Option<String>, pattern = "^(scaled|verbatim)$")]
    pub(crate) amounts: Option<Amounts>,
    /// A repeated `idempotency_key` whose request differs from its receipt: `answer`, 200 with the receipt and the warning
    /// REPETICION-01, or `refuse`, 409 `replay_differs`. The same request again is 200 either way.
    #[param(required = false, value_type = String, pattern = "^(answer|refuse)$", default = "answer")]
    pub(crate) on_replay: OnReplay,
}

/// What to do with a repeated key whose request differs from the stored receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum OnReplay {
    /// 200 with the stored receipt and a warning.
    #[default]
    Answer,
    /// 409.
    Refuse,
}

impl IssueQuery {
    /// How amounts are written. The certification prescribes them to the letter.
    pub(crate) fn amounts_in(&self, environment: Environment) -> Amounts {
        self.amounts.unwrap_or(match environment {
            Environment::CerteCF => Amounts::Verbatim,
            Environment::TesteCF | Environment::Ecf => Amounts::Scaled,
        })
    }
}

/// The query of one receipt, which may wait for the receipt's end.
#[derive(Debug)]
pub(crate) struct WaitingQuery {
    pub(crate) query: IssueQuery,
    pub(crate) wait: Wait,
}

impl FromFields for WaitingQuery {
    fn read(fields: &mut Fields) -> Option<Self> {
        let query = IssueQuery::read(fields);
        let wait = Wait::read(fields)?;
        Some(Self { query: query?, wait })
    }
}

/// The values of `on_replay`.
const ON_REPLAY: [(&str, OnReplay); 2] = [("answer", OnReplay::Answer), ("refuse", OnReplay::Refuse)];

impl FromFields for IssueQuery {
    fn read(fields: &mut Fields) -> Option<Self> {
        let mode = fields
            .choice("mode", &[("online", Mode::Immediate), ("deferred", Mode::Deferred)])
            .or(Mode::Immediate);
        let on_conditional = fields.choice("on_conditional", &ON_CONDITIONAL).optional();
        let amounts = fields.choice("amounts", &AMOUNTS).optional();
        let validate_only = fields.boolean("validate_only").or(false);
        let on_replay = fields.choice("on_replay", &ON_REPLAY).or(OnReplay::Answer);
        Some(Self {
            mode,
            on_conditional,
            amounts,
            validate_only,
            on_replay,
        })
    }
}
