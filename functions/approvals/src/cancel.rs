//! `POST /api/v1/ecf/cancellations` annuls numbers that will never be used (ANECF); `GET …/{id}` shows an annulment.
//!
//! For numbers that were never sent to the authority or to a buyer: unused numbers, and numbers of withdrawn receipts.
//! A receipt that was sent is annulled by a credit note.

use axum::Json;
use axum::extract::State;
use ecf::messages::Anecf;
use ecf::{Encf, Environment, FechaHora, Node, ReceiptType};
use ecf_api::{
    ApiError, Caller, CodedError, FieldError, Fields, FromFields, Instant, PathId, Spoken, TaxauthResponse, ValidJson,
    ValidationError,
};
use ecf_certificates::signing_identity;
use ecf_language::{Bilingual, Say, say};
use ecf_store::{
    AnnulmentId, ArtifactKind, ExchangeJob, Scope,
    annulments::{Annulment, AnnulmentCreated, AnnulmentState, NumberRange, quantity},
};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

use crate::{App, TIME_LIMIT};

/// Upper bound of the entries, from the format of the ANECF.
const MOST_RANGES: usize = 10;
/// Upper bound of the numbers in a request; each number is locked separately.
const MOST_NUMBERS: u64 = 10_000;
/// Upper bound of the numbers that are locked during the request. The worker locks the numbers of a larger annulment.
const MOST_WHILE_WAITING: u64 = 1_000;
/// The members of an entry.
const ENTRY: [&str; 4] = ["ecf_type", "sequence_from", "sequence_to", "quantity"];
/// Upper bound of the used numbers that an error lists.
const MOST_TOLD: usize = 10;

/// Which numbers are annulled.
#[derive(Debug, ToSchema)]
#[schema(as = CancelSequencesRequest)]
pub(crate) struct CancelRequest {
    #[schema(min_length = 1, max_length = 100)]
    idempotency_key: String,
    #[schema(value_type = Vec<CancelledRange>, min_items = 1, max_items = 10)]
    cancellations: Vec<NumberRange>,
}

/// A range of numbers of one type.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CancelledRange {
    #[schema(example = "31")]
    ecf_type: &'static str,
    /// The first number: its sequence, or the whole e-NCF.
    #[schema(value_type = String, example = "E310000000101")]
    sequence_from: String,
    /// The last number.
    #[schema(value_type = String, example = "E310000000110")]
    sequence_to: String,
    /// How many they are: must be right when it is given.
    #[schema(required = false, nullable, minimum = 1, example = 10)]
    quantity: u64,
}

impl FromFields for CancelRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        let idempotency_key = fields.text("idempotency_key").length(1..=100).required();
        let entries = fields.list("cancellations").items(1..=MOST_RANGES).required();
        let mut ranges = Vec::new();
        for (place, entry) in entries.unwrap_or_default().iter().enumerate() {
            for name in unknown(entry) {
                let place = place.to_string();
                fields.reject_with(FieldError::unknown(&["body", "cancellations", &place], name, &ENTRY));
            }
            match range(entry) {
                Ok(range) => ranges.push(range),
                Err(wrong) => fields.reject_with(wrong.at(place, entry)),
            }
        }
        if let Some(twice) = overlap(&ranges) {
            let msg = say!(
                "{twice} is in two of the ranges: name each number once",
                "{twice} está en dos de las secuencias: nombre cada número una sola vez"
            );
            fields.reject_value("cancellations", "ranges_overlap", msg);
        }
        let numbers = quantity(&ranges);
        if numbers > MOST_NUMBERS {
            let msg = say!(
                "the ranges have {numbers} numbers, at most {MOST_NUMBERS} are annulled at a time: send several \
                 requests, each with an idempotency_key of its own",
                "las secuencias tienen {numbers} números, se anulan {MOST_NUMBERS} como máximo a la vez: envíe \
                 varias peticiones, cada una con su propia idempotency_key"
            );
            fields.reject_value("cancellations", "too_many_numbers", msg);
        }
        Some(Self {
            idempotency_key: idempotency_key?,
            cancellations: ranges,
        })
    }
}

