//! What another issuer sends: a small receipt of type 31, an approval, and their damaged forms.

use ecf::messages::Semilla;
use ecf::{Fecha, FechaHora};
use jiff::Timestamp;

/// The sender of the test receipts, and a buyer that has nothing to do with the company.
const SENDER: &str = "101672919";
pub(super) const NOBODY: &str = "131880738";
/// Numbers have ten digits.
const NUMBERS: i64 = 10_000_000_000;

/// Documents of one check. Its number comes from the time, so that a second check is not a duplicate.
pub(super) struct Sender {
    sequence: i64,
    now: Timestamp,
    pub(super) rnc: &'static str,
}

impl Sender {
    pub(super) fn new(receiver: &str, now: Timestamp) -> Self {
        Self {
            // Two numbers for each check.
            sequence: (now.as_second() * 2) % NUMBERS,
            now,
            rnc: if receiver == SENDER { NOBODY } else { SENDER },
        }
    }

    /// The same sender with its other number.
    pub(super) fn another(&self) -> Self {
        Self {
            sequence: self.sequence + 1,
            ..*self
        }
    }

    /// The number of the receipt.
    pub(super) fn encf(&self) -> String {
        format!("E31{:010}", self.sequence)
    }

    pub(super) fn receipt(&self, buyer: &str) -> String {
        let (encf, rnc, day, at) = (self.encf(), self.rnc, Fecha::at(self.now), FechaHora::at(self.now));
        format!(
            "<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>31</TipoeCF><eNCF>{encf}</eNCF>\
<FechaVencimientoSecuencia>31-12-2028</FechaVencimientoSecuencia><TipoIngresos>01</TipoIngresos><TipoPago>1</TipoPago></IdDoc>\
<Emisor><RNCEmisor>{rnc}</RNCEmisor><RazonSocialEmisor>PRUEBA DE RECEPCION SRL</RazonSocialEmisor>\
<DireccionEmisor>Calle Uno 1</DireccionEmisor><FechaEmision>{day}</FechaEmision></Emisor>\
<Comprador><RNCComprador>{buyer}</RNCComprador><RazonSocialComprador>RECEPTOR DE LA PRUEBA</RazonSocialComprador></Comprador>\
<Totales><MontoExento>1000.00</MontoExento><MontoTotal>1000.00</MontoTotal></Totales></Encabezado><DetallesItems><Item>\
<NumeroLinea>1</NumeroLinea><IndicadorFacturacion>4</IndicadorFacturacion><NombreItem>Prueba de recepcion</NombreItem>\
<IndicadorBienoServicio>2</IndicadorBienoServicio><CantidadItem>1.00</CantidadItem>\
<PrecioUnitarioItem>1000.0000</PrecioUnitarioItem><MontoItem>1000.00</MontoItem></Item></DetallesItems>\
<FechaHoraFirma>{at}</FechaHoraFirma></ECF>"
        )
    }

    /// An approval of a receipt of the company, with a number that it did not issue.
    pub(super) fn approval(&self, company: &str) -> String {
        let (encf, rnc, day, at) = (self.encf(), self.rnc, Fecha::at(self.now), FechaHora::at(self.now));
        format!(
            "<ACECF><DetalleAprobacionComercial><Version>1.0</Version><RNCEmisor>{company}</RNCEmisor><eNCF>{encf}</eNCF>\
<FechaEmision>{day}</FechaEmision><MontoTotal>1000.00</MontoTotal><RNCComprador>{rnc}</RNCComprador><Estado>1</Estado>\
<FechaHoraAprobacionComercial>{at}</FechaHoraAprobacionComercial></DetalleAprobacionComercial></ACECF>"
        )
    }
}

/// A signed receipt with another name of an item: its structure and its sums still hold.
pub(super) fn altered(signed: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(signed)
        .replacen("<NombreItem>Prueba", "<NombreItem>Prueba alterada", 1)
        .into_bytes()
}

/// A seed with another value, which the service did not give.
pub(super) fn changed_seed(seed: &Semilla) -> Vec<u8> {
    let value = seed.valor.as_ref().map(ToString::to_string).unwrap_or_default();
    let other: String = value.chars().rev().collect();
    Semilla {
        valor: other.parse().ok(),
        fecha: seed.fecha.clone(),
    }
    .to_xml()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_check_differ_from_those_of_the_next_second() {
        let at = |second| Sender::new(SENDER, Timestamp::from_second(second).unwrap_or_default());
        let numbers = [at(1_796_000_000), at(1_796_000_001)].map(|sender| [sender.encf(), sender.another().encf()]);
        let [[first, second], [third, fourth]] = &numbers;
        assert!(first < second && second < third && third < fourth, "{numbers:?}");
        assert!(first.len() == 13 && at(0).rnc != SENDER, "{numbers:?}");
    }
}
