//! The address in the QR code, where anybody can ask the tax authority about a receipt.

use std::fmt::{Display, Write as _};

use crate::{Document, Environment};

/// Where the authority answers about receipts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StampHosts {
    /// For receipts that were sent in full.
    pub ecf: String,
    /// For consumer invoices of which a summary was sent.
    pub fc: String,
}

impl Default for StampHosts {
    fn default() -> Self {
        Self {
            ecf: "https://ecf.dgii.gov.do".to_owned(),
            fc: "https://fc.dgii.gov.do".to_owned(),
        }
    }
}

/// What a stamp says: technical description 1.6, "Consulta Timbre". Values are those of the signed document.
#[derive(Clone, Copy)]
pub struct Stamp<'a> {
    pub environment: Environment,
    /// Whether a summary was sent in place of the receipt.
    pub summary: bool,
    pub rnc_emisor: &'a dyn Display,
    /// A receipt that names no Dominican buyer leaves that parameter out.
    pub rnc_comprador: Option<&'a dyn Display>,
    pub encf: &'a dyn Display,
    pub fecha_emision: &'a dyn Display,
    pub monto_total: &'a dyn Display,
    pub fecha_firma: &'a dyn Display,
    /// The first six characters of the signature value.
    pub codigo_seguridad: &'a str,
}

impl<'a> Stamp<'a> {
    /// The stamp of a signed receipt, from the content that was signed; none when a value that it needs is missing.
    pub fn of(document: &'a Document, environment: Environment, codigo_seguridad: &'a str) -> Option<Self> {
        let header = &document.encabezado;
        let rnc_comprador = header.comprador.rnc_comprador.as_ref();
        Some(Self {
            environment,
            summary: document.goes_as_summary(),
            rnc_emisor: header.emisor.rnc_emisor.as_ref()?,
            rnc_comprador: rnc_comprador.map(|buyer| buyer as &dyn Display),
            encf: header.id_doc.encf.as_ref()?,
            fecha_emision: header.emisor.fecha_emision.as_ref()?,
            monto_total: header.totales.monto_total.as_ref()?,
            fecha_firma: document.fecha_hora_firma.as_ref()?,
            codigo_seguridad,
        })
    }

    /// The address at these hosts.
    pub fn url(&self, hosts: &StampHosts) -> String {
        let (host, page) = if self.summary {
            (&hosts.fc, "consultatimbrefc")
        } else {
            (&hosts.ecf, "consultatimbre")
        };
        let mut url = format!(
            "{}/{}/{page}",
            host.trim_end_matches('/'),
            self.environment.path_segment()
        );
        let mut query = Query {
            url: &mut url,
            separator: '?',
        };
        query.add("rncemisor", self.rnc_emisor);
        if let (false, Some(buyer)) = (self.summary, self.rnc_comprador) {
            query.add("rnccomprador", buyer);
        }
        query.add("encf", self.encf);
        if !self.summary {
            query.add("fechaemision", self.fecha_emision);
        }
        query.add("montototal", self.monto_total);
        if !self.summary {
            query.add("fechafirma", self.fecha_firma);
        }
        query.add("codigoseguridad", &self.codigo_seguridad);
        url
    }
}

struct Query<'u> {
    url: &'u mut String,
    separator: char,
}

impl Query<'_> {
    /// Adds a parameter. Each value is encoded by itself, and all of it but ASCII letters and digits: an encoder for
    /// whole addresses leaves the `+` of a security code, which the authority then reads as a blank.
    fn add(&mut self, name: &str, value: &dyn Display) {
        self.url.push(self.separator);
        self.separator = '&';
        self.url.push_str(name);
        self.url.push('=');
        for byte in value.to_string().bytes() {
            if byte.is_ascii_alphanumeric() {
                self.url.push(char::from(byte));
            } else {
                write!(self.url, "%{byte:02X}").expect("writing into memory does not fail");
            }
        }
    }
}
