//! The simulation of the certification, step 4: receipts of every type from the company's own data.
//!
//! They have new numbers, which they get when they are signed, so a receipt is known by its place in the plan.

use ecf::rules::{OnConditional, judge};
use ecf::totals::IscRates;
use ecf::{Amounts, Draft, Ecf, Encf, Environment, Fecha, Node, ReceiptType, Rnc, Violation};

use serde::{Deserialize, Serialize};

use crate::order::Phase;

/// Consumer invoices below this amount, in cents, are sent as summaries.
const THRESHOLD: u64 = 25_000_000;
/// Income tax that a buyer withholds, in percent: of a purchase (type 41), and of a payment abroad (type 47).
const WITHHELD: u64 = 10;
const WITHHELD_ABROAD: u64 = 27;
/// The quantity of an invoice that notes may modify, of which a note corrects one.
const QUANTITY: u64 = 2;

/// The company's own data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Data {
    /// The company.
    pub rnc: Rnc,
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: String,
    /// Who buys, and sells in type 41.
    pub buyer: Buyer,
    /// The name of a buyer abroad.
    pub foreign_buyer: String,
    /// What is sold; at least one.
    pub items: Vec<Item>,
    /// Whether the software is that of a certified provider, for which one receipt of each kind is enough.
    pub certified_provider: bool,
}

/// A taxpayer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buyer {
    /// Its number.
    pub rnc: Rnc,
    /// Its name.
    pub name: String,
}

/// What is sold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Its name.
    pub name: String,
    /// The price of one, without ITBIS, in cents.
    pub price: u64,
    /// Whether it is a service.
    pub is_service: bool,
    /// Whether ITBIS of 18 % is due on it.
    pub is_taxed: bool,
}

/// A receipt of the simulation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// The part of the run.
    pub phase: Phase,
    /// Its type.
    pub receipt_type: ReceiptType,
    /// The place of the receipt that it modifies, from 0.
    pub modifies: Option<usize>,
    /// The place of the receipt that this is the full invoice of, which a person uploads.
    pub invoice_of: Option<usize>,
    payload: Node,
}

/// Why the data cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    /// No item is cheap enough for a consumer invoice below RD$250,000.00.
    TooDear,
    /// What the authority would reject in a receipt of this type.
    Rejected(ReceiptType, Vec<Violation>),
}

impl Planned {
    /// The document of a receipt that modifies nothing, or of a note on the receipt with this number and date.
    pub fn payload(&self, modified: Option<(Encf, Fecha)>) -> Node {
        let mut payload = self.payload.clone();
        if let (Node::Object(members), Some((encf, issued))) = (&mut payload, modified) {
            let reference = object([
                ("NCFModificado", text(encf)),
                ("FechaNCFModificado", text(issued)),
                ("CodigoModificacion", number(3)),
            ]);
            members.push(("InformacionReferencia".into(), reference));
        }
        payload
    }

    /// The completed document, judged by the rules as of a day.
    ///
    /// # Errors
    ///
    /// What the authority would reject.
    pub fn judged(
        &self,
        modified: Option<(Encf, Fecha)>,
        environment: Environment,
        today: Fecha,
    ) -> Result<Ecf, Vec<Violation>> {
        let (draft, _) = Draft::read(self.receipt_type, &self.payload(modified), Amounts::Scaled)?;
        let rates = IscRates::of(environment);
        judge(draft, environment, today, &rates, OnConditional::Warn).map(|(ecf, _)| ecf)
    }
}

/// The receipts that the authority requires, in the order of sending, all of this day.
///
/// # Errors
///
/// The first receipt that the authority would reject.
pub fn plan(data: &Data, environment: Environment, today: Fecha) -> Result<Vec<Planned>, Unusable> {
    let maker = Maker { data, today };
    let mut plan: Vec<Planned> = Vec::new();
    for (receipt_type, count, kind) in REQUIRED {
        let count = if data.certified_provider { 1 } else { count };
        for number in 0..count {
            plan.push(maker.receipt(receipt_type, kind, number));
        }
    }
    let uploads = plan.iter().filter(|one| one.phase == Phase::Summaries).count();
    let first = plan.len() - uploads;
    for place in first..first + uploads {
        let payload = plan[place].payload.clone();
        plan.push(Planned {
            phase: Phase::Uploads,
            receipt_type: ReceiptType::E32,
            modifies: None,
            invoice_of: Some(place),
            payload,
        });
    }
    for one in &plan {
        let modified = one
            .modifies
            .and_then(|_| Some((Encf::new(ReceiptType::E31, 1).ok()?, today)));
        let judged = one.judged(modified, environment, today);
        let ecf = judged.map_err(|violations| Unusable::Rejected(one.receipt_type, violations))?;
        if one.phase == Phase::Summaries && !ecf.goes_as_summary() {
            return Err(Unusable::TooDear);
        }
    }
    Ok(plan)
}

