//! Signing and verifying, measured against RSA alone.
//!
//! "Raw" is the `openssl` crate with a loaded key, signing or verifying 600 bytes. Every figure is the ratio of two
//! rates that were measured alternately in the same run, so a busy machine slows both. The fastest of many short
//! batches counts.
//!
//! "Peak" is the peak memory (`VmHWM`) of a separate process, minus that of a process that only reads the same files. A
//! word on the command line selects figures: `cargo bench -p xmldsig -- verify`.

#![expect(clippy::print_stdout, reason = "a bench prints")]
#![expect(clippy::unwrap_used, reason = "a bench may stop")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use openssl::hash::MessageDigest;
use openssl::pkcs12::Pkcs12;
use openssl::pkey::{PKey, Private, Public};
use openssl::sign::{Signer, Verifier};
use test_certificates::{Cipher, Party};
use xmldsig::{Identity, Limits, sign, sign_foreign, verify};

const PASSWORD: &str = "clave";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, operation, document, p12] = arguments.as_slice()
        && flag == "--peak"
    {
        return hold(operation, document, p12);
    }
    // `cargo test --benches` runs each case once.
    let rounds = if arguments.iter().any(|argument| argument == "--test") {
        1
    } else {
        60
    };
    let selection = arguments.iter().find(|argument| !argument.starts_with('-'));
    let bench = Bench {
        rounds,
        selection: selection.cloned().unwrap_or_default(),
    };
    let (from, to) = (
        "2020-01-01T00:00:00Z".parse().unwrap(),
        "2040-01-01T00:00:00Z".parse().unwrap(),
    );
    let party = Party::new("Firma de prueba", "IDCDO-00100000001", from, to).unwrap();
    let p12 = test_certificates::file(Some(&party), &[&party], Cipher::Aes256, PASSWORD).unwrap();
    let identity = Identity::from_pkcs12(&p12, PASSWORD, from).unwrap();
    let parsed = Pkcs12::from_der(&p12).unwrap().parse2(PASSWORD).unwrap();
    let private = parsed.pkey.unwrap();
    let public = parsed.cert.unwrap().public_key().unwrap();
    let raw_signature = raw_sign(&private);
    let limits = Limits::default();

    println!(
        "{:>28} {:>12} {:>12} {:>8} {:>12}",
        "", "raw/s", "ours/s", "ratio", "peak KB"
    );
    for items in [1, 10, 1000] {
        let document = receipt(items);
        let signed = sign(document.as_bytes(), &identity).unwrap().xml;
        let files = Files::write(document.as_bytes(), &signed, &p12);
        bench.compare(
            &format!("sign, {items} items, {} KB", document.len() / 1000),
            || files.peak("sign", &files.document),
            || drop(black_box(raw_sign(&private))),
            || drop(black_box(sign(black_box(document.as_bytes()), &identity).unwrap())),
        );
        bench.compare(
            &format!("sign foreign, {items} items"),
            || files.peak("sign-foreign", &files.document),
            || drop(black_box(raw_sign(&private))),
            || {
                drop(black_box(
                    sign_foreign(black_box(document.as_bytes()), &identity, &limits).unwrap(),
                ))
            },
        );
        bench.compare(
            &format!("verify, {items} items"),
            || files.peak("verify", &files.signed),
            || assert!(black_box(raw_verify(&public, &raw_signature))),
            || drop(black_box(verify(black_box(&signed), &limits).unwrap())),
        );
    }
    for (name, cipher) in [
        ("AES-256", Cipher::Aes256),
        ("3DES", Cipher::TripleDes),
        ("RC2-40", Cipher::Rc2With40Bits),
    ] {
        let p12 = test_certificates::file(Some(&party), &[&party], cipher, PASSWORD).unwrap();
        bench.compare(
            &format!("open a P12, {name}"),
            || None,
            || drop(black_box(raw_sign(&private))),
            || {
                drop(black_box(
                    Identity::from_pkcs12(black_box(&p12), PASSWORD, from).unwrap(),
                ))
            },
        );
    }
}

/// The input files of a process that measures memory.
struct Files {
    document: PathBuf,
    signed: PathBuf,
    p12: PathBuf,
}

impl Files {
    fn write(document: &[u8], signed: &[u8], p12: &[u8]) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        Self {
            document: write("bench-document.xml", document),
            signed: write("bench-signed.xml", signed),
            p12: write("bench.p12", p12),
        }
    }

    /// Kilobytes that `operation` needs in addition to reading; `None` where the system does not report it.
    fn peak(&self, operation: &str, document: &Path) -> Option<u64> {
        let held = |operation: &str| -> Option<u64> {
            let child = Command::new(std::env::current_exe().unwrap())
                .args(["--peak", operation])
                .args([document, &self.p12])
                .output()
                .unwrap();
            String::from_utf8(child.stdout).unwrap().trim().parse().ok()
        };
        Some(held(operation)?.saturating_sub(held("read")?))
    }
}

