//! `DescuentosORecargos/DescuentoORecargo`: discounts and surcharges of the whole receipt.

use crate::catalogue::{IndicadorFacturacionDescuentooRecargo, IndicadorNorma1007, TipoAjuste, TipoValor};
use crate::field::{Limit, integer, text};
use crate::{Monto, Porcentaje, Texto};

block! {
    /// Discounts and surcharges of the whole receipt.
    pub struct DescuentosORecargos {
        descuento_o_recargo: Vec<DescuentoORecargo> [Limit::all(20)], "DescuentoORecargo", "ccccc0ccc0", "One entry per concept and group of lines";
    }
}

block! {
    /// One discount or surcharge of the whole receipt.
    pub struct DescuentoORecargo {
        numero_linea: Option<u32> = integer(0, 99), "NumeroLinea", "ccccc0ccc0", "1, 2, 3 and so on; filled in from the place when absent";
        tipo_ajuste: Option<TipoAjuste>, "TipoAjuste", "ccccc0ccc0", "Discount or surcharge";
        indicador_norma1007: Option<IndicadorNorma1007>, "IndicadorNorma1007", "3333000300", "Discount under Norma 10-07";
        descripcion_descuentoo_recargo: Option<Texto> = text(45), "DescripcionDescuentooRecargo", "3333303330", "What it is for";
        tipo_valor: Option<TipoValor>, "TipoValor", "2222202220", "Amount or percentage";
        valor_descuentoo_recargo: Option<Porcentaje>, "ValorDescuentooRecargo", "2222202220", "The percentage, with %";
        monto_descuentoo_recargo: Option<Monto>, "MontoDescuentooRecargo", "2222202220", "The amount, with both";
        monto_descuentoo_recargo_otra_moneda: Option<Monto>, "MontoDescuentooRecargoOtraMoneda", "3333303330", "The amount in the other currency";
        indicador_facturacion_descuentoo_recargo: Option<IndicadorFacturacionDescuentooRecargo>, "IndicadorFacturacionDescuentooRecargo", "2222202220", "Which lines it affects";
    }
}
