//! P12 files of every kind: made here with OpenSSL, and those of `../shared/bench/gen_keys.sh` if the `openssl` tool is
//! installed.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use openssl::bn::{BigNum, BigNumRef, MsbOption};
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkcs12::Pkcs12;
use openssl::pkey::{PKey, Private};
use openssl::provider::Provider;
use openssl::rsa::Rsa;
use openssl::stack::Stack;
use openssl::x509::X509;
use xmldsig::{CertificateError, Identity, P12Error, P12Problem, inspect_pkcs12};

const PASSWORD: &str = "prueba123";

fn instant(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn now() -> Timestamp {
    instant("2026-11-28T00:00:00Z")
}

fn key_and_certificate(common_name: &str) -> (PKey<Private>, X509) {
    let key = PKey::from_rsa(Rsa::generate(2048).unwrap()).unwrap();
    let certificate = self_signed(&key, common_name);
    (key, certificate)
}

fn self_signed(key: &PKey<Private>, common_name: &str) -> X509 {
    let (from, to) = (instant("2026-01-01T00:00:00Z"), instant("2028-01-01T00:00:00Z"));
    test_certificates::self_signed(key, common_name, "IDCDO-00100000009", from, to).unwrap()
}

struct Recipe {
    key: Nid,
    certificate: Nid,
    mac: MessageDigest,
}

fn p12(key: &PKey<Private>, certificate: &X509, password: &str, recipe: &Recipe) -> Vec<u8> {
    let mut builder = Pkcs12::builder();
    builder
        .name("prueba")
        .pkey(key)
        .cert(certificate)
        .key_algorithm(recipe.key)
        .cert_algorithm(recipe.certificate);
    builder.mac_md(recipe.mac);
    builder.build2(password).unwrap().to_der().unwrap()
}

#[test]
fn every_cipher_and_mac_opens_with_every_kind_of_password() {
    let (key, certificate) = key_and_certificate("Firma de prueba");
    let ciphers = [
        Nid::AES_128_CBC,
        Nid::AES_192_CBC,
        Nid::AES_256_CBC,
        Nid::DES_EDE3_CBC,
        Nid::PBE_WITHSHA1AND3_KEY_TRIPLEDES_CBC,
        Nid::PBE_WITHSHA1AND2_KEY_TRIPLEDES_CBC,
    ];
    let macs = [
        MessageDigest::sha1(),
        MessageDigest::sha224(),
        MessageDigest::sha256(),
        MessageDigest::sha384(),
        MessageDigest::sha512(),
    ];
    let passwords = [
        "",
        PASSWORD,
        "contraseña",
        "żółć €",
        "clave \u{1F600}",
        &"largo".repeat(60),
    ];
    for cipher in ciphers {
        for (at, mac) in macs.into_iter().enumerate() {
            let password = passwords[at % passwords.len()];
            let der = p12(
                &key,
                &certificate,
                password,
                &Recipe {
                    key: cipher,
                    certificate: cipher,
                    mac,
                },
            );
            let identity = Identity::from_pkcs12(&der, password, now())
                .unwrap_or_else(|error| panic!("{cipher:?} {password:?}: {error}"));
            assert_eq!(identity.certificate().der, certificate.to_der().unwrap());
            identity.prove().unwrap();
            assert_eq!(
                Identity::from_pkcs12(&der, "equivocada", now()).unwrap_err(),
                P12Error::WrongPassword
            );
        }
    }
    for password in passwords {
        let recipe = Recipe {
            key: ciphers[2],
            certificate: ciphers[4],
            mac: MessageDigest::sha256(),
        };
        assert!(
            Identity::from_pkcs12(&p12(&key, &certificate, password, &recipe), password, now()).is_ok(),
            "{password:?}"
        );
    }
}

#[test]
fn the_certificate_is_read_into_plain_values() {
    let (from, to) = (instant("2026-01-01T00:00:00Z"), instant("2028-01-01T00:00:00Z"));
    let der = test_certificates::pkcs12("Añejo Ñandú", "IDCDO-00100000001", PASSWORD, from, to).unwrap();
    let identity = Identity::from_pkcs12(&der, PASSWORD, now()).unwrap();
    let certificate = identity.certificate();
    assert_eq!(certificate.subject_cn, "Añejo Ñandú");
    assert_eq!(certificate.subject_serial.as_deref(), Some("IDCDO-00100000001"));
    assert_eq!(
        certificate.subject,
        "C=DO, CN=Añejo Ñandú, serialNumber=IDCDO-00100000001"
    );
    assert_eq!(certificate.issuer, certificate.subject);
    assert!(certificate.self_issued);
    assert_eq!((certificate.not_before, certificate.not_after), (from, to));
    let usage = certificate.key_usage.unwrap();
    assert!(usage.digital_signature && usage.non_repudiation && usage.key_encipherment && !usage.certificate_signing);
    assert!(certificate.is_valid_at(from) && certificate.is_valid_at(to));
    let before = instant("2025-12-31T23:59:59Z");
    let after = instant("2028-01-01T00:00:01Z");
    assert_eq!(
        certificate.check_usable_at(before),
        Err(CertificateError::NotYetValid {
            not_before: from,
            now: before
        })
    );
    assert_eq!(
        certificate.check_usable_at(after),
        Err(CertificateError::Expired {
            not_after: to,
            now: after
        })
    );
    assert_eq!(certificate.check_usable_at(from), Ok(()));
    assert!(format!("{identity:?}").contains("key: \"***\""));
    assert_eq!(certificate.fingerprint_hex().len(), 64);
}

#[test]
fn the_leaf_is_the_certificate_that_fits_the_key() {
    let (key, leaf) = key_and_certificate("Hoja");
    let (_, authority) = key_and_certificate("Autoridad");
    let (_, root) = key_and_certificate("Raíz");
    // Without a certificate for the key, OpenSSL writes the others in the given order.
    let mut chain = Stack::new().unwrap();
    for certificate in [root, authority, leaf] {
        chain.push(certificate).unwrap();
    }
    let der = Pkcs12::builder()
        .pkey(&key)
        .ca(chain)
        .build2(PASSWORD)
        .unwrap()
        .to_der()
        .unwrap();
    let identity = Identity::from_pkcs12(&der, PASSWORD, now()).unwrap();
    assert_eq!(identity.certificate().subject_cn, "Hoja");
    let others: Vec<_> = identity
        .other_certificates()
        .iter()
        .map(|other| other.subject_cn.as_str())
        .collect();
    assert_eq!(others, ["Raíz", "Autoridad"]);
}

#[test]
fn a_certificate_of_another_key_is_told() {
    let (key, _) = key_and_certificate("Hoja");
    let (_, foreign) = key_and_certificate("Ajena");
    let mut chain = Stack::new().unwrap();
    chain.push(foreign).unwrap();
    let der = Pkcs12::builder()
        .pkey(&key)
        .ca(chain)
        .build2(PASSWORD)
        .unwrap()
        .to_der()
        .unwrap();
    assert_eq!(
        Identity::from_pkcs12(&der, PASSWORD, now()).unwrap_err(),
        P12Error::KeyMismatch { certificates: 1 }
    );
}

/// Old ciphers, which OpenSSL writes only with its legacy provider.
#[test]
fn rc2_opens_and_rc4_is_named() {
    let _legacy = Provider::try_load(None, "legacy", true).unwrap();
    let (key, certificate) = key_and_certificate("Firma vieja");
    let with = |cipher| {
        let recipe = Recipe {
            key: cipher,
            certificate: cipher,
            mac: MessageDigest::sha1(),
        };
        Identity::from_pkcs12(&p12(&key, &certificate, "contraseña", &recipe), "contraseña", now())
    };
    for cipher in [Nid::PBE_WITHSHA1AND40BITRC2_CBC, Nid::PBE_WITHSHA1AND128BITRC2_CBC] {
        assert_eq!(with(cipher).unwrap().certificate().subject_cn, "Firma vieja");
    }
    let error = with(Nid::PBE_WITHSHA1AND128BITRC4).unwrap_err();
    assert_eq!(
        error,
        P12Error::UnsupportedCipher {
            name: "PBE-SHA1-RC4-128".to_owned()
        }
    );
    assert!(error.to_string().contains("openssl pkcs12"));
}

/// Before version 1.1, OpenSSL treated each byte of a UTF-8 password as a character.
#[test]
fn passwords_of_old_openssl_are_tried() {
    let (key, certificate) = key_and_certificate("Firma vieja");
    let cipher = Nid::PBE_WITHSHA1AND3_KEY_TRIPLEDES_CBC;
    let recipe = Recipe {
        key: cipher,
        certificate: cipher,
        mac: MessageDigest::sha1(),
    };
    let der = p12(&key, &certificate, "contrase\u{C3}\u{B1}a", &recipe);
    assert!(Identity::from_pkcs12(&der, "contraseña", now()).is_ok());
}

/// A tool uses the bytes that a Latin-1 terminal sends.
#[test]
fn passwords_in_latin_1_are_tried() {
    let (key, certificate) = key_and_certificate("Firma en Latin-1");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("latin_1");
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
    write("key.pem", &key.private_key_to_pem_pkcs8().unwrap());
    write("certificate.pem", &certificate.to_pem().unwrap());
    write("password", b"contrase\xF1a");
    let export = Command::new("openssl")
        .current_dir(&folder)
        .args(["pkcs12", "-export", "-inkey", "key.pem", "-in", "certificate.pem"])
        .args(["-certpbe", "AES-256-CBC", "-keypbe", "AES-256-CBC"])
        .args(["-passout", "file:password", "-out", "file.p12"])
        .output();
    if !export.is_ok_and(|export| export.status.success()) {
        eprintln!("skipped: a P12 with a password in Latin-1 (the openssl tool is not there)");
        return;
    }
    let der = std::fs::read(folder.join("file.p12")).unwrap();
    let identity = Identity::from_pkcs12(&der, "contraseña", now()).unwrap();
    assert_eq!(identity.certificate().subject_cn, "Firma en Latin-1");
    identity.prove().unwrap();
    let wrong = Identity::from_pkcs12(&der, "contrasena", now()).unwrap_err();
    assert_eq!(wrong, P12Error::WrongPassword);
}

/// Streaming tools write indefinite lengths, and octet strings in pieces.
#[test]
fn indefinite_lengths_are_read() {
    let (key, certificate) = key_and_certificate("Firma en BER");
    let cipher = Nid::AES_256_CBC;
    let der = p12(
        &key,
        &certificate,
        PASSWORD,
        &Recipe {
            key: cipher,
            certificate: cipher,
            mac: MessageDigest::sha256(),
        },
    );
    let mut ber = Vec::new();
    streamed(&der, &mut ber);
    assert_ne!(ber, der);
    assert_eq!(
        Identity::from_pkcs12(&ber, PASSWORD, now())
            .unwrap()
            .certificate()
            .subject_cn,
        "Firma en BER"
    );
    assert_eq!(
        Identity::from_pkcs12(&ber, "equivocada", now()).unwrap_err(),
        P12Error::WrongPassword
    );
}

/// Re-encodes DER with indefinite lengths, and long octet strings in pieces of 100 bytes.
fn streamed(mut der: &[u8], ber: &mut Vec<u8>) {
    while let [tag, length, rest @ ..] = der {
        let digits = usize::from(if *length < 0x80 { 0 } else { length & 0x7F });
        let number = rest[..digits]
            .iter()
            .fold(0, |number, &byte| number * 256 + usize::from(byte));
        let length = if digits == 0 { usize::from(*length) } else { number };
        let (contents, after) = rest[digits..].split_at(length);
        if tag & 0x20 != 0 {
            ber.extend([*tag, 0x80]);
            streamed(contents, ber);
            ber.extend([0, 0]);
        } else if *tag == 0x04 && length > 100 {
            ber.extend([0x24, 0x80]);
            for piece in contents.chunks(100) {
                ber.extend([0x04, u8::try_from(piece.len()).unwrap()]);
                ber.extend(piece);
            }
            ber.extend([0, 0]);
        } else {
            ber.extend(&der[..der.len() - after.len()]);
        }
        der = after;
    }
}

#[test]
fn what_is_missing_or_unfit_has_its_own_error() {
    let (key, certificate) = key_and_certificate("Firma de prueba");
    let build = |with_key: Option<&PKey<Private>>, with_certificate: Option<&X509>| {
        let mut builder = Pkcs12::builder();
        if let Some(key) = with_key {
            builder.pkey(key);
        }
        if let Some(certificate) = with_certificate {
            builder.cert(certificate);
        }
        let der = builder.build2(PASSWORD).unwrap().to_der().unwrap();
        Identity::from_pkcs12(&der, PASSWORD, now()).map(|_| ())
    };
    assert_eq!(build(None, Some(&certificate)), Err(P12Error::NoKey));
    assert_eq!(build(Some(&key), None), Err(P12Error::NoCertificate));
    let small = PKey::from_rsa(Rsa::generate(1024).unwrap()).unwrap();
    assert_eq!(
        build(Some(&small), Some(&self_signed(&small, "Chica"))),
        Err(P12Error::KeySize { bits: 1024 })
    );
    let curve = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    let elliptic = PKey::from_ec_key(EcKey::generate(&curve).unwrap()).unwrap();
    assert_eq!(
        build(Some(&elliptic), Some(&self_signed(&elliptic, "Curva"))),
        Err(P12Error::NotRsa)
    );
}

#[test]
fn other_files_are_recognised() {
    let der = test_certificates::pkcs12(
        "Firma",
        "1",
        PASSWORD,
        instant("2026-01-01T00:00:00Z"),
        instant("2028-01-01T00:00:00Z"),
    )
    .unwrap();
    let mangled = String::from_utf8_lossy(&der).into_owned().into_bytes();
    assert!(matches!(
        Identity::from_pkcs12(&mangled, PASSWORD, now()),
        Err(P12Error::MangledAsText { .. })
    ));
    let base64 = openssl::base64::encode_block(&der);
    for (bytes, looks_like) in [
        (&b""[..], "an empty file"),
        (b"-----BEGIN CERTIFICATE-----", "PEM text"),
        (base64.as_bytes(), "base64 text"),
        (b"\xFE\xED\xFE\xED\0\0\0\x02", "a Java key store"),
        (b"PK\x03\x04", "something else"),
        (
            &key_and_certificate("Sola").1.to_der().unwrap(),
            "a certificate without a key",
        ),
    ] {
        let error = Identity::from_pkcs12(bytes, PASSWORD, now()).unwrap_err();
        assert!(
            matches!(&error, P12Error::OtherFormat(found) if found.en == looks_like),
            "{error}"
        );
    }
    let large = vec![0x30; 600 * 1024];
    assert!(matches!(
        Identity::from_pkcs12(&large, PASSWORD, now()),
        Err(P12Error::TooLarge { .. })
    ));
}

/// Every conversion that text tools are known to make.
#[test]
fn e4_each_conversion_of_a_file_to_text_is_named() {
    let latin1 = |der: &[u8]| -> Vec<u8> {
        der.iter()
            .map(|&byte| char::from(byte))
            .collect::<String>()
            .into_bytes()
    };
    let without =
        |der: &[u8], left_out: u8| -> Vec<u8> { der.iter().copied().filter(|&byte| byte != left_out).collect() };
    let replaced = |der: &[u8], from: &[u8], to: &[u8]| -> Vec<u8> {
        let mut result = Vec::new();
        let mut rest = der;
        while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
            result.extend_from_slice(&rest[..at]);
            result.extend_from_slice(to);
            rest = &rest[at + from.len()..];
        }
        result.extend_from_slice(rest);
        result
    };
    let (mut with_pair, mut conversions) = (0, 0);
    for round in 0..12 {
        let der = test_certificates::pkcs12(
            &"Firma".repeat(1 + round % 3),
            "1",
            PASSWORD,
            instant("2026-01-01T00:00:00Z"),
            instant("2028-01-01T00:00:00Z"),
        )
        .unwrap();
        let has_pair = der.windows(2).any(|window| window == b"\r\n");
        with_pair += usize::from(has_pair);
        for (mangled, code) in [
            (latin1(&der), "mangled_as_utf8"),
            (latin1(&latin1(&der)), "mangled_as_utf8"),
            (without(&der, 0), "mangled_without_nuls"),
            (replaced(&der, &[0], b" "), "mangled_without_nuls"),
            (replaced(&der, b"\n", b"\r"), "mangled_line_ends"),
            (without(&der, b'\r'), "mangled_line_ends"),
            (replaced(&der, b"\n", b"\r\n"), "mangled_line_ends"),
            (replaced(&der, b"\r", b"\n"), "mangled_line_ends"),
            (replaced(&der, b"\r", b"\r\n"), "mangled_line_ends"),
        ] {
            // With any PIN, because it is never used.
            for password in [PASSWORD, ""] {
                let error = Identity::from_pkcs12(&mangled, password, now()).unwrap_err();
                assert_eq!(error.code(), code, "{error}");
                let problems = inspect_pkcs12(&mangled, password, now()).problems;
                let fatal: Vec<_> = problems
                    .iter()
                    .filter(|one| one.is_fatal())
                    .map(P12Problem::code)
                    .collect();
                assert_eq!(fatal, [code]);
            }
            conversions += 1;
        }
        // An intact file has none of the patterns.
        let error = Identity::from_pkcs12(&der, "equivocada", now()).unwrap_err();
        assert_eq!(error, P12Error::WrongPassword);
        // A file that is cut or has a wrong byte is reported as damaged, without a further explanation.
        for length in [der.len() - 1, der.len() - 20, der.len() / 2, 300] {
            let error = Identity::from_pkcs12(&der[..length], PASSWORD, now()).unwrap_err();
            assert_eq!(error.code(), "damaged", "cut at {length}: {error}");
        }
    }
    eprintln!("{conversions} conversions; {with_pair} files have a CR LF");
}