/// An error in a member of an entry.
struct Wrong {
    member: &'static str,
    kind: &'static str,
    code: &'static str,
    msg: Bilingual,
}

impl Wrong {
    fn value(member: &'static str, code: &'static str, msg: Bilingual) -> Self {
        Self {
            member,
            kind: "value_error",
            code,
            msg,
        }
    }

    fn at(self, place: usize, entry: &Node) -> FieldError {
        let loc = ["body", "cancellations", &place.to_string(), self.member].map(str::to_owned);
        let input = entry.get(self.member).unwrap_or(&Node::Null);
        FieldError::new(loc, self.kind, self.msg)
            .with_code(self.code)
            .with_input(input)
    }
}

/// The unknown members of an entry.
fn unknown(entry: &Node) -> impl Iterator<Item = &str> {
    let members = entry.as_object().into_iter().flatten();
    members.map(|(name, _)| &**name).filter(|name| !ENTRY.contains(name))
}

/// Parses one entry, or returns its first error.
fn range(entry: &Node) -> Result<NumberRange, Wrong> {
    let text = |member: &'static str| {
        let (kind, msg) = match entry.get(member) {
            None | Some(Node::Null) => ("missing", say!("Field required", "campo obligatorio")),
            Some(value) => match value.as_scalar() {
                Some(text) => return Ok(text.to_owned()),
                None => (
                    "string_type",
                    say!("Input should be a valid string", "se espera un texto"),
                ),
            },
        };
        Err(Wrong {
            member,
            kind,
            code: kind,
            msg,
        })
    };
    let ecf_type = text("ecf_type")?;
    let ecf_type: ReceiptType = ecf_type
        .parse()
        .map_err(|error: ecf::UnknownReceiptType| Wrong::value("ecf_type", "value_error", error.say()))?;
    let number = |member: &'static str| {
        let given = text(member)?;
        let encf = match given.parse::<u64>() {
            Ok(sequence) => Encf::new(ecf_type, sequence).ok(),
            Err(_) => given.parse::<Encf>().ok(),
        };
        let encf = encf.ok_or_else(|| {
            let msg = say!(
                "{given:?} is neither a sequence from 1 to {} nor an e-NCF such as E{ecf_type}0000000101",
                "{given:?} no es una secuencia de 1 a {} ni un e-NCF como E{ecf_type}0000000101",
                Encf::MAX_SEQUENCE
            );
            Wrong::value(member, "value_error", msg)
        })?;
        if encf.receipt_type() != ecf_type {
            let msg = say!(
                "{encf} is of type {0}, but ecf_type is {ecf_type}: give a number of type {ecf_type}, or ecf_type {0}",
                "{encf} es del tipo {0}, pero ecf_type es {ecf_type}: dé un número del tipo \
                 {ecf_type}, o ecf_type {0}",
                encf.receipt_type()
            );
            return Err(Wrong::value(member, "type_mismatch", msg));
        }
        Ok(encf)
    };
    let (from, to) = (number("sequence_from")?, number("sequence_to")?);
    if from.sequence() > to.sequence() {
        let msg = say!(
            "the range ends at {to}, before it begins at {from}: exchange sequence_from and sequence_to",
            "la secuencia termina en {to}, antes de empezar en {from}: intercambie sequence_from y sequence_to"
        );
        return Err(Wrong::value("sequence_to", "range_reversed", msg));
    }
    if entry.get("quantity").is_some_and(|quantity| !quantity.is_null()) {
        let has = to.sequence() - from.sequence() + 1;
        if text("quantity")?.parse() != Ok(has) {
            let msg = say!(
                "{from} to {to} are {has} numbers: write {has}, or leave quantity out",
                "{from} a {to} son {has} números: escriba {has}, u omita quantity"
            );
            return Err(Wrong::value("quantity", "quantity_mismatch", msg));
        }
    }
    Ok((from, to))
}

fn overlap(ranges: &[NumberRange]) -> Option<Encf> {
    let mut ranges = ranges.to_vec();
    ranges.sort_unstable();
    let pair = ranges.windows(2).find(|pair| {
        pair[0].0.receipt_type() == pair[1].0.receipt_type() && pair[1].0.sequence() <= pair[0].1.sequence()
    })?;
    Some(pair[1].0)
}

