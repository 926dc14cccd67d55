//! The thirty days of a credit note.

use crate::Fecha;
use crate::catalogue::IndicadorNotaCredito;

/// Calendar days within which a credit note still reduces the ITBIS.
const DAYS: i32 = 30;

/// The indicator that a credit note of this day must carry: 1 from the 31st calendar day after the modified receipt on
/// (Reglamento 293-11, arts. 8 and 28).
pub fn indicador_nota_credito(fecha_emision: Fecha, fecha_ncf_modificado: Fecha) -> IndicadorNotaCredito {
    let days = (fecha_emision.date() - fecha_ncf_modificado.date()).get_days();
    if days > DAYS {
        IndicadorNotaCredito::MasDeTreintaDias
    } else {
        IndicadorNotaCredito::HastaTreintaDias
    }
}