/// A file that contains CR LF loses one byte. It looks like a cut file, except for its end.
#[test]
fn e4_a_file_that_lost_the_cr_of_a_line_end_is_told_from_a_cut_one() {
    // Unencrypted, so that the name appears in the file.
    let party = test_certificates::Party::new(
        "Firma\r\nde prueba",
        "1",
        instant("2026-01-01T00:00:00Z"),
        instant("2028-01-01T00:00:00Z"),
    )
    .unwrap();
    let der = test_certificates::assembled(&[&party], &[&party], "", test_certificates::Mac::Sha256).unwrap();
    let mut converted: Vec<u8> = Vec::new();
    for &byte in &der {
        if byte == b'\n' && converted.last() == Some(&b'\r') {
            converted.pop();
        }
        converted.push(byte);
    }
    assert!(converted.len() < der.len());
    let error = Identity::from_pkcs12(&converted, "", now()).unwrap_err();
    assert!(
        matches!(&error, P12Error::MangledLineEnds { change } if change.en == "CR LF became LF"),
        "{error}"
    );
    let cut = &der[..converted.len()];
    assert_eq!(Identity::from_pkcs12(cut, "", now()).unwrap_err().code(), "damaged");
}

/// OpenSSL verifies each signature that it computes with the primes, and computes it with the private exponent if it
/// does not match.
#[test]
fn a_key_whose_numbers_do_not_belong_together_signs_right_or_is_refused() {
    let rsa = Rsa::generate(2048).unwrap();
    let certificate = self_signed(&PKey::from_rsa(rsa.clone()).unwrap(), "Firma de prueba");
    let changed = |number: &BigNumRef| {
        let mut other = number.to_owned().unwrap();
        other.add_word(2).unwrap();
        other
    };
    for (wrong_d, wrong_dp, signs) in [
        (false, false, true),
        (false, true, true),
        (true, false, true),
        (true, true, false),
    ] {
        let number = |number: &BigNumRef, is_wrong: bool| match is_wrong {
            true => changed(number),
            false => number.to_owned().unwrap(),
        };
        let key = Rsa::from_private_components(
            rsa.n().to_owned().unwrap(),
            rsa.e().to_owned().unwrap(),
            number(rsa.d(), wrong_d),
            rsa.p().unwrap().to_owned().unwrap(),
            rsa.q().unwrap().to_owned().unwrap(),
            number(rsa.dmp1().unwrap(), wrong_dp),
            rsa.dmq1().unwrap().to_owned().unwrap(),
            rsa.iqmp().unwrap().to_owned().unwrap(),
        );
        let key = PKey::from_rsa(key.unwrap()).unwrap();
        let mut builder = Pkcs12::builder();
        builder.pkey(&key).cert(&certificate);
        let der = builder.build2(PASSWORD).unwrap().to_der().unwrap();
        let identity = Identity::from_pkcs12(&der, PASSWORD, now());
        let proof = identity.map(|identity| identity.prove().is_ok());
        assert_eq!(proof.unwrap_or(false), signs, "d {wrong_d}, dp {wrong_dp}");
    }
}