/// An annulment and its state.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CancellationView {
    public_id: String,
    /// `pending`: the tax authority is asked again, for days. `accepted`. `refused`: the numbers are as they were. `given_up`.
    status: &'static str,
    #[schema(value_type = String)]
    message: Spoken,
    #[serde(flatten)]
    response: TaxauthResponse,
    cancellations: Vec<CancelledRange>,
    quantity: u64,
    attempts: u32,
    #[schema(value_type = String, format = DateTime)]
    created_at: Instant,
    #[schema(value_type = Option<String>, format = DateTime)]
    completed_at: Option<Instant>,
}

impl From<&Annulment> for CancellationView {
    fn from(annulment: &Annulment) -> Self {
        let state = match annulment.state {
            AnnulmentState::Pending => say!("the tax authority has not answered yet", "la DGII aún no responde"),
            AnnulmentState::Accepted => say!("the numbers are annulled", "los números están anulados"),
            // Without an answer it was this service that refused: the numbers were used meanwhile.
            AnnulmentState::Refused if annulment.answer.is_none() => say!("refused", "rechazada"),
            AnnulmentState::Refused => say!("the tax authority refuses", "la DGII la rechaza"),
            AnnulmentState::GivenUp => {
                say!("the tax authority could not be asked", "no se pudo preguntar a la DGII")
            }
        };
        let ranges = annulment.ranges.iter().map(|(from, to)| CancelledRange {
            ecf_type: from.receipt_type().as_str(),
            sequence_from: from.to_string(),
            sequence_to: to.to_string(),
            quantity: quantity(&[(*from, *to)]),
        });
        Self {
            public_id: annulment.id.to_string(),
            status: annulment.state.as_str(),
            message: Spoken(match &annulment.words {
                Some(words) => say!([state, words], "{state}: {words}", "{state}: {words}"),
                None => state,
            }),
            response: TaxauthResponse::of(annulment.answer.as_deref()),
            cancellations: ranges.collect(),
            quantity: annulment.quantity(),
            attempts: annulment.attempts,
            created_at: annulment.created_at.into(),
            completed_at: annulment.completed_at.map(Instant),
        }
    }
}

