//! Shared by several test binaries: an identity, the shared folder, other tools.

#![expect(clippy::unwrap_used, reason = "tests")]
#![allow(dead_code, clippy::allow_attributes, reason = "each test binary uses a part of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use xmldsig::Identity;

pub(crate) fn identity() -> &'static Identity {
    static IDENTITY: OnceLock<Identity> = OnceLock::new();
    IDENTITY.get_or_init(|| {
        let (from, to) = (
            "2020-01-01T00:00:00Z".parse().unwrap(),
            "2040-01-01T00:00:00Z".parse().unwrap(),
        );
        let der = test_certificates::pkcs12("Firma de prueba", "IDCDO-00100000001", "clave", from, to).unwrap();
        Identity::from_pkcs12(&der, "clave", from).unwrap()
    })
}

/// A folder or file of `../shared`. `None` if it is missing; a line in the output says so.
pub(crate) fn shared(what: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")).join(what);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {what} (../shared is not there)");
    None
}

/// Runs another tool. `None` if it is not installed; a line in the output says so.
pub(crate) fn run(tool: &str, arguments: &[&str]) -> Option<Output> {
    match Command::new(tool).args(arguments).output() {
        Ok(output) => Some(output),
        Err(_) => {
            eprintln!("skipped: {tool} {arguments:?} ({tool} is not installed)");
            None
        }
    }
}

/// Writes a file into the folder for the output of tests.
pub(crate) fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// A canonical document in the shape of a receipt.
pub(crate) fn receipt(items: usize) -> String {
    let mut xml = String::from(
        "<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>31</TipoeCF><eNCF>E310000000001</eNCF></IdDoc><Emisor><RNCEmisor>131880681</RNCEmisor><RazonSocialEmisor>Compañía Ñandú &amp; Asociados \u{1F600} SRL</RazonSocialEmisor></Emisor></Encabezado><DetallesItems>",
    );
    for item in 1..=items {
        xml.push_str(&format!("<Item><NumeroLinea>{item}</NumeroLinea><IndicadorFacturacion>1</IndicadorFacturacion><NombreItem>Tubería 3\" &lt;A{item}&gt;</NombreItem><CantidadItem>1.50</CantidadItem><PrecioUnitarioItem>125.0000</PrecioUnitarioItem><MontoItem>187.50</MontoItem></Item>"));
    }
    xml.push_str("</DetallesItems><FechaHoraFirma>01-11-2026 10:15:30</FechaHoraFirma></ECF>");
    xml
}
