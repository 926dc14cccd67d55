//! The lines of the receipt as columns of text.

use ecf::Monto;
use ecf::catalogue::IndicadorFacturacion;
use ecf::document::Item;
use ecf::totals::LineAmounts;
use rust_decimal::Decimal;

use crate::amount::{amount, quantity};
use crate::receipt::Receipt;
use crate::text::printable;

/// A column beside the description. `Cantidad` is left of the description, all others right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    Cantidad,
    UnidadMedida,
    GradosAlcohol,
    Pvp,
    Precio,
    Descuento,
    Recargo,
    IscEspecifico,
    IscAdValorem,
    Itbis,
    Valor,
    PrecioOtraMoneda,
    ValorOtraMoneda,
}

/// The lines, and the columns that at least one line fills.
#[derive(Debug)]
pub(crate) struct Lines {
    pub(crate) columns: Vec<Column>,
    /// The titles of the columns with the other currency: price and value.
    other_currency: [String; 2],
    pub(crate) lines: Vec<Line>,
}

/// One line.
#[derive(Debug)]
pub(crate) struct Line {
    /// Whether it is marked with an `E` as exempt.
    pub(crate) exempt: bool,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    cells: [Option<String>; Column::ALL.len()],
}

impl Column {
    pub(crate) const ALL: [Self; 13] = [
        Self::Cantidad,
        Self::UnidadMedida,
        Self::GradosAlcohol,
        Self::Pvp,
        Self::Precio,
        Self::Descuento,
        Self::Recargo,
        Self::IscEspecifico,
        Self::IscAdValorem,
        Self::Itbis,
        Self::Valor,
        Self::PrecioOtraMoneda,
        Self::ValorOtraMoneda,
    ];

    const fn title(self) -> &'static str {
        match self {
            Self::Cantidad => "Cantidad",
            Self::UnidadMedida => "Unidad de Medida",
            Self::GradosAlcohol => "Grados Alcohol en %",
            Self::Pvp => "PVP",
            Self::Precio => "Precio",
            Self::Descuento => "Descuento",
            Self::Recargo => "Recargo",
            Self::IscEspecifico => "ISCe",
            Self::IscAdValorem => "ISCav",
            Self::Itbis => "ITBIS",
            Self::Valor => "Valor",
            Self::PrecioOtraMoneda => "Precio Otra Moneda",
            Self::ValorOtraMoneda => "Valor Otra Moneda",
        }
    }

    /// Whether a line is unreadable without this column.
    pub(crate) const fn is_essential(self) -> bool {
        matches!(self, Self::Cantidad | Self::Precio | Self::Valor)
    }

    /// Whether its texts are left-aligned, as words are.
    pub(crate) const fn is_words(self) -> bool {
        matches!(self, Self::UnidadMedida)
    }
}

impl Lines {
    pub(super) fn of(receipt: &Receipt) -> Self {
        let items = &receipt.document.detalles_items.item;
        let lines: Vec<Line> = items
            .iter()
            .zip(&receipt.computed.lines)
            .map(|(item, amounts)| Line::of(item, amounts))
            .collect();
        let used = |column: &Column| column.is_essential() || lines.iter().any(|line| line.cell(*column).is_some());
        Self {
            columns: Column::ALL.into_iter().filter(used).collect(),
            other_currency: match receipt.document.encabezado.otra_moneda.tipo_moneda {
                Some(currency) => {
                    [Column::Precio, Column::Valor].map(|column| format!("{} {}", column.title(), currency.code()))
                }
                None => [Column::PrecioOtraMoneda, Column::ValorOtraMoneda].map(|column| column.title().to_owned()),
            },
            lines,
        }
    }

    /// The title of a column, as worded in the authority's models.
    pub(crate) fn title(&self, column: Column) -> &str {
        match column {
            Column::PrecioOtraMoneda => &self.other_currency[0],
            Column::ValorOtraMoneda => &self.other_currency[1],
            column => column.title(),
        }
    }
}

impl Line {
    fn of(item: &Item, amounts: &LineAmounts) -> Self {
        // Codes 006 to 022 are specific, 023 to 039 ad valorem.
        let isc = |specific| {
            let taxes = amounts.isc_by_tax().filter(|(tax, _)| (tax.code() < "023") == specific);
            let sum = taxes
                .map(|(_, exact)| exact)
                .try_fold(Decimal::ZERO, Decimal::checked_add);
            sum.and_then(computed)
        };
        let other = &item.otra_moneda_detalle;
        let cell = |column| match column {
            Column::Cantidad => item.cantidad_item.as_ref().map(|value| quantity(value)),
            Column::UnidadMedida => item.unidad_medida.map(|unit| unit.words().to_owned()),
            Column::GradosAlcohol => item.grados_alcohol.as_ref().map(|value| quantity(value)),
            Column::Pvp => item.precio_unitario_referencia.as_ref().map(|value| amount(value)),
            Column::Precio => item.precio_unitario_item.as_ref().map(|value| amount(value)),
            Column::Descuento => non_zero(&item.descuento_monto).map(|value| format!("-{}", amount(value))),
            Column::Recargo => non_zero(&item.recargo_monto).map(|value| amount(value)),
            Column::IscEspecifico => isc(true),
            Column::IscAdValorem => isc(false),
            Column::Itbis => computed(amounts.itbis()),
            Column::Valor => item.monto_item.as_ref().map(|value| amount(value)),
            Column::PrecioOtraMoneda => other.precio_otra_moneda.as_ref().map(|value| amount(value)),
            Column::ValorOtraMoneda => other.monto_item_otra_moneda.as_ref().map(|value| amount(value)),
        };
        Self {
            exempt: item.indicador_facturacion == Some(IndicadorFacturacion::Exento),
            name: item
                .nombre_item
                .as_ref()
                .map(|name| printable(name))
                .unwrap_or_default(),
            description: item.descripcion_item.as_ref().map(|text| printable(text)),
            cells: Column::ALL.map(cell),
        }
    }

    pub(crate) fn cell(&self, column: Column) -> Option<&str> {
        self.cells[column as usize].as_deref()
    }
}

fn non_zero(field: &Option<Monto>) -> Option<&Monto> {
    field.as_ref().filter(|amount| **amount != Monto::zero())
}

/// An amount that the document does not state, rounded for display.
fn computed(exact: Decimal) -> Option<String> {
    let rounded = Monto::rounded(exact).ok()?;
    (rounded != Monto::zero()).then(|| amount(&rounded))
}
