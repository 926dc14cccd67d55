//! `Encabezado/Transporte`: carrier, route and destination of the goods.

use crate::Texto;
use crate::catalogue::ViaTransporte;
use crate::field::{Class, text, text_of};

block! {
    /// Carrier, route and destination of the goods.
    pub struct Transporte {
        via_transporte: Option<ViaTransporte>, "ViaTransporte", "0000000030", "By land, sea or air";
        pais_origen: Option<Texto> = text_of(Class::Place, 60), "PaisOrigen", "0000000030", "Country the goods come from, without digits";
        direccion_destino: Option<Texto> = text(100), "DireccionDestino", "0000000030", "Where the goods go, when not to the buyer's address";
        pais_destino: Option<Texto> = text_of(Class::Destination, 60), "PaisDestino", "0000000033", "Country the goods go to, without digits";
        rnc_identificacion_compania_transportista: Option<Texto> = text(20), "RNCIdentificacionCompaniaTransportista", "0000000030", "Identity of the carrier";
        nombre_compania_transportista: Option<Texto> = text(150), "NombreCompaniaTransportista", "0000000030", "Name of the carrier";
        numero_viaje: Option<Texto> = text(20), "NumeroViaje", "0000000030", "Number of the voyage or flight";
        conductor: Option<Texto> = text(20), "Conductor", "3333003330", "Driver";
        documento_transporte: Option<Texto> = text_of(Class::Digits, 20), "DocumentoTransporte", "3333003330", "Number of the transport document, digits only";
        ficha: Option<Texto> = text(10), "Ficha", "3333003330", "The carrier's own number of the vehicle";
        placa: Option<Texto> = text(7), "Placa", "3333003330", "Licence plate";
        ruta_transporte: Option<Texto> = text(20), "RutaTransporte", "3333003330", "Transport route";
        zona_transporte: Option<Texto> = text(20), "ZonaTransporte", "3333003330", "Transport zone";
        numero_albaran: Option<Texto> = text(20), "NumeroAlbaran", "3333003330", "Number of the delivery note";
    }
}
