//! `Encabezado/OtraMoneda`: the sums in the agreed currency, if it is not the Dominican peso.

use crate::catalogue::{TipoImpuesto, TipoMoneda};
use crate::field::{Limit, Sign, money};
use crate::{Monto, Porcentaje, TipoCambio};

block! {
    /// The sums in another currency.
    pub struct OtraMoneda {
        tipo_moneda: Option<TipoMoneda>, "TipoMoneda", "2222222222", "Code of the currency";
        tipo_cambio: Option<TipoCambio>, "TipoCambio", "2222222222", "Dominican pesos for one unit";
        monto_gravado_total_otra_moneda: Option<Monto>, "MontoGravadoTotalOtraMoneda", "2222200220", "Sum of the three taxed bases";
        monto_gravado1_otra_moneda: Option<Monto>, "MontoGravado1OtraMoneda", "2222200200", "Net base at 18 %";
        monto_gravado2_otra_moneda: Option<Monto>, "MontoGravado2OtraMoneda", "2222200200", "Net base at 16 %";
        monto_gravado3_otra_moneda: Option<Monto>, "MontoGravado3OtraMoneda", "2222200220", "Base at 0 %";
        monto_exento_otra_moneda: Option<Monto>, "MontoExentoOtraMoneda", "2222222202", "Sum of the exempt lines";
        total_itbis_otra_moneda: Option<Monto>, "TotalITBISOtraMoneda", "2222200220", "Sum of the ITBIS at all rates";
        total_itbis1_otra_moneda: Option<Monto>, "TotalITBIS1OtraMoneda", "2222200200", "ITBIS at 18 %";
        total_itbis2_otra_moneda: Option<Monto>, "TotalITBIS2OtraMoneda", "2222200200", "ITBIS at 16 %";
        total_itbis3_otra_moneda: Option<Monto>, "TotalITBIS3OtraMoneda", "2222200220", "ITBIS at 0 %";
        monto_impuesto_adicional_otra_moneda: Option<Monto> = money(Sign::Positive), "MontoImpuestoAdicionalOtraMoneda", "2222002200", "Sum of all additional taxes";
        impuestos_adicionales_otra_moneda: ImpuestosAdicionalesOtraMoneda, "ImpuestosAdicionalesOtraMoneda", "2222002200", "Taxes beside the ITBIS";
        monto_total_otra_moneda: Option<Monto>, "MontoTotalOtraMoneda", "2222222222", "Taxed, exempt, ITBIS and additional taxes together";
    }
}

block! {
    /// Taxes other than the ITBIS, in the other currency.
    pub struct ImpuestosAdicionalesOtraMoneda {
        impuesto_adicional_otra_moneda: Vec<ImpuestoAdicionalOtraMoneda> [Limit::all(20)], "ImpuestoAdicionalOtraMoneda", "1111001100", "One entry per tax";
    }
}

block! {
    /// One tax other than the ITBIS, in the other currency.
    pub struct ImpuestoAdicionalOtraMoneda {
        tipo_impuesto_otra_moneda: Option<TipoImpuesto>, "TipoImpuestoOtraMoneda", "cccc002200", "Code of the tax";
        tasa_impuesto_adicional_otra_moneda: Option<Porcentaje>, "TasaImpuestoAdicionalOtraMoneda", "cccc002200", "The same rate as in the totals";
        monto_impuesto_selectivo_consumo_especifico_otra_moneda: Option<Monto> = money(Sign::Positive), "MontoImpuestoSelectivoConsumoEspecificoOtraMoneda", "2222000200", "Amount of a tax of codes 006 to 022";
        monto_impuesto_selectivo_consumo_advalorem_otra_moneda: Option<Monto> = money(Sign::Positive), "MontoImpuestoSelectivoConsumoAdvaloremOtraMoneda", "2222000200", "Amount of a tax of codes 023 to 039";
        otros_impuestos_adicionales_otra_moneda: Option<Monto> = money(Sign::Positive), "OtrosImpuestosAdicionalesOtraMoneda", "2222002200", "Amount of a tax of codes 001 to 005";
    }
}
