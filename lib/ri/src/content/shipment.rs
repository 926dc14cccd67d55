//! Delivery, shipment and transport. The authority's models omit them; customs and a buyer abroad need them.

use ecf::document::Encabezado;

use super::{Pair, measure, money, pairs, text, value};

pub(super) fn of(header: &Encabezado) -> Vec<Pair> {
    let (comprador, envio, transporte) = (&header.comprador, &header.informaciones_adicionales, &header.transporte);
    let mut all = pairs([
        ("Condiciones de Entrega:", text(&envio.condiciones_entrega)),
        ("Régimen Aduanero:", text(&envio.regimen_aduanero)),
        ("Puerto de Embarque:", text(&envio.nombre_puerto_embarque)),
        ("Puerto de Salida:", text(&envio.nombre_puerto_salida)),
        ("Puerto de Desembarque:", text(&envio.nombre_puerto_desembarque)),
        ("País de Origen:", text(&transporte.pais_origen)),
        ("País de Destino:", text(&transporte.pais_destino)),
        ("Dirección de Destino:", text(&transporte.direccion_destino)),
        ("Fecha de Embarque:", value(&envio.fecha_embarque)),
        ("Número de Embarque:", text(&envio.numero_embarque)),
        ("Contenedor:", text(&envio.numero_contenedor)),
        ("Referencia:", text(&envio.numero_referencia)),
        ("Peso Bruto:", measure(&envio.peso_bruto, envio.unidad_peso_bruto)),
        ("Peso Neto:", measure(&envio.peso_neto, envio.unidad_peso_neto)),
        ("Bultos:", measure(&envio.cantidad_bulto, envio.unidad_bulto)),
        ("Volumen:", measure(&envio.volumen_bulto, envio.unidad_volumen)),
        ("Total FOB:", money(&envio.total_fob)),
        ("Seguro:", money(&envio.seguro)),
        ("Flete:", money(&envio.flete)),
        ("Otros Gastos:", money(&envio.otros_gastos)),
        ("Total CIF:", money(&envio.total_cif)),
    ]);
    let via = transporte.via_transporte.map(|via| via.words().to_owned());
    all.extend(pairs([
        ("Vía de Transporte:", via),
        ("Transportista:", text(&transporte.nombre_compania_transportista)),
        (
            "Identificación Transportista:",
            text(&transporte.rnc_identificacion_compania_transportista),
        ),
        ("Viaje:", text(&transporte.numero_viaje)),
        ("Conductor:", text(&transporte.conductor)),
        ("Documento de Transporte:", text(&transporte.documento_transporte)),
        ("Ficha:", text(&transporte.ficha)),
        ("Placa:", text(&transporte.placa)),
        ("Ruta:", text(&transporte.ruta_transporte)),
        ("Zona:", text(&transporte.zona_transporte)),
        ("Albarán:", text(&transporte.numero_albaran)),
        ("Fecha de Entrega:", value(&comprador.fecha_entrega)),
        ("Entregar a:", text(&comprador.contacto_entrega)),
        ("Dirección de Entrega:", text(&comprador.direccion_entrega)),
        ("Teléfono de Entrega:", text(&comprador.telefono_adicional)),
    ]));
    all
}
