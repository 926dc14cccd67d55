//! `Subtotales/Subtotal`: informative sums over some of the lines.

use crate::field::{Limit, integer, text};
use crate::{Monto, Texto};

block! {
    /// Informative sums over some of the lines.
    pub struct Subtotales {
        subtotal: Vec<Subtotal> [Limit::all(20)], "Subtotal", "oooooooooo", "One subtotal";
    }
}

block! {
    /// One informative sum. The authority spells some of its elements `SubTota…`.
    pub struct Subtotal {
        numero_sub_total: Option<u32> = integer(0, 99), "NumeroSubTotal", "3333333333", "1, 2, 3 and so on";
        descripcion_subtotal: Option<Texto> = text(40), "DescripcionSubtotal", "3333333333", "Title";
        orden: Option<u32> = integer(0, 99), "Orden", "3333333333", "Where it is printed";
        sub_total_monto_gravado_total: Option<Monto>, "SubTotalMontoGravadoTotal", "3333300330", "Sum of the three taxed bases";
        sub_total_monto_gravado_i1: Option<Monto>, "SubTotalMontoGravadoI1", "3333300300", "Base at 18 %";
        sub_total_monto_gravado_i2: Option<Monto>, "SubTotalMontoGravadoI2", "3333300300", "Base at 16 %";
        sub_total_monto_gravado_i3: Option<Monto>, "SubTotalMontoGravadoI3", "3333300330", "Base at 0 %";
        sub_tota_itbis: Option<Monto>, "SubTotaITBIS", "3333300330", "Sum of the ITBIS at all rates";
        sub_tota_itbis1: Option<Monto>, "SubTotaITBIS1", "3333300300", "ITBIS at 18 %";
        sub_tota_itbis2: Option<Monto>, "SubTotaITBIS2", "3333300300", "ITBIS at 16 %";
        sub_tota_itbis3: Option<Monto>, "SubTotaITBIS3", "3333300330", "ITBIS at 0 %";
        sub_total_impuesto_adicional: Option<Monto>, "SubTotalImpuestoAdicional", "3333303300", "Additional taxes";
        sub_total_exento: Option<Monto>, "SubTotalExento", "3333333303", "Exempt amounts";
        monto_sub_total: Option<Monto>, "MontoSubTotal", "3333333333", "All of it together";
        lineas: Option<u32> = integer(0, 99), "Lineas", "3333333333", "How many lines it covers";
    }
}
