//! What a company sold, from one of its receipts, as items of a simulation.

use ecf::catalogue::{IndicadorBienoServicio, IndicadorFacturacion, IndicadorMontoGravado};
use ecf::document::Item as Line;
use ecf::{Document, Monto};

use crate::simulation::Item;

/// A request takes no price from here on, in cents.
const TOO_DEAR: u64 = 100_000_000_000;

/// The lines of a receipt that a simulation can repeat: taxed with 18 % or exempt, without other taxes. Prices are in
/// cents, without the ITBIS that they may include.
pub fn items_sold(document: &Document) -> Vec<Item> {
    let included = document.encabezado.id_doc.indicador_monto_gravado == Some(IndicadorMontoGravado::ConItbis);
    let lines = document.detalles_items.item.iter();
    lines.filter_map(|line| item(line, included)).collect()
}

fn item(line: &Line, itbis_included: bool) -> Option<Item> {
    let is_taxed = match line.indicador_facturacion? {
        IndicadorFacturacion::Itbis1 => true,
        IndicadorFacturacion::Exento => false,
        _ => return None,
    };
    if !line.tabla_impuesto_adicional.impuesto_adicional.is_empty() {
        return None;
    }
    let price = Monto::rounded(line.precio_unitario_item.as_ref()?.value()).ok()?;
    let cents = u64::try_from(price.centavos()).ok()?;
    let price = if is_taxed && itbis_included {
        (cents.checked_mul(100)? + 59) / 118
    } else {
        cents
    };
    (1..TOO_DEAR).contains(&price).then_some(Item {
        name: line.nombre_item.as_ref()?.to_string(),
        price,
        is_service: line.indicador_bieno_servicio? == IndicadorBienoServicio::Servicio,
        is_taxed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sold(included: &str, lines: &[(&str, &str, &str)]) -> Vec<(u64, bool)> {
        let lines: String = lines
            .iter()
            .map(|(indicator, price, more)| {
                format!(
                    "<Item><IndicadorFacturacion>{indicator}</IndicadorFacturacion><NombreItem>Silla</NombreItem>\
                     <IndicadorBienoServicio>1</IndicadorBienoServicio><PrecioUnitarioItem>{price}</PrecioUnitarioItem>\
                     {more}</Item>"
                )
            })
            .collect();
        let xml = format!(
            "<ECF><Encabezado><IdDoc><TipoeCF>31</TipoeCF><IndicadorMontoGravado>{included}</IndicadorMontoGravado>\
             </IdDoc></Encabezado><DetallesItems>{lines}</DetallesItems></ECF>"
        );
        let items = items_sold(&Document::from_xml(xml.as_bytes()).unwrap().document);
        items.into_iter().map(|item| (item.price, item.is_taxed)).collect()
    }

    #[test]
    fn a_line_gives_its_price_in_cents_without_itbis() {
        let lines = [("1", "1500.50", ""), ("4", "35.0000", ""), ("1", "0.0049", "")];
        assert_eq!(sold("0", &lines), [(150_050, true), (3_500, false)]);
        assert_eq!(
            sold("1", &[("1", "118.00", ""), ("4", "118.00", "")]),
            [(10_000, true), (11_800, false)]
        );
    }

    #[test]
    fn what_a_simulation_has_no_rate_for_is_left_out() {
        let tax = "<TablaImpuestoAdicional><ImpuestoAdicional><TipoImpuesto>004</TipoImpuesto></ImpuestoAdicional>\
                   </TablaImpuestoAdicional>";
        assert_eq!(
            sold(
                "0",
                &[("2", "10", ""), ("3", "10", ""), ("0", "10", ""), ("1", "10", tax)]
            ),
            []
        );
    }
}
