//! The cost of receiving a receipt from another issuer, without the store: verify it, read every field, and sign the
//! acknowledgement.
//!
//! Every figure is also printed as a ratio to RSA alone: one signature and one verification of the `openssl` crate with
//! loaded keys, measured alternately in the same process, so that a busy machine slows both. The fastest of many short
//! batches counts.

#![expect(clippy::print_stdout, reason = "a bench prints")]
#![expect(clippy::unwrap_used, reason = "a bench may stop")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use ecf::messages::Arecf;
use ecf::{Document, Heading, structure};
use openssl::hash::MessageDigest;
use openssl::pkcs12::Pkcs12;
use openssl::pkey::{PKey, Private, Public};
use openssl::sign::{Signer, Verifier};
use xmldsig::{Identity, Limits};

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
    let parsed = Pkcs12::from_der(&p12).unwrap().parse2(PIN).unwrap();
    let private = parsed.pkey.unwrap();
    let public = parsed.cert.unwrap().public_key().unwrap();
    let signature = raw_sign(&private);
    println!("{:>22} {:>12} {:>12} {:>8}", "", "raw/s", "received/s", "ratio");
    for items in [1, 10, 100] {
        let xml = xmldsig::sign(receipt(items).as_bytes(), &identity).unwrap().xml;
        let (mut ours, mut raw) = (Duration::MAX, Duration::MAX);
        for _ in 0..rounds {
            raw = raw.min(batch(|| {
                assert!(raw_verify(&public, &signature));
                raw_sign(&private)
            }));
            ours = ours.min(batch(|| receive(&xml, &identity)));
        }
        let rate = |time: Duration| 1.0 / time.as_secs_f64();
        println!(
            "{:>22} {:>12.0} {:>12.0} {:>8.2}",
            format!("{items} items, {} KB", xml.len() / 1024),
            rate(raw),
            rate(ours),
            raw.as_secs_f64() / ours.as_secs_f64()
        );
    }
}

/// Processes a valid receipt as `reception` does; returns the acknowledgement.
fn receive(xml: &[u8], identity: &Identity) -> Vec<u8> {
    let verified = xmldsig::verify(xml, &Limits::default()).unwrap();
    let heading = Heading::from_xml(&verified.document).unwrap();
    let received = Document::from_xml(&verified.document).unwrap();
    assert_eq!(received.violations, []);
    assert_eq!(structure::check(xml, Some(received.receipt_type)).unwrap(), []);
    let (issuer, encf) = (heading.rnc_emisor.unwrap(), heading.encf.unwrap());
    let at = "27-11-2026 10:30:00".parse().unwrap();
    let arecf = Arecf::received(issuer, heading.rnc_comprador.unwrap(), encf, at);
    xmldsig::sign(&arecf.to_xml(), identity).unwrap().xml
}

/// The time of one call, from enough calls to make the clock's own cost negligible.
fn batch<T>(work: impl Fn() -> T) -> Duration {
    const LEAST: Duration = Duration::from_millis(5);
    let (mut calls, start) = (0, Instant::now());
    while start.elapsed() < LEAST {
        black_box(work());
        calls += 1;
    }
    start.elapsed() / calls
}

fn raw_sign(key: &PKey<Private>) -> Vec<u8> {
    let mut signer = Signer::new(MessageDigest::sha256(), key).unwrap();
    signer.sign_oneshot_to_vec(&[7; 600]).unwrap()
}

fn raw_verify(key: &PKey<Public>, signature: &[u8]) -> bool {
    let mut verifier = Verifier::new(MessageDigest::sha256(), key).unwrap();
    verifier.verify_oneshot(signature, &[7; 600]).unwrap()
}

fn receipt(items: usize) -> String {
    let lines: String = (1..=items)
        .map(|line| {
            format!(
                "<Item><NumeroLinea>{line}</NumeroLinea><IndicadorFacturacion>4</IndicadorFacturacion><NombreItem>Artículo número {line}</NombreItem>\
<IndicadorBienoServicio>1</IndicadorBienoServicio><CantidadItem>2.00</CantidadItem><UnidadMedida>43</UnidadMedida>\
<PrecioUnitarioItem>500.0000</PrecioUnitarioItem><MontoItem>1000.00</MontoItem></Item>"
            )
        })
        .collect();
    let total = format!("{}.00", 1_000 * items);
    format!(
        "<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>31</TipoeCF><eNCF>E310000000001</eNCF>\
<FechaVencimientoSecuencia>31-12-2028</FechaVencimientoSecuencia><TipoIngresos>01</TipoIngresos><TipoPago>1</TipoPago></IdDoc>\
<Emisor><RNCEmisor>101672919</RNCEmisor><RazonSocialEmisor>Suplidora del Este SRL</RazonSocialEmisor>\
<DireccionEmisor>Calle Primera 1</DireccionEmisor><FechaEmision>27-11-2026</FechaEmision></Emisor>\
<Comprador><RNCComprador>130000001</RNCComprador><RazonSocialComprador>Cliente SRL</RazonSocialComprador></Comprador>\
<Totales><MontoExento>{total}</MontoExento><MontoTotal>{total}</MontoTotal></Totales></Encabezado><DetallesItems>{lines}</DetallesItems>\
<FechaHoraFirma>27-11-2026 10:30:00</FechaHoraFirma></ECF>"
    )
}