/// A part of the requirements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Receipt,
    /// A consumer invoice from RD$250,000.00 on.
    Large,
    Note,
    /// A consumer invoice that is sent as a summary.
    Small,
}

/// What the portal counts in step 4, in the order of sending.
const REQUIRED: [(ReceiptType, u64, Kind); 11] = [
    (ReceiptType::E31, 4, Kind::Receipt),
    (ReceiptType::E32, 2, Kind::Large),
    (ReceiptType::E41, 2, Kind::Receipt),
    (ReceiptType::E43, 2, Kind::Receipt),
    (ReceiptType::E44, 2, Kind::Receipt),
    (ReceiptType::E45, 2, Kind::Receipt),
    (ReceiptType::E46, 2, Kind::Receipt),
    (ReceiptType::E47, 2, Kind::Receipt),
    (ReceiptType::E33, 1, Kind::Note),
    (ReceiptType::E34, 2, Kind::Note),
    (ReceiptType::E32, 4, Kind::Small),
];

struct Maker<'d> {
    data: &'d Data,
    today: Fecha,
}

impl Maker<'_> {
    /// The receipt with this number, from 0, among those of its kind. Each note modifies an invoice of type 31, which
    /// come first.
    fn receipt(&self, receipt_type: ReceiptType, kind: Kind, number: u64) -> Planned {
        let place = usize::try_from(number).unwrap_or_default();
        let with_itbis = |item: &&Item| item.price.saturating_mul(if item.is_taxed { 118 } else { 100 });
        let cheapest = self.data.items.iter().min_by_key(with_itbis);
        let item = match kind {
            Kind::Small => cheapest,
            _ => self.data.items.get(place % self.data.items.len().max(1)),
        };
        let item = item.cloned().unwrap_or_else(|| Item {
            name: String::new(),
            price: 0,
            is_service: true,
            is_taxed: false,
        });
        let quantity = match kind {
            Kind::Receipt => QUANTITY,
            Kind::Large => THRESHOLD.div_ceil(item.price.max(1)),
            Kind::Note | Kind::Small => 1,
        };
        Planned {
            phase: match kind {
                Kind::Receipt | Kind::Large => Phase::Receipts,
                Kind::Note => Phase::Notes,
                Kind::Small => Phase::Summaries,
            },
            receipt_type,
            modifies: (kind == Kind::Note).then_some(place),
            invoice_of: None,
            payload: self.payload(receipt_type, &item, quantity),
        }
    }

    fn payload(&self, receipt_type: ReceiptType, item: &Item, quantity: u64) -> Node {
        let data = self.data;
        let amount = item.price.saturating_mul(quantity);
        let sells = !matches!(receipt_type, ReceiptType::E41 | ReceiptType::E43 | ReceiptType::E47);
        let is_taxed = item.is_taxed && sells && !matches!(receipt_type, ReceiptType::E44 | ReceiptType::E46);
        let mut id_doc = Vec::new();
        if is_taxed {
            id_doc.push(("IndicadorMontoGravado", number(0)));
        }
        if receipt_type == ReceiptType::E34 {
            id_doc.push(("IndicadorNotaCredito", number(0)));
        }
        if sells {
            id_doc.push(("TipoIngresos", text("01")));
        }
        if !matches!(receipt_type, ReceiptType::E43 | ReceiptType::E47) {
            id_doc.push(("TipoPago", number(1)));
        }
        // A payment abroad is one for a service.
        let is_service = item.is_service || receipt_type == ReceiptType::E47;
        let withheld = |percent: u64| money(amount.saturating_mul(percent) / 100);
        let mut line = vec![
            (
                "IndicadorFacturacion",
                number(match receipt_type {
                    ReceiptType::E46 => 3,
                    _ if is_taxed => 1,
                    _ => 4,
                }),
            ),
            ("NombreItem", text(&item.name)),
            ("IndicadorBienoServicio", number(if is_service { 2 } else { 1 })),
            ("CantidadItem", number(quantity)),
            ("PrecioUnitarioItem", money(item.price)),
            ("MontoItem", money(amount)),
        ];
        let agent = ("IndicadorAgenteRetencionoPercepcion", number(1));
        match receipt_type {
            ReceiptType::E41 => {
                // An exempt amount has no ITBIS to withhold; the authority requires an explicit zero. Income tax is
                // withheld from services.
                let mut withholding = vec![agent, ("MontoITBISRetenido", money(0))];
                if item.is_service {
                    withholding.push(("MontoISRRetenido", withheld(WITHHELD)));
                }
                line.push(("Retencion", object(withholding)));
            }
            ReceiptType::E47 => {
                let withholding = [agent, ("MontoISRRetenido", withheld(WITHHELD_ABROAD))];
                line.push(("Retencion", object(withholding)));
            }
            _ => {}
        }
        let mut header = vec![
            ("IdDoc", object(id_doc)),
            (
                "Emisor",
                object([
                    ("RNCEmisor", text(&data.rnc)),
                    ("RazonSocialEmisor", text(&data.name)),
                    ("DireccionEmisor", text(&data.address)),
                    ("FechaEmision", text(self.today)),
                ]),
            ),
        ];
        match receipt_type {
            ReceiptType::E43 | ReceiptType::E47 => {}
            ReceiptType::E46 => header.push((
                "Comprador",
                object([("RazonSocialComprador", text(&data.foreign_buyer))]),
            )),
            _ => header.push((
                "Comprador",
                object([
                    ("RNCComprador", text(&data.buyer.rnc)),
                    ("RazonSocialComprador", text(&data.buyer.name)),
                ]),
            )),
        }
        object([
            ("Encabezado", object(header)),
            ("DetallesItems", object([("Item", Node::Array(vec![object(line)]))])),
        ])
    }
}

