//! `Encabezado/InformacionesAdicionales`: the shipment.

use crate::catalogue::UnidadMedida;
use crate::field::{Class, Sign, money, text, text_of};
use crate::{Cantidad, Fecha, Monto, Texto};

block! {
    /// The shipment.
    pub struct InformacionesAdicionales {
        fecha_embarque: Option<Fecha>, "FechaEmbarque", "3333003330", "Day of shipping";
        numero_embarque: Option<Texto> = text(25), "NumeroEmbarque", "3333003330", "Number of the shipment";
        numero_contenedor: Option<Texto> = text(100), "NumeroContenedor", "3333003330", "Number of the container";
        numero_referencia: Option<Texto> = text_of(Class::DigitsButIn45, 20), "NumeroReferencia", "3333003330", "Reference number";
        nombre_puerto_embarque: Option<Texto> = text(40), "NombrePuertoEmbarque", "0000000030", "Port where the goods are loaded";
        condiciones_entrega: Option<Texto> = text_of(Class::Place, 3), "CondicionesEntrega", "0000000030", "Incoterm, such as FOB";
        total_fob: Option<Monto> = money(Sign::Positive), "TotalFob", "0000000030", "Sum of the FOB values";
        seguro: Option<Monto> = money(Sign::Positive), "Seguro", "0000000030", "Insurance";
        flete: Option<Monto> = money(Sign::Positive), "Flete", "0000000030", "Freight";
        otros_gastos: Option<Monto> = money(Sign::Positive), "OtrosGastos", "0000000030", "Other costs";
        total_cif: Option<Monto>, "TotalCif", "0000000030", "FOB, freight, insurance and other costs together";
        regimen_aduanero: Option<Texto> = text_of(Class::Place, 35), "RegimenAduanero", "0000000030", "Customs regime, without digits";
        nombre_puerto_salida: Option<Texto> = text(40), "NombrePuertoSalida", "0000000030", "Port of departure, when another one";
        nombre_puerto_desembarque: Option<Texto> = text(40), "NombrePuertoDesembarque", "0000000030", "Port where the goods are unloaded";
        peso_bruto: Option<Cantidad>, "PesoBruto", "3333003330", "Gross weight";
        peso_neto: Option<Cantidad>, "PesoNeto", "3333003330", "Net weight";
        unidad_peso_bruto: Option<UnidadMedida>, "UnidadPesoBruto", "3333003330", "Unit of the gross weight";
        unidad_peso_neto: Option<UnidadMedida>, "UnidadPesoNeto", "3333003330", "Unit of the net weight";
        cantidad_bulto: Option<Cantidad>, "CantidadBulto", "3333003330", "Number of packages";
        unidad_bulto: Option<UnidadMedida>, "UnidadBulto", "3333003330", "Unit of the packages";
        volumen_bulto: Option<Cantidad> = money(Sign::Positive), "VolumenBulto", "3333003330", "Volume of the packages";
        unidad_volumen: Option<UnidadMedida>, "UnidadVolumen", "3333003330", "Unit of the volume";
    }
}
