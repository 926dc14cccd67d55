//! Receipts as other issuers send them.

use std::sync::OnceLock;

use ecf::Fecha;
use jiff::Timestamp;
use test_certificates::{Cipher, Party, file};
use xmldsig::{Identity, sign};

use crate::{P12_PIN, TestStack, test_p12};

/// The RNC of the issuer of [`foreign_receipt`].
pub const FOREIGN_RNC: &str = "101672919";

/// A signed type 31 of RD$1,000.00 with this number, from [`FOREIGN_RNC`] to this buyer.
pub fn foreign_receipt(rnc_comprador: &str, encf: &str, now: Timestamp) -> Vec<u8> {
    sign_foreign(&unsigned_receipt(rnc_comprador, encf, now))
}

/// The unsigned form of [`foreign_receipt`], for tests that change it.
pub fn unsigned_receipt(rnc_comprador: &str, encf: &str, now: Timestamp) -> String {
    let day = Fecha::at(now);
    format!(
        "<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>31</TipoeCF><eNCF>{encf}</eNCF>\
<FechaVencimientoSecuencia>31-12-2028</FechaVencimientoSecuencia><TipoIngresos>01</TipoIngresos><TipoPago>1</TipoPago></IdDoc>\
<Emisor><RNCEmisor>{FOREIGN_RNC}</RNCEmisor><RazonSocialEmisor>Suplidora del Este SRL</RazonSocialEmisor>\
<DireccionEmisor>Calle Primera 1</DireccionEmisor><FechaEmision>{day}</FechaEmision></Emisor>\
<Comprador><RNCComprador>{rnc_comprador}</RNCComprador><RazonSocialComprador>Cliente SRL</RazonSocialComprador></Comprador>\
<Totales><MontoExento>1000.00</MontoExento><MontoTotal>1000.00</MontoTotal></Totales></Encabezado><DetallesItems><Item>\
<NumeroLinea>1</NumeroLinea><IndicadorFacturacion>4</IndicadorFacturacion><NombreItem>Yuca</NombreItem>\
<IndicadorBienoServicio>1</IndicadorBienoServicio><CantidadItem>2.00</CantidadItem>\
<PrecioUnitarioItem>500.0000</PrecioUnitarioItem><MontoItem>1000.00</MontoItem></Item></DetallesItems>\
<FechaHoraFirma>{day} 10:30:00</FechaHoraFirma></ECF>"
    )
}

/// Signs any canonical XML as another taxpayer.
pub fn sign_foreign(xml: &str) -> Vec<u8> {
    let identity = Identity::from_pkcs12(test_p12(), P12_PIN, Timestamp::UNIX_EPOCH).expect("the P12 was made here");
    sign(xml.as_bytes(), &identity)
        .expect("the test wrote canonical XML")
        .xml
}

/// Signs any canonical XML with a certificate of the kit's authority. [`TestStack::trust_authority`] makes a deployment
/// trust it.
pub fn sign_certified(subject_serial: &str, xml: &str) -> Vec<u8> {
    let (from, until) = validity();
    let holder = authority().issue("CERTIFICADO DE PRUEBA", subject_serial, from, until);
    let holder = holder.expect("OpenSSL makes a certificate");
    let p12 = file(Some(&holder), &[&holder], Cipher::Aes256, P12_PIN).expect("OpenSSL makes a P12");
    let identity = Identity::from_pkcs12(&p12, P12_PIN, from).expect("the P12 was made here");
    sign(xml.as_bytes(), &identity)
        .expect("the test wrote canonical XML")
        .xml
}

impl TestStack {
    /// Trusts the kit's authority, as an operator trusts a real one.
    pub async fn trust_authority(&self) {
        let pem = authority().certificate_pem().expect("OpenSSL writes a certificate");
        self.trust(&String::from_utf8(pem).expect("PEM is text")).await;
    }
}

/// Made once per process, because generating an RSA key is slow.
fn authority() -> &'static Party {
    static AUTHORITY: OnceLock<Party> = OnceLock::new();
    AUTHORITY.get_or_init(|| {
        let (from, until) = validity();
        Party::authority("AUTORIDAD DE PRUEBA", from, until, None).expect("OpenSSL makes a certificate")
    })
}

fn validity() -> (Timestamp, Timestamp) {
    let instant = |text: &str| text.parse().expect("a constant instant");
    (instant("2026-01-01T04:00:00Z"), instant("2029-01-01T04:00:00Z"))
}