fn object(members: impl IntoIterator<Item = (&'static str, Node)>) -> Node {
    Node::Object(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

fn text(value: impl ToString) -> Node {
    Node::Text(value.to_string().into())
}

fn number(value: u64) -> Node {
    Node::Number(value.to_string().into())
}

fn money(cents: u64) -> Node {
    Node::Number(format!("{}.{:02}", cents / 100, cents % 100).into())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn data() -> Data {
        Data {
            rnc: "130000001".parse().unwrap(),
            name: "EMISOR SRL".to_owned(),
            address: "Calle Uno 1, Santo Domingo".to_owned(),
            buyer: Buyer {
                rnc: "101672919".parse().unwrap(),
                name: "CLIENTE SRL".to_owned(),
            },
            foreign_buyer: "CLIENT INC".to_owned(),
            items: vec![
                Item {
                    name: "Asesoría".to_owned(),
                    price: 150_000,
                    is_service: true,
                    is_taxed: true,
                },
                Item {
                    name: "Silla".to_owned(),
                    price: 899_950,
                    is_service: false,
                    is_taxed: false,
                },
            ],
            certified_provider: false,
        }
    }

    fn today() -> Fecha {
        "30-11-2026".parse().unwrap()
    }

    fn counts(plan: &[Planned]) -> BTreeMap<(Phase, &'static str), usize> {
        let mut counts = BTreeMap::new();
        for one in plan {
            *counts.entry((one.phase, one.receipt_type.as_str())).or_default() += 1;
        }
        counts
    }

    #[test]
    fn every_required_receipt_is_planned_and_passes_the_rules() {
        let plan = plan(&data(), Environment::CerteCF, today()).unwrap();
        let expected = [
            (Phase::Receipts, "31", 4),
            (Phase::Receipts, "32", 2),
            (Phase::Receipts, "41", 2),
            (Phase::Receipts, "43", 2),
            (Phase::Receipts, "44", 2),
            (Phase::Receipts, "45", 2),
            (Phase::Receipts, "46", 2),
            (Phase::Receipts, "47", 2),
            (Phase::Notes, "33", 1),
            (Phase::Notes, "34", 2),
            (Phase::Summaries, "32", 4),
            (Phase::Uploads, "32", 4),
        ];
        let expected: BTreeMap<_, _> = expected.map(|(phase, name, count)| ((phase, name), count)).into();
        assert_eq!(counts(&plan), expected);
        for one in &plan {
            let modified = one.modifies.map(|_| (Encf::new(ReceiptType::E31, 7).unwrap(), today()));
            let ecf = one.judged(modified, Environment::CerteCF, today()).unwrap();
            let is_small = matches!(one.phase, Phase::Summaries | Phase::Uploads);
            assert_eq!(ecf.goes_as_summary(), is_small, "{one:?}");
        }
        // A note modifies an invoice that is sent before it.
        assert!(
            plan.iter()
                .filter_map(|one| one.modifies)
                .all(|place| plan[place].receipt_type == ReceiptType::E31)
        );
    }

    #[test]
    fn with_a_certified_provider_one_of_each_is_enough() {
        let data = Data {
            certified_provider: true,
            ..data()
        };
        let plan = plan(&data, Environment::CerteCF, today()).unwrap();
        assert_eq!((plan.len(), counts(&plan).len()), (12, 12));
    }

    #[test]
    fn what_the_authority_would_reject_is_found_beforehand() {
        let mut dear = data();
        dear.items.iter_mut().for_each(|item| item.price = 25_000_000);
        assert_eq!(plan(&dear, Environment::CerteCF, today()), Err(Unusable::TooDear));
        let mut nameless = data();
        nameless.items[0].name = String::new();
        let refused = plan(&nameless, Environment::CerteCF, today());
        assert!(
            matches!(refused, Err(Unusable::Rejected(ReceiptType::E31, _))),
            "{refused:?}"
        );
    }
}