/// The time of a signature depends on the longest number of the key.
#[test]
fn a_key_with_a_number_that_is_too_long_is_refused() {
    let rsa = Rsa::generate(2048).unwrap();
    let certificate = self_signed(&PKey::from_rsa(rsa.clone()).unwrap(), "Firma de prueba");
    let mut long = BigNum::new().unwrap();
    long.rand(16_000, MsbOption::ONE, true).unwrap();
    let own = |number: &BigNumRef| number.to_owned().unwrap();
    for place in 0..6 {
        let mut numbers = [
            own(rsa.d()),
            own(rsa.p().unwrap()),
            own(rsa.q().unwrap()),
            own(rsa.dmp1().unwrap()),
            own(rsa.dmq1().unwrap()),
            own(rsa.iqmp().unwrap()),
        ];
        numbers[place] = own(&long);
        let [d, p, q, dp, dq, qi] = numbers;
        let key = Rsa::from_private_components(own(rsa.n()), own(rsa.e()), d, p, q, dp, dq, qi);
        let key = PKey::from_rsa(key.unwrap()).unwrap();
        let mut builder = Pkcs12::builder();
        builder.pkey(&key).cert(&certificate);
        let der = builder.build2(PASSWORD).unwrap().to_der().unwrap();
        let error = Identity::from_pkcs12(&der, PASSWORD, now()).unwrap_err();
        assert_eq!(error.code(), "damaged", "number {place}: {error}");
    }
}

