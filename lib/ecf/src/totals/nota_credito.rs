//! The 30-day limit of credit notes.

use crate::Fecha;
use crate::catalogue::IndicadorNotaCredito;

/// Calendar days within which a credit note still reduces the ITBIS.
const DAYS: i32 = 30;

/// The indicator of a credit note: 1 from the 31st calendar day after the modified receipt (Reglamento 293-11, arts. 8
/// and 28).
pub fn indicador_nota_credito(fecha_emision: Fecha, fecha_ncf_modificado: Fecha) -> IndicadorNotaCredito {
    let days = (fecha_emision.date() - fecha_ncf_modificado.date()).get_days();
    if days > DAYS {
        IndicadorNotaCredito::MasDeTreintaDias
    } else {
        IndicadorNotaCredito::HastaTreintaDias
    }
}
