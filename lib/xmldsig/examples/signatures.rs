//! Signs, verifies and canonicalises files from the command line, for comparisons with other implementations.
//!
//! * `keys FOLDER` writes a throw-away `key.pem`, `cert.pem` and `identity.p12`
//! * `sign FOLDER OUT FILE…` signs each file with the identity in FOLDER, into OUT under the same name
//! * `verify FILE…` prints a line for each file: `ok` or the reason, a tab, the name
//! * `c14n inclusive|exclusive OUT FILE…` writes each file's canonical form into OUT under the same name
//!
//! `infra/checks/signatures` runs it beside xmlsec1, libxml2, signxml and dgii-ecf.

#![expect(clippy::print_stdout, reason = "a command answers on the standard output")]

use std::error::Error;
use std::path::Path;

use jiff::Timestamp;
use test_certificates::{Cipher, Party};
use xmldsig::{Identity, Limits, Method, canonicalize, sign_foreign, verify};

const PIN: &str = "clave";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["keys", folder] => keys(Path::new(folder)),
        ["sign", folder, out, files @ ..] => {
            let identity = Identity::from_pkcs12(
                &std::fs::read(Path::new(folder).join("identity.p12"))?,
                PIN,
                Timestamp::UNIX_EPOCH,
            )?;
            each(files, out, |xml| {
                Ok(sign_foreign(xml, &identity, &Limits::default())?.xml)
            })
        }
        ["verify", files @ ..] => {
            for file in files {
                let verdict = verify(&std::fs::read(file)?, &Limits::default());
                let verdict = verdict.map_or_else(|error| error.to_string(), |_| "ok".to_owned());
                println!("{verdict}\t{file}");
            }
            Ok(())
        }
        ["c14n", method, out, files @ ..] => {
            let method = match *method {
                "inclusive" => Method::Inclusive,
                "exclusive" => Method::Exclusive,
                other => return Err(format!("{other:?} is neither inclusive nor exclusive").into()),
            };
            each(files, out, |xml| Ok(canonicalize(xml, method, &Limits::default())?))
        }
        _ => Err("one of keys, sign, verify and c14n is expected".into()),
    }
}

fn keys(folder: &Path) -> Result<(), Box<dyn Error>> {
    let party = Party::new(
        "Firma de prueba",
        "IDCDO-00100000001",
        "2020-01-01T00:00:00Z".parse()?,
        "2040-01-01T00:00:00Z".parse()?,
    )?;
    let p12 = test_certificates::file(Some(&party), &[&party], Cipher::Aes256, PIN)?;
    std::fs::write(folder.join("identity.p12"), p12)?;
    std::fs::write(folder.join("key.pem"), party.key_pem()?)?;
    std::fs::write(folder.join("cert.pem"), party.certificate_pem()?)?;
    Ok(())
}

/// Writes the result of `make` for each file into the folder `out`.
fn each(
    files: &[&str],
    out: &str,
    make: impl Fn(&[u8]) -> Result<Vec<u8>, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    for file in files {
        let name = Path::new(file).file_name().ok_or("a file without a name")?;
        let made = make(&std::fs::read(file)?).map_err(|error| format!("{file}: {error}"))?;
        std::fs::write(Path::new(out).join(name), made)?;
    }
    Ok(())
}
