//! The amounts of a payload as the caller stated them, before missing ones are filled in.

use crate::document::{DescuentosORecargos, Document, OtraMoneda, Pagina, Paginacion, Totales};

/// The caller's amounts that depend on the lines. The search for the cause of a wrong sum starts from them, and
/// findings never describe a computed amount as given.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Given {
    pub(crate) totales: Totales,
    otra_moneda: OtraMoneda,
    descuentos_o_recargos: DescuentosORecargos,
    paginacion: Paginacion,
}

impl Given {
    /// Reads the amounts of a document that is not completed yet.
    pub(crate) fn of(document: &Document) -> Self {
        Self {
            totales: document.encabezado.totales.clone(),
            otra_moneda: document.encabezado.otra_moneda.clone(),
            descuentos_o_recargos: document.descuentos_o_recargos.clone(),
            paginacion: document.paginacion.clone(),
        }
    }

    /// The completed document without the amounts that were filled in.
    pub(crate) fn restore(&self, document: &Document) -> Document {
        let mut document = document.clone();
        document.encabezado.totales = self.totales.clone();
        document.encabezado.otra_moneda = self.otra_moneda.clone();
        document.descuentos_o_recargos = self.descuentos_o_recargos.clone();
        document.paginacion = self.paginacion.clone();
        document
    }

    /// The pages, in the order of the receipt.
    pub(crate) fn pages(&self) -> &[Pagina] {
        &self.paginacion.pagina
    }

    /// Whether the caller stated amounts of additional taxes. If so, nothing is added to the list.
    pub(crate) fn states_taxes(&self) -> bool {
        self.totales
            .impuestos_adicionales
            .impuesto_adicional
            .iter()
            .any(crate::totals::has_amount)
    }
}