#[test]
fn no_altered_file_opens_or_panics() {
    let der = test_certificates::pkcs12(
        "Firma",
        "1",
        PASSWORD,
        instant("2026-01-01T00:00:00Z"),
        instant("2028-01-01T00:00:00Z"),
    )
    .unwrap();
    for length in (0..der.len()).step_by(7) {
        assert!(
            Identity::from_pkcs12(&der[..length], PASSWORD, now()).is_err(),
            "cut at {length}"
        );
    }
    for at in (0..der.len()).step_by(5) {
        let mut altered = der.clone();
        altered[at] ^= 0x11;
        // Some bytes have no meaning, such as the encoding of an absent parameter. The key must still match.
        if let Ok(identity) = Identity::from_pkcs12(&altered, PASSWORD, now()) {
            identity.prove().unwrap_or_else(|error| panic!("byte {at}: {error}"));
        }
    }
}

/// A folder with the files of `gen_keys.sh`, if the script and its tool are present.
fn generated_files() -> Option<PathBuf> {
    let script = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/bench/gen_keys.sh"
    ));
    if !script.exists() {
        eprintln!("skipped: P12 files of gen_keys.sh (../shared is not there)");
        return None;
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("gen_keys");
    match Command::new("sh").arg(script).arg(&folder).output() {
        Ok(output) if output.status.success() => Some(folder),
        _ => {
            eprintln!("skipped: P12 files of gen_keys.sh (the openssl tool with its legacy provider is not there)");
            None
        }
    }
}

