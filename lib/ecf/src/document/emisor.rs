//! `Encabezado/Emisor`: the issuer of the receipt.

use crate::catalogue::ProvinciaMunicipio;
use crate::field::{Class, Limit, text, text_of};
use crate::{Fecha, Rnc, Texto};

block! {
    /// The issuer of the receipt.
    pub struct Emisor {
        rnc_emisor: Option<Rnc>, "RNCEmisor", "1111111111", "Taxpayer number of the issuer";
        razon_social_emisor: Option<Texto> = text(150), "RazonSocialEmisor", "1111111111", "Legal name of the issuer";
        nombre_comercial: Option<Texto> = text(150), "NombreComercial", "3333333333", "Trade name";
        sucursal: Option<Texto> = text(20), "Sucursal", "3333333333", "Branch, as the issuer names it";
        direccion_emisor: Option<Texto> = text(100), "DireccionEmisor", "1111111111", "Address of the issuer";
        municipio: Option<ProvinciaMunicipio>, "Municipio", "3333333333", "Code of the municipality or municipal district";
        provincia: Option<ProvinciaMunicipio>, "Provincia", "3333333333", "Code of the province";
        tabla_telefono_emisor: TablaTelefonoEmisor, "TablaTelefonoEmisor", "3333333333", "Telephones of the issuer";
        correo_emisor: Option<Texto> = text_of(Class::Email, 80), "CorreoEmisor", "3333333333", "E-mail address of the issuer";
        web_site: Option<Texto> = text(50), "WebSite", "3333333333", "Web site of the issuer";
        actividad_economica: Option<Texto> = text(100), "ActividadEconomica", "3333333333", "Economic activity of this operation";
        codigo_vendedor: Option<Texto> = text(60), "CodigoVendedor", "3333003330", "Who sold";
        numero_factura_interna: Option<Texto> = text(20), "NumeroFacturaInterna", "3333333333", "The issuer's own invoice number";
        numero_pedido_interno: Option<Texto> = text_of(Class::Digits, 20), "NumeroPedidoInterno", "3333333333", "The issuer's own order number, digits only";
        zona_venta: Option<Texto> = text(20), "ZonaVenta", "3333003330", "Sales zone";
        ruta_venta: Option<Texto> = text(20), "RutaVenta", "3333003330", "Sales route";
        informacion_adicional_emisor: Option<Texto> = text(250), "InformacionAdicionalEmisor", "3333333333", "Anything else about the issuer";
        fecha_emision: Option<Fecha>, "FechaEmision", "1111111111", "Day of issue";
    }
}

block! {
    /// Telephones of the issuer.
    pub struct TablaTelefonoEmisor {
        telefono_emisor: Vec<Texto> [Limit::all(3)] = text_of(Class::Telephone, 12), "TelefonoEmisor", "oooooooooo", "Telephone number, written 809-555-0100";
    }
}
