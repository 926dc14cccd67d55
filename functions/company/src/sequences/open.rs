//! `POST /api/v1/client/sequences`.

use std::str::FromStr;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use ecf::{Encf, Environment, Fecha, ReceiptType};
use ecf_api::{ApiError, Caller, CodedError, Fields, FromFields, ValidJson, ValidationError};
use ecf_language::{Bilingual, Say, say};
use ecf_store::numbers::{NewRange, Numbering, RANGES_PER_TYPE, RangeOpened};
use jiff::Timestamp;
use jiff::civil::{Date, date};
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

use super::{SequenceView, last_day, overlaps};
use crate::App;

/// A range that the authority granted.
#[derive(Debug, ToSchema)]
pub(crate) struct OpenSequence {
    #[schema(value_type = String, pattern = "^(31|32|33|34|41|43|44|45|46|47)$", example = "31")]
    ecf_type: ReceiptType,
    /// A number from 1 to 9999999999, or the whole e-NCF.
    #[schema(schema_with = Bound::schema)]
    range_start: Bound,
    /// As `range_start`.
    #[schema(schema_with = Bound::schema)]
    range_end: Bound,
    /// The last day. Unless given: 31 December of next year in production, the open numbers' last day elsewhere. Types 32 and
    /// 34 have none.
    #[schema(value_type = Option<String>, format = Date, example = "2027-12-31")]
    valid_until: Option<Date>,
    /// Who numbers: `service` or `caller`. Unless given, the first receipt decides.
    #[schema(value_type = Option<String>, pattern = "^(service|caller)$")]
    numbering: Option<Numbering>,
    /// May repeat the key's environment, never name another one.
    #[schema(value_type = Option<String>, example = "TesteCF")]
    environment: Option<Environment>,
}

impl FromFields for OpenSequence {
    fn read(fields: &mut Fields) -> Option<Self> {
        let ecf_type = fields.receipt_type("ecf_type").required();
        let range_start = fields.parsed::<Bound>("range_start").required();
        let range_end = fields.parsed::<Bound>("range_end").required();
        let valid_until = fields.date("valid_until").optional();
        let numbering = fields
            .choice(
                "numbering",
                &[("service", Numbering::Service), ("caller", Numbering::Caller)],
            )
            .optional();
        let environment = fields.environment("environment").optional();
        let (ecf_type, range_start, range_end) = (ecf_type?, range_start?, range_end?);
        for (name, bound) in [("range_start", range_start), ("range_end", range_end)] {
            if let Some(other) = bound.ecf_type.filter(|named| *named != ecf_type) {
                let msg = say!(
                    "{name} is of type {other}, ecf_type is {ecf_type}: give a number of type {ecf_type}, or its \
                     sequence {} alone",
                    "{name} es del tipo {other}, ecf_type es {ecf_type}: dé un número del tipo {ecf_type}, o solo su \
                     secuencia {}",
                    bound.sequence
                );
                fields.reject_value(name, "type_mismatch", msg);
            }
        }
        if range_end.sequence < range_start.sequence {
            let msg = say!(
                "range_end {} is below range_start {}: exchange the two",
                "range_end {} es menor que range_start {}: intercambie los dos",
                range_end.sequence,
                range_start.sequence
            );
            fields.reject_value("range_end", "range_reversed", msg);
        }
        Some(Self {
            ecf_type,
            range_start,
            range_end,
            valid_until,
            numbering,
            environment,
        })
    }
}

/// One end of a range: a number or a complete e-NCF.
#[derive(Debug, Clone, Copy)]
struct Bound {
    sequence: u64,
    ecf_type: Option<ReceiptType>,
}

impl Bound {
    fn schema() -> Object {
        let kinds = SchemaType::from_iter([Type::Integer, Type::String]);
        ObjectBuilder::new()
            .schema_type(kinds)
            .minimum(Some(1))
            .maximum(Some(Encf::MAX_SEQUENCE))
            .examples([1])
            .build()
    }
}

