//! The request for a simulation: the company's own data, from which its receipts are made.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use ecf::{Environment, Fecha, ReceiptType, Rnc};
use ecf_api::{ApiError, FieldError, Fields, FromFields};
use ecf_language::{Bilingual, Say, say};
use ecf_store::{Scope, Table, companies::Company};
use ecf_workbook::Phase;
use ecf_workbook::simulation::{Buyer, Data, Item, Unusable};
use utoipa::ToSchema;

use crate::books::Book;
use crate::own::Own;

/// Upper bound of the items.
const MOST_ITEMS: usize = 50;

/// The company's own data, for the receipts of step 4.
#[derive(Debug, ToSchema)]
pub(crate) struct SimulationRequest {
    /// Always `simulation`.
    #[schema(pattern = "^simulation$")]
    #[expect(dead_code, reason = "it is read to be checked")]
    kind: String,
    /// Names the run: the same key again answers with the same run.
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) idempotency_key: String,
    /// May repeat the key's environment, never name another one.
    #[schema(value_type = Option<String>, example = "CerteCF")]
    pub(crate) environment: Option<Environment>,
    /// Whether the software is that of a certified provider: then one receipt of each kind is made.
    #[schema(value_type = Option<bool>, default = false)]
    certified_provider: bool,
    /// The address of the company; by default that of its profile.
    #[schema(max_length = 100)]
    address: Option<String>,
    /// Takes what is left out of `buyer`, `foreign_buyer` and `items` from the newest accepted receipts of the company in the
    /// environment, else in TesteCF: of types 31, 46, and 31 and 32. Without it all three are required. Rows of runs do not count.
    #[schema(value_type = Option<bool>, default = false)]
    pub(crate) from_receipts: bool,
    buyer: Option<BuyerRequest>,
    /// The name of a buyer abroad, for type 46.
    #[schema(min_length = 1, max_length = 150)]
    foreign_buyer: Option<String>,
    /// What the company sells. At least one item costs less than RD$250,000.00 with ITBIS.
    #[schema(min_items = 1, max_items = 50)]
    items: Option<Vec<ItemRequest>>,
}

/// A taxpayer that buys, and sells in type 41.
#[derive(Debug, ToSchema)]
pub(crate) struct BuyerRequest {
    #[schema(value_type = String, example = "101672919")]
    rnc: Rnc,
    #[schema(min_length = 1, max_length = 150)]
    name: String,
}

/// What the company sells.
#[derive(Debug, ToSchema)]
pub(crate) struct ItemRequest {
    #[schema(min_length = 1, max_length = 80)]
    name: String,
    /// The price of one, without ITBIS.
    #[schema(value_type = String, example = "1500.00")]
    price: Price,
    /// Whether it is a service, not a good.
    #[schema(value_type = Option<bool>, default = true)]
    is_service: bool,
    /// Whether ITBIS of 18 % is due on it. Types that are exempt by their nature are exempt anyway.
    #[schema(value_type = Option<bool>, default = true)]
    is_taxed: bool,
}

/// A price in cents.
#[derive(Debug, Clone, Copy)]
struct Price(u64);

/// A text that does not name a price.
#[derive(Debug)]
struct NotAPrice(String);

impl fmt::Display for NotAPrice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not a price above zero with at most two decimals", self.0)
    }
}

impl Say for NotAPrice {
    fn say(&self) -> Bilingual {
        let given = &self.0;
        Bilingual::of(
            self,
            format!("{given:?} no es un precio mayor que cero con dos decimales como máximo"),
        )
    }
}

impl FromStr for Price {
    type Err = NotAPrice;

    fn from_str(text: &str) -> Result<Self, NotAPrice> {
        let refused = || NotAPrice(text.to_owned());
        let (whole, cents) = text.split_once('.').unwrap_or((text, "00"));
        let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if !are_digits(whole)
            || !are_digits(cents)
            || !(1..=9).contains(&whole.len())
            || !(1..=2).contains(&cents.len())
        {
            return Err(refused());
        }
        let price: u64 = format!("{whole}{cents:0<2}").parse().map_err(|_| refused())?;
        (price > 0).then_some(Self(price)).ok_or_else(refused)
    }
}

impl FromFields for SimulationRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        let kind = fields.choice("kind", &[("simulation", "simulation")]).required();
        let idempotency_key = fields.text("idempotency_key").length(1..=100).required();
        let environment = fields.environment("environment").optional();
        let certified_provider = fields.boolean("certified_provider").or(false);
        let address = fields.text("address").length(1..=100).optional();
        let from_receipts = fields.boolean("from_receipts").or(false);
        let buyer = fields.nested("buyer");
        if buyer.is_none() && !fields.is_given("buyer") && !from_receipts {
            fields.reject_with(FieldError::missing(["body", "buyer"]));
        }
        let foreign_buyer = fields.text("foreign_buyer").length(1..=150);
        let foreign_buyer = match from_receipts {
            true => foreign_buyer.optional(),
            false => foreign_buyer.required(),
        };
        let items = match from_receipts && !fields.is_given("items") {
            true => fields.list("items").optional().and(None),
            false => fields.nested_list("items", 1..=MOST_ITEMS),
        };
        Some(Self {
            kind: kind?.to_owned(),
            idempotency_key: idempotency_key?,
            environment,
            certified_provider,
            address,
            from_receipts,
            buyer,
            foreign_buyer,
            items,
        })
    }
}

impl FromFields for BuyerRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        let rnc = fields.text_or_number("rnc").parse().required();
        let name = fields.text("name").length(1..=150).required();
        Some(Self { rnc: rnc?, name: name? })
    }
}

