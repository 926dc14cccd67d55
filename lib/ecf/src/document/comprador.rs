//! `Encabezado/Comprador`: the buyer; the supplier in type 41, the payee abroad in type 47.

use crate::catalogue::ProvinciaMunicipio;
use crate::field::{Class, text, text_of};
use crate::{Fecha, Rnc, Texto};

block! {
    /// The buyer.
    pub struct Comprador {
        rnc_comprador: Option<Rnc>, "RNCComprador", "1222102120", "Taxpayer number of the buyer; excludes IdentificadorExtranjero";
        identificador_extranjero: Option<Texto> = text(20), "IdentificadorExtranjero", "0222002023", "Identity of a foreigner without a Dominican number";
        razon_social_comprador: Option<Texto> = text(150), "RazonSocialComprador", "1222101113", "Legal name of the buyer";
        contacto_comprador: Option<Texto> = text(80), "ContactoComprador", "3333303330", "Name and telephone of a contact";
        correo_comprador: Option<Texto> = text_of(Class::Email, 80), "CorreoComprador", "3333303330", "E-mail address of the buyer";
        direccion_comprador: Option<Texto> = text(100), "DireccionComprador", "3333303330", "Address of the buyer";
        municipio_comprador: Option<ProvinciaMunicipio>, "MunicipioComprador", "3333303330", "Code of the buyer's municipality or municipal district";
        provincia_comprador: Option<ProvinciaMunicipio>, "ProvinciaComprador", "3333303330", "Code of the buyer's province";
        pais_comprador: Option<Texto> = text_of(Class::Place, 60), "PaisComprador", "0000000030", "Country of the buyer, without digits";
        fecha_entrega: Option<Fecha>, "FechaEntrega", "3333003330", "Day of delivery";
        contacto_entrega: Option<Texto> = text(100), "ContactoEntrega", "3333003330", "The person who receives the delivery";
        direccion_entrega: Option<Texto> = text(100), "DireccionEntrega", "3333003330", "Where it is delivered";
        telefono_adicional: Option<Texto> = text_of(Class::Telephone, 12), "TelefonoAdicional", "3333003330", "Telephone of the person who receives the delivery";
        fecha_orden_compra: Option<Fecha>, "FechaOrdenCompra", "3333003330", "Day of the purchase order";
        numero_orden_compra: Option<Texto> = text(20), "NumeroOrdenCompra", "3333003330", "Number of the purchase order";
        codigo_interno_comprador: Option<Texto> = text(20), "CodigoInternoComprador", "3333303330", "The issuer's own code of the buyer";
        responsable_pago: Option<Texto> = text_of(Class::Letters, 20), "ResponsablePago", "3333303330", "Who pays: letters, commas and blanks only";
        informacion_adicional_comprador: Option<Texto> = text(150), "InformacionAdicionalComprador", "3333303330", "Anything else about the buyer";
    }
}