#[test]
fn the_files_of_other_tools_open_in_time() {
    let Some(folder) = generated_files() else { return };
    for (file, password, common_name) in [
        ("modern", PASSWORD, "Firma de prueba"),
        ("legacy", PASSWORD, "Firma de prueba"),
        ("des3", PASSWORD, "Firma de prueba"),
        ("empty", "", "Firma de prueba"),
        ("utf8", "contraseña", "Firma de prueba"),
        ("utf8_legacy", "contraseña", "Firma de prueba"),
        ("nomac", PASSWORD, "Firma de prueba"),
        ("ca_first", PASSWORD, "Hoja de prueba"),
        ("chain_legacy", PASSWORD, "Hoja de prueba"),
    ] {
        let der = std::fs::read(folder.join(file).with_extension("p12")).unwrap();
        let mut fastest = Duration::MAX;
        for _ in 0..10 {
            let start = Instant::now();
            let identity =
                Identity::from_pkcs12(&der, password, now()).unwrap_or_else(|error| panic!("{file}: {error}"));
            fastest = fastest.min(start.elapsed());
            assert_eq!(identity.certificate().subject_cn, common_name, "{file}");
            identity.prove().unwrap();
        }
        eprintln!("{file}: {fastest:?}");
        assert_eq!(
            Identity::from_pkcs12(&der, "equivocada", now()).unwrap_err(),
            P12Error::WrongPassword,
            "{file}"
        );
        if !cfg!(debug_assertions) {
            assert!(fastest < Duration::from_millis(2), "{file} took {fastest:?}");
        }
    }
    let der = std::fs::read(folder.join("certonly.p12")).unwrap();
    assert_eq!(
        Identity::from_pkcs12(&der, PASSWORD, now()).unwrap_err(),
        P12Error::NoKey
    );
}