/// Runs `operation` a few times and prints the peak memory of the process.
fn hold(operation: &str, document: &str, p12: &str) {
    let document = std::fs::read(document).unwrap();
    let identity = Identity::from_pkcs12(&std::fs::read(p12).unwrap(), PASSWORD, Timestamp::UNIX_EPOCH).unwrap();
    let limits = Limits::default();
    for _ in 0..5 {
        match operation {
            "sign" => drop(black_box(sign(&document, &identity).unwrap())),
            "sign-foreign" => drop(black_box(sign_foreign(&document, &identity, &limits).unwrap())),
            "verify" => drop(black_box(verify(&document, &limits).unwrap())),
            _ => {}
        }
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(line) = status.lines().find_map(|line| line.strip_prefix("VmHWM:")) {
        println!("{}", line.trim_end_matches("kB").trim());
    }
}

const MESSAGE: [u8; 600] = [b'a'; 600];

fn raw_sign(key: &PKey<Private>) -> Vec<u8> {
    Signer::new(MessageDigest::sha256(), key)
        .unwrap()
        .sign_oneshot_to_vec(&MESSAGE)
        .unwrap()
}

fn raw_verify(key: &PKey<Public>, signature: &[u8]) -> bool {
    Verifier::new(MessageDigest::sha256(), key)
        .unwrap()
        .verify_oneshot(signature, &MESSAGE)
        .unwrap()
}

struct Bench {
    rounds: usize,
    selection: String,
}

impl Bench {
    fn compare(&self, name: &str, peak: impl FnOnce() -> Option<u64>, mut raw: impl FnMut(), mut ours: impl FnMut()) {
        if !name.contains(&self.selection) {
            return;
        }
        let (mut fastest_raw, mut fastest_ours) = (Duration::MAX, Duration::MAX);
        for _ in 0..self.rounds {
            fastest_raw = fastest_raw.min(per_run(&mut raw));
            fastest_ours = fastest_ours.min(per_run(&mut ours));
        }
        let (raw, ours) = (1.0 / fastest_raw.as_secs_f64(), 1.0 / fastest_ours.as_secs_f64());
        let peak = peak().map_or_else(|| "-".to_owned(), |kilobytes| kilobytes.to_string());
        println!("{name:>28} {raw:>12.0} {ours:>12.0} {:>8.3} {peak:>12}", ours / raw);
    }
}

/// The time of one run, from a batch of about five milliseconds.
fn per_run(run: &mut impl FnMut()) -> Duration {
    const BATCH: Duration = Duration::from_millis(5);
    let start = Instant::now();
    let mut runs = 0;
    loop {
        run();
        runs += 1;
        let elapsed = start.elapsed();
        if elapsed >= BATCH {
            return elapsed / runs;
        }
    }
}

/// A receipt of type 31 in canonical form, of realistic size.
fn receipt(items: usize) -> String {
    let mut xml = String::from(
        "<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>31</TipoeCF><eNCF>E310000000001</eNCF>\
         <FechaVencimientoSecuencia>31-12-2028</FechaVencimientoSecuencia><IndicadorMontoGravado>0</IndicadorMontoGravado>\
         <TipoIngresos>01</TipoIngresos><TipoPago>1</TipoPago></IdDoc><Emisor><RNCEmisor>131880681</RNCEmisor>\
         <RazonSocialEmisor>Compañía de Ensayo &amp; Asociados SRL</RazonSocialEmisor><NombreComercial>Ensayo</NombreComercial>\
         <DireccionEmisor>Av. Principal No. 10, Ensanche Central</DireccionEmisor><Municipio>010100</Municipio>\
         <Provincia>010000</Provincia><CorreoEmisor>pruebas@ensayo.example</CorreoEmisor>\
         <NumeroFacturaInterna>FI-000001</NumeroFacturaInterna><FechaEmision>01-11-2026</FechaEmision></Emisor><Comprador>\
         <RNCComprador>101000001</RNCComprador><RazonSocialComprador>Distribuidora del Sur, Muñoz y Peña</RazonSocialComprador>\
         <DireccionComprador>Calle Segunda No. 5, San Cristóbal</DireccionComprador></Comprador><Totales>\
         <MontoGravadoTotal>1000.00</MontoGravadoTotal><MontoGravadoI1>1000.00</MontoGravadoI1><ITBIS1>18</ITBIS1>\
         <TotalITBIS>180.00</TotalITBIS><TotalITBIS1>180.00</TotalITBIS1><MontoTotal>1180.00</MontoTotal>\
         <ValorPagar>1180.00</ValorPagar></Totales></Encabezado><DetallesItems>",
    );
    for item in 1..=items {
        write!(
            xml,
            "<Item><NumeroLinea>{item}</NumeroLinea><TablaCodigosItem><CodigosItem><TipoCodigo>INTERNA</TipoCodigo>\
             <CodigoItem>SKU-{item:06}</CodigoItem></CodigosItem></TablaCodigosItem><IndicadorFacturacion>1</IndicadorFacturacion>\
             <NombreItem>Servicio de instalación &amp; pruebas</NombreItem><IndicadorBienoServicio>2</IndicadorBienoServicio>\
             <DescripcionItem>Línea {item}: descripción con eñes y acentos, lote {}</DescripcionItem>\
             <CantidadItem>2.00</CantidadItem><UnidadMedida>43</UnidadMedida><PrecioUnitarioItem>500.0000</PrecioUnitarioItem>\
             <MontoItem>1000.00</MontoItem></Item>",
            item * 7919 % 100_000
        )
        .unwrap();
    }
    xml.push_str("</DetallesItems><FechaHoraFirma>01-11-2026 10:15:30</FechaHoraFirma></ECF>");
    xml
}
