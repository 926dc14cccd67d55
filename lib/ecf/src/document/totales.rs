//! `Encabezado/Totales`: the sums of the receipt, in Dominican pesos.

use crate::catalogue::TipoImpuesto;
use crate::field::{Limit, Sign, integer, money};
use crate::{Monto, Porcentaje};

block! {
    /// The sums of the receipt, in Dominican pesos.
    pub struct Totales {
        monto_gravado_total: Option<Monto>, "MontoGravadoTotal", "2222200220", "Sum of the three taxed bases";
        monto_gravado_i1: Option<Monto>, "MontoGravadoI1", "2222200200", "Net base at 18 %";
        monto_gravado_i2: Option<Monto>, "MontoGravadoI2", "2222200200", "Net base at 16 %";
        monto_gravado_i3: Option<Monto>, "MontoGravadoI3", "2222200220", "Base at 0 %";
        monto_exento: Option<Monto>, "MontoExento", "2222222202", "Sum of the exempt lines";
        itbis1: Option<u32> = integer(0, 99), "ITBIS1", "2222200200", "The rate 18, with MontoGravadoI1";
        itbis2: Option<u32> = integer(0, 99), "ITBIS2", "2222200200", "The rate 16, with MontoGravadoI2";
        itbis3: Option<u32> = integer(0, 99), "ITBIS3", "2222200220", "The rate 0, with MontoGravadoI3";
        total_itbis: Option<Monto>, "TotalITBIS", "2222200220", "Sum of the ITBIS at all rates";
        total_itbis1: Option<Monto>, "TotalITBIS1", "2222200200", "ITBIS at 18 %";
        total_itbis2: Option<Monto>, "TotalITBIS2", "2222200200", "ITBIS at 16 %";
        total_itbis3: Option<Monto>, "TotalITBIS3", "2222200220", "ITBIS at 0 %";
        monto_impuesto_adicional: Option<Monto> = money(Sign::Positive), "MontoImpuestoAdicional", "2222002200", "Sum of all additional taxes";
        impuestos_adicionales: ImpuestosAdicionales, "ImpuestosAdicionales", "2222002200", "Taxes beside the ITBIS";
        monto_total: Option<Monto>, "MontoTotal", "1111111111", "Taxed, exempt, ITBIS and additional taxes together";
        monto_no_facturable: Option<Monto> = money(Sign::Signed), "MontoNoFacturable", "2222002220", "Sum of the lines outside the invoice";
        monto_periodo: Option<Monto> = money(Sign::Signed), "MontoPeriodo", "3333333333", "MontoTotal and MontoNoFacturable together";
        saldo_anterior: Option<Monto> = money(Sign::Signed), "SaldoAnterior", "3333333333", "Balance from before";
        monto_avance_pago: Option<Monto>, "MontoAvancePago", "3333333333", "Paid in advance";
        valor_pagar: Option<Monto> = money(Sign::Signed), "ValorPagar", "3333333333", "What is left to pay";
        total_itbis_retenido: Option<Monto>, "TotalITBISRetenido", "2022200000", "Sum of the ITBIS withheld on the lines";
        total_isr_retencion: Option<Monto>, "TotalISRRetencion", "2022200002", "Sum of the income tax withheld on the lines";
        total_itbis_percepcion: Option<Monto>, "TotalITBISPercepcion", "2022200000", "ITBIS collected ahead; the regime is not in force";
        total_isr_percepcion: Option<Monto>, "TotalISRPercepcion", "2022200000", "Income tax collected ahead; the regime is not in force";
    }
}

block! {
    /// Taxes other than the ITBIS.
    pub struct ImpuestosAdicionales {
        impuesto_adicional: Vec<ImpuestoAdicional> [Limit::all(20)], "ImpuestoAdicional", "1111001100", "One entry per tax";
    }
}

block! {
    /// One tax other than the ITBIS: exactly one of the three amounts is present, depending on the class of its code.
    pub struct ImpuestoAdicional {
        tipo_impuesto: Option<TipoImpuesto>, "TipoImpuesto", "ccc200cc00", "Code of the tax";
        tasa_impuesto_adicional: Option<Porcentaje>, "TasaImpuestoAdicional", "ccc200cc00", "Percentage, or pesos per unit for codes 006 to 022";
        monto_impuesto_selectivo_consumo_especifico: Option<Monto> = money(Sign::Positive), "MontoImpuestoSelectivoConsumoEspecifico", "2222000200", "Amount of a tax of codes 006 to 022";
        monto_impuesto_selectivo_consumo_advalorem: Option<Monto> = money(Sign::Positive), "MontoImpuestoSelectivoConsumoAdvalorem", "2222000200", "Amount of a tax of codes 023 to 039";
        otros_impuestos_adicionales: Option<Monto> = money(Sign::Positive), "OtrosImpuestosAdicionales", "222200c200", "Amount of a tax of codes 001 to 005";
    }
}
