//! `Paginacion/Pagina`: the printed pages, with their lines and sums.

use crate::Monto;
use crate::field::{Form, Limit, Sign, line_number, money, page_number};

/// The limit of pages equals that of lines, except in small consumer invoices.
const PAGES: Limit = Limit::wider_in_notes(1_000, 10_000);
const LINE: Form = line_number();

block! {
    /// The printed pages, if there are several.
    pub struct Paginacion {
        pagina: Vec<Pagina> [PAGES], "Pagina", "cccccccccc", "One page";
    }
}

block! {
    /// One printed page.
    pub struct Pagina {
        pagina_no: Option<u32> = page_number(), "PaginaNo", "2222222222", "1, 2, 3 and so on";
        no_linea_desde: Option<u32> = LINE, "NoLineaDesde", "2222222222", "First line on the page";
        no_linea_hasta: Option<u32> = LINE, "NoLineaHasta", "2222222222", "Last line on the page";
        subtotal_monto_gravado_pagina: Option<Monto>, "SubtotalMontoGravadoPagina", "2222200220", "Sum of the three taxed bases";
        subtotal_monto_gravado1_pagina: Option<Monto>, "SubtotalMontoGravado1Pagina", "2222200200", "Base at 18 %";
        subtotal_monto_gravado2_pagina: Option<Monto>, "SubtotalMontoGravado2Pagina", "2222200200", "Base at 16 %";
        subtotal_monto_gravado3_pagina: Option<Monto>, "SubtotalMontoGravado3Pagina", "2222200220", "Base at 0 %";
        subtotal_exento_pagina: Option<Monto>, "SubtotalExentoPagina", "2222222202", "Exempt amounts";
        subtotal_itbis_pagina: Option<Monto>, "SubtotalItbisPagina", "2222200220", "Sum of the ITBIS at all rates";
        subtotal_itbis1_pagina: Option<Monto>, "SubtotalItbis1Pagina", "2222200200", "ITBIS at 18 %";
        subtotal_itbis2_pagina: Option<Monto>, "SubtotalItbis2Pagina", "2222200200", "ITBIS at 16 %";
        subtotal_itbis3_pagina: Option<Monto>, "SubtotalItbis3Pagina", "2222200220", "ITBIS at 0 %";
        subtotal_impuesto_adicional_pagina: Option<Monto> = money(Sign::Positive), "SubtotalImpuestoAdicionalPagina", "2222002200", "Sum of the additional taxes";
        subtotal_impuesto_adicional: SubtotalImpuestoAdicional, "SubtotalImpuestoAdicional", "2222002200", "Additional taxes by class";
        monto_subtotal_pagina: Option<Monto>, "MontoSubtotalPagina", "2222222222", "All of the page together";
        subtotal_monto_no_facturable_pagina: Option<Monto>, "SubtotalMontoNoFacturablePagina", "2222002220", "Lines outside the invoice";
    }
}

block! {
    /// Additional taxes of the page by class.
    pub struct SubtotalImpuestoAdicional {
        subtotal_impuesto_selectivo_consumo_especifico_pagina: Option<Monto> = money(Sign::Positive), "SubtotalImpuestoSelectivoConsumoEspecificoPagina", "2222000200", "Codes 006 to 039";
        subtotal_otros_impuesto: Option<Monto> = money(Sign::Positive), "SubtotalOtrosImpuesto", "2222002200", "Codes 001 to 005";
    }
}