/// Why a text is not the end of a range.
struct UnknownBound(Bilingual);

impl Say for UnknownBound {
    fn say(&self) -> Bilingual {
        self.0.clone()
    }
}

impl FromStr for Bound {
    type Err = UnknownBound;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.starts_with(['E', 'e']) {
            let encf: Encf = text
                .parse()
                .map_err(|error: ecf::EncfError| UnknownBound(error.say()))?;
            return Ok(Self {
                sequence: encf.sequence(),
                ecf_type: Some(encf.receipt_type()),
            });
        }
        match text.parse() {
            Ok(sequence) if (1..=Encf::MAX_SEQUENCE).contains(&sequence) => Ok(Self {
                sequence,
                ecf_type: None,
            }),
            _ => Err(UnknownBound(say!(
                "{text:?} is neither a number from 1 to {} nor an e-NCF such as E310000000001",
                "{text:?} no es un número de 1 a {} ni un e-NCF como E310000000001",
                Encf::MAX_SEQUENCE
            ))),
        }
    }
}

/// Registrar una secuencia
///
/// Registers a range that the authority granted. The same range again is answered with what is there.
#[utoipa::path(
    post,
    path = "/api/v1/client/sequences",
    tag = "Secuencias",
    request_body = OpenSequence,
    responses(
        (status = 201, description = "Registered; numbers are given from it when those before it are used up", body = SequenceView),
        (status = 200, description = "The very same range was registered before: this is it", body = SequenceView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "Another range has some of the numbers, or the type has too many ranges", body = CodedError),
        (status = 422, description = "Every bad field, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["full"])),
)]
pub(crate) async fn open_sequence(
    State(app): State<App>,
    caller: Caller,
    ValidJson(request): ValidJson<OpenSequence>,
) -> Result<(StatusCode, Json<SequenceView>), ApiError> {
    let environment = caller.check_environment(request.environment)?;
    let now = app.clock.now();
    let today = Fecha::at(now);
    let new = NewRange {
        ecf_type: request.ecf_type,
        start: request.range_start.sequence,
        end: request.range_end.sequence,
        valid_until: valid_until(&app, &request, environment, now)?,
        numbering: request.numbering,
        created_at: now,
    };
    let id = new.id();
    let (status, range) = match app.table.open_range(&caller.scope, new).await? {
        RangeOpened::New => {
            let range = app.table.range(&caller.scope, id).await?;
            let range = range.ok_or_else(|| ApiError::internal("a range that was opened is not there"))?;
            (StatusCode::CREATED, range)
        }
        RangeOpened::Already(range) => (StatusCode::OK, range),
        RangeOpened::Overlaps(range) => return Err(overlaps(&range)),
        RangeOpened::TooMany => {
            return Err(ApiError::conflict(
                "too_many_sequences",
                say!(
                    "type {} has {RANGES_PER_TYPE} sequences, as many as it may: extend the last with PATCH",
                    "el tipo {} tiene {RANGES_PER_TYPE} secuencias, el máximo: amplíe la última con PATCH",
                    request.ecf_type
                ),
            ));
        }
    };
    Ok((status, Json(SequenceView::of(&range, environment, today))))
}

/// The given last day, or the authority's rule: 31 December of the year after the authorisation. The test environments
/// have a fixed later day.
fn valid_until(
    app: &App,
    request: &OpenSequence,
    environment: Environment,
    now: Timestamp,
) -> Result<Option<Fecha>, ApiError> {
    let today = Fecha::at(now);
    match request.valid_until {
        Some(given) => last_day(request.ecf_type, given, today).map(Some),
        None if !request.ecf_type.carries_expiry() => Ok(None),
        None if environment == Environment::Ecf => {
            let last_of_next_year = date(today.date().year() + 1, 12, 31);
            Fecha::try_from(last_of_next_year).map(Some).map_err(ApiError::internal)
        }
        None => Ok(Some(app.precertification_valid_until)),
    }
}
