//! `DetallesItems/Item`: one line of the receipt, with the blocks inside it.

use crate::catalogue::{
    IndicadorAgenteRetencionoPercepcion, IndicadorBienoServicio, IndicadorFacturacion, Liquidacion, TipoAfiliacion,
    TipoImpuesto, TipoValor, UnidadMedida,
};
use crate::field::{Limit, Sign, line_number, money, text};
use crate::{Cantidad, Fecha, Monto, Peso, Porcentaje, Precio, Subcantidad, Texto};

block! {
    /// The lines of the receipt.
    pub struct DetallesItems {
        item: Vec<Item> [Limit::LINES], "Item", "1111111111", "One line";
    }
}

block! {
    /// One line of the receipt.
    pub struct Item {
        numero_linea: Option<u32> = line_number(), "NumeroLinea", "1111111111", "1, 2, 3 and so on; filled in from the place when absent";
        tabla_codigos_item: TablaCodigosItem, "TablaCodigosItem", "3333333333", "Codes of the article";
        indicador_facturacion: Option<IndicadorFacturacion>, "IndicadorFacturacion", "1111111111", "How the line stands to the ITBIS";
        retencion: Retencion, "Retencion", "2022100001", "What the payer withholds";
        nombre_item: Option<Texto> = text(80), "NombreItem", "1111111111", "Name of the article or service";
        indicador_bieno_servicio: Option<IndicadorBienoServicio>, "IndicadorBienoServicio", "1111111111", "Goods or a service";
        descripcion_item: Option<Texto> = text(1_000), "DescripcionItem", "3333333333", "More about the article or service";
        cantidad_item: Option<Cantidad> = money(Sign::Positive), "CantidadItem", "1111111111", "How many";
        unidad_medida: Option<UnidadMedida>, "UnidadMedida", "3333333333", "Code of the unit of measure";
        cantidad_referencia: Option<Cantidad>, "CantidadReferencia", "2222000200", "Bottles or packets per unit sold; with taxes 006 to 022";
        unidad_referencia: Option<UnidadMedida>, "UnidadReferencia", "2222000200", "Unit of CantidadReferencia";
        tabla_subcantidad: TablaSubcantidad, "TablaSubcantidad", "2222000200", "Content of one reference unit; with taxes 006 to 039";
        grados_alcohol: Option<Porcentaje>, "GradosAlcohol", "2222000200", "Alcohol by volume in percent; with taxes 006 to 018";
        precio_unitario_referencia: Option<Monto> = money(Sign::Positive), "PrecioUnitarioReferencia", "2222000200", "Retail price of one reference unit; with taxes 023 to 039";
        fecha_elaboracion: Option<Fecha>, "FechaElaboracion", "3333303330", "Day of production";
        fecha_vencimiento_item: Option<Fecha>, "FechaVencimientoItem", "3333303330", "Best before";
        mineria: Mineria, "Mineria", "0222000020", "Sale of minerals";
        precio_unitario_item: Option<Precio>, "PrecioUnitarioItem", "1111111111", "Price of one unit, up to four decimals";
        descuento_monto: Option<Monto>, "DescuentoMonto", "2222202220", "Sum of the discounts of the line";
        tabla_sub_descuento: TablaSubDescuento, "TablaSubDescuento", "2222202220", "Discounts of the line";
        recargo_monto: Option<Monto>, "RecargoMonto", "2222202220", "Sum of the surcharges of the line";
        tabla_sub_recargo: TablaSubRecargo, "TablaSubRecargo", "2222202220", "Surcharges of the line";
        tabla_impuesto_adicional: TablaImpuestoAdicional, "TablaImpuestoAdicional", "2222002200", "Taxes beside the ITBIS";
        otra_moneda_detalle: OtraMonedaDetalle, "OtraMonedaDetalle", "2222222222", "The line in the other currency";
        monto_item: Option<Monto>, "MontoItem", "1111111111", "Price times quantity, less discounts, plus surcharges";
    }
}

block! {
    /// Codes of the article.
    pub struct TablaCodigosItem {
        codigos_item: Vec<CodigosItem> [Limit::all(5)], "CodigosItem", "1111111111", "One entry per code";
    }
}

block! {
    /// One code of the article.
    pub struct CodigosItem {
        tipo_codigo: Option<Texto> = text(14), "TipoCodigo", "oooooooooo", "Kind of code, such as EAN or Interna";
        codigo_item: Option<Texto> = text(35), "CodigoItem", "oooooooooo", "The code";
    }
}

