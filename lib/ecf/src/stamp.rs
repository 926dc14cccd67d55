//! The URL in the QR code, at which anybody can look up a receipt of the tax authority.

use std::fmt::{Display, Write as _};

use crate::{Document, Environment};

/// The hosts of the authority's look-up pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StampHosts {
    /// For receipts that were sent in full.
    pub ecf: String,
    /// For consumer invoices that were sent as a summary.
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

/// The parameters of a stamp: technical description 1.6, "Consulta Timbre". Values are those of the signed document.
#[derive(Clone, Copy)]
pub struct Stamp<'a> {
    pub environment: Environment,
    /// Whether a summary was sent instead of the receipt.
    pub summary: bool,
    pub rnc_emisor: &'a dyn Display,
    /// Left out when the receipt does not name a Dominican buyer.
    pub rnc_comprador: Option<&'a dyn Display>,
    pub encf: &'a dyn Display,
    pub fecha_emision: &'a dyn Display,
    pub monto_total: &'a dyn Display,
    pub fecha_firma: &'a dyn Display,
    /// The first six characters of the signature value.
    pub codigo_seguridad: &'a str,
}

impl<'a> Stamp<'a> {
    /// The stamp of a signed receipt, from its signed content; `None` when a required value is missing.
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

    /// The URL at these hosts.
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
    /// Adds a parameter. Each value is percent-encoded except for ASCII letters and digits: an encoder for whole URLs
    /// keeps the `+` of a security code, which the authority reads as a blank.
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
