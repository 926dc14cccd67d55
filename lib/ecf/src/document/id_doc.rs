//! `Encabezado/IdDoc`: the identity of the receipt and its terms of payment.

use crate::catalogue::{
    FormaPago, IndicadorEnvioDiferido, IndicadorMontoGravado, IndicadorNotaCredito, IndicadorServicioTodoIncluido,
    TipoCuentaPago, TipoIngresos, TipoPago,
};
use crate::field::{Class, Form, Limit, text, text_of};
use crate::{Encf, Fecha, Monto, ReceiptType, Texto};

/// The number of pages of the printed representation. In notes it may have one digit more.
const TOTAL_PAGINAS: Form = Form::Integer {
    min: 2,
    max: Limit::wider_in_notes(9_999, 99_999),
};

block! {
    /// The identity of the receipt and its terms of payment.
    pub struct IdDoc {
        tipo_ecf: Option<ReceiptType>, "TipoeCF", "1111111111", "Type of the receipt; filled in from ecf_type when absent";
        encf: Option<Encf>, "eNCF", "1111111111", "Number of the receipt; assigned from the open range when absent";
        fecha_vencimiento_secuencia: Option<Fecha>, "FechaVencimientoSecuencia", "1010111111", "Last day of the number's range; filled in from the range when absent";
        indicador_nota_credito: Option<IndicadorNotaCredito>, "IndicadorNotaCredito", "0001000000", "Whether the note comes more than 30 days after what it modifies";
        indicador_envio_diferido: Option<IndicadorEnvioDiferido>, "IndicadorEnvioDiferido", "2222002220", "Deferred sending, for issuers who are authorised to it";
        indicador_monto_gravado: Option<IndicadorMontoGravado>, "IndicadorMontoGravado", "2222200200", "Whether line amounts include the ITBIS; with taxed lines";
        indicador_servicio_todo_incluido: Option<IndicadorServicioTodoIncluido>, "IndicadorServicioTodoIncluido", "3333003300", "All-inclusive service, as in hotels";
        tipo_ingresos: Option<TipoIngresos>, "TipoIngresos", "11rr001110", "Class of income";
        tipo_pago: Option<TipoPago>, "TipoPago", "1111131113", "When it is paid";
        fecha_limite_pago: Option<Fecha>, "FechaLimitePago", "2222202223", "Last day to pay; with TipoPago 2";
        termino_pago: Option<Texto> = text_of(Class::Words, 15), "TerminoPago", "3330303333", "Term of payment in words, such as 30 dias";
        tabla_formas_pago: TablaFormasPago, "TablaFormasPago", "3330303333", "By what it is paid";
        tipo_cuenta_pago: Option<TipoCuentaPago>, "TipoCuentaPago", "3330303333", "Kind of the account a cheque or transfer comes from";
        numero_cuenta_pago: Option<Texto> = text(28), "NumeroCuentaPago", "3330303333", "Number of that account";
        banco_pago: Option<Texto> = text(75), "BancoPago", "3330303333", "Bank of that account";
        fecha_desde: Option<Fecha>, "FechaDesde", "3333003333", "First day of the period that is billed";
        fecha_hasta: Option<Fecha>, "FechaHasta", "3333003333", "Last day of the period that is billed";
        total_paginas: Option<u32> = TOTAL_PAGINAS, "TotalPaginas", "2222222222", "Pages of the printed representation, when more than one";
    }
}

block! {
    /// The forms of payment.
    pub struct TablaFormasPago {
        forma_de_pago: Vec<FormaDePago> [Limit::all(7)], "FormaDePago", "1110101111", "One entry per form of payment";
    }
}

block! {
    /// One form of payment.
    pub struct FormaDePago {
        forma_pago: Option<FormaPago>, "FormaPago", "ooo0o0oooo", "Form of payment";
        monto_pago: Option<Monto>, "MontoPago", "ccc0c0ccco", "Amount paid in this form";
    }
}