/// Anular secuencias no utilizadas
///
/// Annuls numbers that will never be used, for good: no receipt gets one of them from now on. The key decides about a repetition.
#[utoipa::path(
    post,
    path = "/api/v1/ecf/cancellations",
    operation_id = "cancel_sequences",
    tag = "Secuencias",
    request_body = CancelRequest,
    responses(
        (status = 200, description = "The annulment with its current state; the same for a repeated key", body = CancellationView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "`numbers_used`: a receipt or another annulment has them; `annulment_not_offered`: not in CerteCF; no certificate", body = CodedError),
        (status = 422, description = "Every bad field, numbers outside the company's ranges; a missing key", body = ValidationError),
    ),
    security(("api_key" = ["issue"])),
)]
pub(crate) async fn cancel(
    State(app): State<App>,
    caller: Caller,
    ValidJson(request): ValidJson<CancelRequest>,
) -> Result<Json<CancellationView>, ApiError> {
    let (scope, exchange) = (&caller.scope, &app.exchange);
    let id = AnnulmentId::of(scope, &request.idempotency_key);
    if let Some(existing) = exchange.table.annulment(scope, &id).await? {
        return Ok(Json((&existing).into()));
    }
    if caller.environment() == Environment::CerteCF {
        let message = say!(
            "the tax authority annuls no numbers in CerteCF",
            "la DGII no anula números en CerteCF"
        );
        return Err(ApiError::conflict("annulment_not_offered", message));
    }
    check_ranges(&app, scope, &request.cancellations).await?;
    let used = exchange
        .table
        .used_numbers(scope, &id, &request.cancellations, MOST_TOLD)
        .await?;
    if !used.is_empty() {
        let used: Vec<String> = used.iter().map(ToString::to_string).collect();
        let message = say!(
            "a receipt that was sent, or another annulment, has {}: what was sent is annulled by a credit note",
            "un comprobante enviado, u otra anulación, tiene {}: lo enviado se anula con una nota de crédito",
            used.join(", ")
        );
        return Err(ApiError::conflict("numbers_used", message));
    }
    let company = app.company(scope).await?;
    let now = exchange.clock.now();
    let identity = signing_identity(&exchange.identities, &scope.company, now).await?;
    let anecf = Anecf::new(
        company.rnc.clone(),
        request.cancellations.iter().copied(),
        FechaHora::at(now),
    );
    let anecf = anecf.map_err(ApiError::internal)?;
    let signed = xmldsig::sign(&anecf.to_xml(), &identity).map_err(ApiError::internal)?;
    let anecf = exchange
        .artifacts
        .put_message(scope, now, &id, ArtifactKind::Anecf, signed.xml)
        .await?;
    let new = Annulment {
        id,
        idempotency_key: request.idempotency_key,
        ranges: request.cancellations,
        anecf,
        created_at: now,
        completed_at: None,
        state: AnnulmentState::Pending,
        words: None,
        answer: None,
        attempts: 0,
        has_lost_answer: false,
        next_action_at: None,
    };
    let annulment = match exchange.table.create_annulment(scope, &new).await? {
        AnnulmentCreated::New if new.quantity() > MOST_WHILE_WAITING => {
            let job = ExchangeJob::Annulment {
                scope: *scope,
                annulment: id,
                attempt: new.attempts,
            };
            exchange.queue_next(&job, Duration::ZERO).await;
            new
        }
        AnnulmentCreated::New => exchange.annul(scope, &company.rnc, new, TIME_LIMIT).await?,
        AnnulmentCreated::Replay(existing) => *existing,
    };
    Ok(Json((&annulment).into()))
}

/// Consultar una anulación de secuencias
///
/// How far an annulment came.
#[utoipa::path(
    get,
    path = "/api/v1/ecf/cancellations/{public_id}",
    operation_id = "show_cancellation",
    tag = "Secuencias",
    params(("public_id" = String, Path, description = "The annulment's id")),
    responses(
        (status = 200, description = "The annulment with its current state", body = CancellationView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "Unknown, or of another company or environment", body = CodedError),
        (status = 422, description = "The key is missing", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn show_cancellation(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<AnnulmentId>,
) -> Result<Json<CancellationView>, ApiError> {
    let annulment = app.exchange.table.annulment(&caller.scope, &id).await?;
    let annulment = annulment.ok_or_else(ApiError::not_found)?;
    Ok(Json((&annulment).into()))
}

/// Rejects numbers outside the company's registered ranges: the service cannot know whether they were used.
async fn check_ranges(app: &App, scope: &Scope, cancellations: &[NumberRange]) -> Result<(), ApiError> {
    let known = app.exchange.table.ranges(scope, None).await?;
    let is_known = |(from, to): &NumberRange| {
        // An entry may span several adjacent ranges.
        let mut next = from.sequence();
        while next <= to.sequence() {
            let holds =
                |range: &&ecf_store::numbers::Range| range.ecf_type == from.receipt_type() && range.contains(next);
            match known.iter().find(holds) {
                Some(range) => next = range.end + 1,
                None => return false,
            }
        }
        true
    };
    let errors: Vec<FieldError> = cancellations
        .iter()
        .enumerate()
        .filter(|(_, range)| !is_known(range))
        .map(|(place, (from, to))| {
            let loc = [
                "body".to_owned(),
                "cancellations".to_owned(),
                place.to_string(),
                "sequence_from".to_owned(),
            ];
            let msg = say!(
                "the company's ranges do not hold all numbers from {from} to {to}: register the range first with \
                 POST /api/v1/client/sequences",
                "las secuencias de la empresa no contienen todos los números de {from} a {to}: registre primero la \
                 secuencia con POST /api/v1/client/sequences"
            );
            FieldError::new(loc, "outside_ranges", msg).with_input(&Node::Text(from.to_string().into()))
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.into()) }
}
