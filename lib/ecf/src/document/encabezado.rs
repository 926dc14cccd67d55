//! `Encabezado`: everything except the lines.

use super::{Comprador, Emisor, IdDoc, InformacionesAdicionales, OtraMoneda, Totales, Transporte};
use crate::catalogue::Version;

block! {
    /// Everything except the lines.
    pub struct Encabezado {
        version: Option<Version>, "Version", "1111111111", "Version of the format; filled in when absent";
        id_doc: IdDoc, "IdDoc", "1111111111", "What the receipt is and how it is paid";
        emisor: Emisor, "Emisor", "1111111111", "Who issues";
        comprador: Comprador, "Comprador", "1122101113", "Who buys; the supplier in type 41, the payee in type 47";
        informaciones_adicionales: InformacionesAdicionales, "InformacionesAdicionales", "3333003330", "The shipment";
        transporte: Transporte, "Transporte", "333300333x", "Who carries the goods";
        totales: Totales, "Totales", "1111111111", "The sums, in Dominican pesos";
        otra_moneda: OtraMoneda, "OtraMoneda", "2222222222", "The sums in another currency";
    }
}
