//! The cost of the engine: from a JSON payload without totals to canonical XML, step by step, and finally signed.
//!
//! Every figure is also printed as a ratio to one RSA-2048 signature of the `openssl` crate, measured alternately in
//! the same process, so that a busy machine slows both. The fastest of many short batches counts.

#![expect(clippy::print_stdout, reason = "a bench prints")]
#![expect(clippy::unwrap_used, reason = "a bench may stop")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use ecf::rules::{self, Context};
use ecf::totals::{self, IscRates};
use ecf::{Amounts, Draft, Ecf, Encf, Environment, Node, ReceiptType};
use openssl::hash::MessageDigest;
use openssl::pkcs12::Pkcs12;
use openssl::pkey::{PKey, Private};
use openssl::sign::Signer;
use serde_json::{Value, json};
use xmldsig::Identity;

const PIN: &str = "clave";

fn main() {
    // `cargo test --benches` runs each case once.
    let rounds = if std::env::args().any(|argument| argument == "--test") {
        1
    } else {
        60
    };
    let (from, to) = (
        "2020-01-01T00:00:00Z".parse().unwrap(),
        "2040-01-01T00:00:00Z".parse().unwrap(),
    );
    let p12 = test_certificates::pkcs12("Firma de prueba", "IDCDO-00100000001", PIN, from, to).unwrap();
    let identity = Identity::from_pkcs12(&p12, PIN, from).unwrap();
    let key = Pkcs12::from_der(&p12).unwrap().parse2(PIN).unwrap().pkey.unwrap();
    println!("{:>34} {:>10} {:>10}", "", "µs", "× RSA");
    for lines in [1, 10, 1_000] {
        measure(lines, rounds, &key, &identity);
    }
}

fn measure(lines: usize, rounds: usize, key: &PKey<Private>, identity: &Identity) {
    let payload = payload(lines).to_string().into_bytes();
    let rates = IscRates::of(Environment::TesteCF);
    let ecf = completed(read(&payload), &rates);
    let draft = read(&payload);
    let step = |name: &str, work: &dyn Fn() -> Duration| {
        let (mut ours, mut rsa) = (Duration::MAX, Duration::MAX);
        for _ in 0..rounds {
            rsa = rsa.min(batch(&|| timed(|| sign(key))));
            ours = ours.min(batch(work));
        }
        let name = format!("{lines} lines, {name}");
        let ratio = ours.as_secs_f64() / rsa.as_secs_f64();
        println!("{name:>34} {:>10.1} {ratio:>10.3}", ours.as_secs_f64() * 1e6);
    };
    step("parse and read", &|| timed(|| read(&payload)));
    step("totals", &|| {
        timed(|| totals::compute(draft.document(), ReceiptType::E31, &rates))
    });
    step("rules", &|| timed(|| obstacles(&ecf, &rates)));
    step("totals, structure and rules", &|| {
        let draft = draft.clone();
        timed(|| {
            let ecf = completed(draft, &rates);
            assert_eq!(obstacles(&ecf, &rates), 0);
            ecf
        })
    });
    step("XML", &|| {
        let ecf = ecf.clone();
        timed(|| xml(ecf))
    });
    step("all", &|| {
        timed(|| {
            let ecf = completed(read(&payload), &rates);
            assert_eq!(obstacles(&ecf, &rates), 0);
            xml(ecf)
        })
    });
    step("signed too", &|| {
        timed(|| {
            let ecf = completed(read(&payload), &rates);
            assert_eq!(obstacles(&ecf, &rates), 0);
            xmldsig::sign(&xml(ecf), identity).unwrap()
        })
    });
}

/// The time of one call, without dropping its result.
fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let made = black_box(work());
    let elapsed = start.elapsed();
    drop(made);
    elapsed
}

/// The time of one call, from enough calls to make the clock's own cost negligible.
fn batch(work: &dyn Fn() -> Duration) -> Duration {
    const LEAST: Duration = Duration::from_millis(2);
    let (mut calls, mut spent) = (0, Duration::ZERO);
    while spent < LEAST {
        spent += work();
        calls += 1;
    }
    spent / calls
}

fn sign(key: &PKey<Private>) -> Vec<u8> {
    let mut signer = Signer::new(MessageDigest::sha256(), key).unwrap();
    signer.sign_oneshot_to_vec(&[7; 600]).unwrap()
}

fn read(payload: &[u8]) -> Draft {
    let node = Node::parse(payload).unwrap();
    Draft::read(ReceiptType::E31, &node, Amounts::Scaled).unwrap().0
}

fn completed(mut draft: Draft, rates: &IscRates) -> Ecf {
    draft.complete(rates);
    draft.check().unwrap_or_else(|told| panic!("{told:#?}"))
}

/// The number of findings that would stop the receipt.
fn obstacles(ecf: &Ecf, rates: &IscRates) -> usize {
    let context = Context {
        receipt_type: ecf.receipt_type(),
        environment: Environment::TesteCF,
        today: "27-11-2026".parse().unwrap(),
        computed: ecf.computed().unwrap(),
        rates,
    };
    let found = rules::check(ecf.document(), &context);
    found
        .iter()
        .filter(|violation| violation.grade != ecf::Grade::Notice)
        .count()
}

fn xml(ecf: Ecf) -> Vec<u8> {
    let number = Encf::new(ReceiptType::E31, 1).unwrap();
    let numbered = ecf.numbered(number, Some("31-12-2028".parse().unwrap())).unwrap();
    numbered.to_xml("27-11-2026 10:30:00".parse().unwrap())
}

/// An invoice without amounts: taxed and exempt lines, every third with a discount, every fourth with propina legal.
fn payload(lines: usize) -> Value {
    let line = |place: usize| {
        let mut line = json!({
            "IndicadorFacturacion": if place.is_multiple_of(5) { 4 } else { 1 },
            "NombreItem": format!("Artículo número {place}"),
            "IndicadorBienoServicio": 1,
            "CantidadItem": format!("{}.50", place % 40 + 1),
            "UnidadMedida": "43",
            "PrecioUnitarioItem": format!("{}.{:04}", place % 900 + 10, place * 7 % 10_000),
        });
        if place.is_multiple_of(3) {
            line["TablaSubDescuento"] = json!([{"TipoSubDescuento": "%", "SubDescuentoPorcentaje": "7.5"}]);
        }
        if place.is_multiple_of(4) {
            line["TablaImpuestoAdicional"] = json!([{"TipoImpuesto": "001"}]);
        }
        line
    };
    json!({
        "Encabezado": {
            "IdDoc": {"TipoPago": 1, "TipoIngresos": "01", "IndicadorMontoGravado": 0},
            "Emisor": {"RNCEmisor": "101000011", "RazonSocialEmisor": "Emisor SRL", "DireccionEmisor": "Calle 1", "FechaEmision": "27-11-2026"},
            "Comprador": {"RNCComprador": "101000021", "RazonSocialComprador": "Cliente SRL"}
        },
        "DetallesItems": {"Item": (1..=lines).map(line).collect::<Vec<Value>>()}
    })
}