impl FromFields for ItemRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        let name = fields.text("name").length(1..=80).required();
        let price = fields.text_or_number("price").parse().required();
        let is_service = fields.boolean("is_service").or(true);
        let is_taxed = fields.boolean("is_taxed").or(true);
        Some(Self {
            name: name?,
            price: price?,
            is_service,
            is_taxed,
        })
    }
}

impl SimulationRequest {
    /// The data of the company's receipts; what the request leaves out is that of its own receipts.
    ///
    /// # Errors
    /// 422 when a part is missing in both, or when the company has no address.
    pub(crate) fn data(self, company: &Company, own: Own) -> Result<Data, ApiError> {
        let mut errors = Vec::new();
        let mut missing = |name, message| errors.push(FieldError::new(["body", name], "missing", message));
        let item = |item: ItemRequest| Item {
            name: item.name,
            price: item.price.0,
            is_service: item.is_service,
            is_taxed: item.is_taxed,
        };
        let address = self.address.or_else(|| company.address.clone());
        if address.is_none() {
            let message = say!(
                "the profile of the company has no address: give one, or add it to the profile",
                "el perfil de la empresa no tiene dirección: indique una, o agréguela al perfil"
            );
            missing("address", message);
        }
        let given = self.buyer.map(|buyer| Buyer {
            rnc: buyer.rnc,
            name: buyer.name,
        });
        let buyer = given.or(own.buyer);
        if buyer.is_none() {
            let message = say!(
                "none of the newest accepted receipts of type 31 has a buyer: give one",
                "ninguno de los comprobantes aceptados más recientes del tipo 31 tiene comprador: indíquelo"
            );
            missing("buyer", message);
        }
        let foreign_buyer = self.foreign_buyer.or(own.foreign_buyer);
        if foreign_buyer.is_none() {
            let message = say!(
                "none of the newest accepted receipts of type 46 has a buyer: give the name",
                "ninguno de los comprobantes aceptados más recientes del tipo 46 tiene comprador: indique el nombre"
            );
            missing("foreign_buyer", message);
        }
        let items = match self.items {
            Some(items) => items.into_iter().map(item).collect(),
            None => own.items,
        };
        if items.is_empty() {
            let message = say!(
                "none of the newest accepted receipts of types 31 and 32 has a line at 18 % or exempt: give the items",
                "ninguno de los comprobantes aceptados más recientes de los tipos 31 y 32 tiene una línea al 18 % o exenta: indique los ítems"
            );
            missing("items", message);
        }
        match (address, buyer, foreign_buyer) {
            (Some(address), Some(buyer), Some(foreign_buyer)) if !items.is_empty() => Ok(Data {
                rnc: company.rnc.clone(),
                name: company.name.clone(),
                address,
                buyer,
                foreign_buyer,
                items,
                certified_provider: self.certified_provider,
            }),
            _ => Err(ApiError::validation(errors)),
        }
    }
}

/// 422 for data of which no simulation can be made.
pub(crate) fn refused(unusable: &Unusable) -> ApiError {
    match unusable {
        Unusable::TooDear => {
            let message = say!(
                "every item costs RD$250,000.00 or more with ITBIS, and the simulation needs consumer invoices below that",
                "cada ítem cuesta RD$250,000.00 o más con ITBIS, y la simulación necesita facturas de consumo por debajo de eso"
            );
            ApiError::validation(vec![FieldError::new(["body", "items"], "value_error", message)])
        }
        Unusable::Rejected(receipt_type, violations) => {
            let in_type = say!("in type {receipt_type}: ", "en el tipo {receipt_type}: ");
            let error = |violation| {
                let mut error = FieldError::of_violation(&["body"], violation);
                error.msg = in_type.clone().then(&error.msg);
                error
            };
            ApiError::validation(violations.iter().map(error).collect())
        }
    }
}

/// Whether the ranges that this service numbers have enough numbers.
///
/// # Errors
/// 409 with the types that have not; 503 when DynamoDB fails.
pub(crate) async fn has_numbers(table: &Table, scope: &Scope, book: &Book, today: Fecha) -> Result<(), ApiError> {
    let mut needed: BTreeMap<ReceiptType, u64> = BTreeMap::new();
    for document in book
        .documents()
        .iter()
        .filter(|document| document.phase != Phase::Uploads)
    {
        *needed.entry(document.which.receipt_type()).or_default() += 1;
    }
    let ranges = table.ranges(scope, None).await?;
    let mut short = Vec::new();
    for (receipt_type, needed) in needed {
        let gives = ranges
            .iter()
            .filter(|range| range.ecf_type == receipt_type && range.gives_numbers(today));
        let left: u64 = gives.map(ecf_store::numbers::Range::available).sum();
        if left < needed {
            short.push(format!("{receipt_type} ({left} < {needed})"));
        }
    }
    if short.is_empty() {
        return Ok(());
    }
    let types = short.join(", ");
    let message = say!(
        "the ranges that this service numbers have too few numbers of types {types}: register ranges first",
        "los rangos que este servicio numera tienen muy pocos números de los tipos {types}: registre rangos primero"
    );
    Err(ApiError::conflict("not_enough_numbers", message))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    #[test]
    fn a_price_has_two_decimals_at_most() {
        for (text, cents) in [
            ("1500", 150_000),
            ("1500.5", 150_050),
            ("0.01", 1),
            ("999999999.99", 99_999_999_999),
        ] {
            assert_eq!(text.parse::<Price>().unwrap().0, cents, "{text}");
        }
        for text in ["", "0", "0.00", "-1", "1.234", "1,5", ".5", "1.", "1e3", "1000000000"] {
            assert!(text.parse::<Price>().is_err(), "{text}");
        }
    }
}