block! {
    /// Taxes that the payer withholds.
    pub struct Retencion {
        indicador_agente_retenciono_percepcion: Option<IndicadorAgenteRetencionoPercepcion>, "IndicadorAgenteRetencionoPercepcion", "2022100001", "Withheld or collected ahead";
        monto_itbis_retenido: Option<Monto>, "MontoITBISRetenido", "2022200000", "ITBIS withheld";
        monto_isr_retenido: Option<Monto>, "MontoISRRetenido", "2022200001", "Income tax withheld";
    }
}

block! {
    /// The content of one reference unit.
    pub struct TablaSubcantidad {
        subcantidad_item: Vec<SubcantidadItem> [Limit::all(5)], "SubcantidadItem", "1111000100", "One entry per content";
    }
}

block! {
    /// One content of a reference unit.
    pub struct SubcantidadItem {
        subcantidad: Option<Subcantidad>, "Subcantidad", "2222000200", "Litres, or cigarettes of a packet";
        codigo_subcantidad: Option<UnidadMedida>, "CodigoSubcantidad", "2222000200", "Unit of Subcantidad";
    }
}

block! {
    /// Sale of minerals.
    pub struct Mineria {
        peso_neto_kilogramo: Option<Peso>, "PesoNetoKilogramo", "0222000020", "Net weight in kilograms";
        peso_neto_mineria: Option<Peso>, "PesoNetoMineria", "0222000020", "Net weight in the unit of the mineral";
        tipo_afiliacion: Option<TipoAfiliacion>, "TipoAfiliacion", "0222000020", "How seller and buyer stand to each other";
        liquidacion: Option<Liquidacion>, "Liquidacion", "0222000020", "Provisional or final";
    }
}

block! {
    /// Discounts of the line.
    pub struct TablaSubDescuento {
        sub_descuento: Vec<SubDescuento> [Limit::all(12)], "SubDescuento", "1111101110", "One entry per discount";
    }
}

block! {
    /// One discount of the line.
    pub struct SubDescuento {
        tipo_sub_descuento: Option<TipoValor>, "TipoSubDescuento", "ccccc0ccc0", "Amount or percentage";
        sub_descuento_porcentaje: Option<Porcentaje>, "SubDescuentoPorcentaje", "2222202220", "The percentage, with %";
        monto_sub_descuento: Option<Monto>, "MontoSubDescuento", "2222202220", "The amount, with both";
    }
}

block! {
    /// Surcharges of the line.
    pub struct TablaSubRecargo {
        sub_recargo: Vec<SubRecargo> [Limit::all(12)], "SubRecargo", "1111101110", "One entry per surcharge";
    }
}

block! {
    /// One surcharge of the line.
    pub struct SubRecargo {
        tipo_sub_recargo: Option<TipoValor>, "TipoSubRecargo", "ccccc0ccc0", "Amount or percentage";
        sub_recargo_porcentaje: Option<Porcentaje>, "SubRecargoPorcentaje", "2222202220", "The percentage, with %";
        monto_sub_recargo: Option<Monto>, "MontoSubRecargo", "2222202220", "The amount, with both";
    }
}

block! {
    /// Taxes other than the ITBIS on the line.
    pub struct TablaImpuestoAdicional {
        impuesto_adicional: Vec<ImpuestoAdicionalItem> [Limit::all(2)], "ImpuestoAdicional", "1111001100", "One entry per tax";
    }
}

block! {
    /// One tax on the line. Its rate and amount are in the totals.
    pub struct ImpuestoAdicionalItem {
        tipo_impuesto: Option<TipoImpuesto>, "TipoImpuesto", "cccc00cc00", "Code of the tax";
    }
}

block! {
    /// The line in the other currency.
    pub struct OtraMonedaDetalle {
        precio_otra_moneda: Option<Precio>, "PrecioOtraMoneda", "2222222222", "Price of one unit, up to four decimals";
        descuento_otra_moneda: Option<Monto>, "DescuentoOtraMoneda", "3333333333", "Sum of the discounts";
        recargo_otra_moneda: Option<Monto>, "RecargoOtraMoneda", "3333333333", "Sum of the surcharges";
        monto_item_otra_moneda: Option<Monto>, "MontoItemOtraMoneda", "2222222222", "Price times quantity, less discounts, plus surcharges";
    }
}
