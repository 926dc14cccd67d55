//! `InformacionReferencia`: the receipt that a note modifies, or that this one replaces.

use crate::catalogue::CodigoModificacion;
use crate::field::text;
use crate::{Fecha, Ncf, Rnc, Texto};

block! {
    /// The receipt that a note modifies, or that this one replaces.
    pub struct InformacionReferencia {
        ncf_modificado: Option<Ncf>, "NCFModificado", "2211222222", "Number of that receipt, electronic or of paper";
        rnc_otro_contribuyente: Option<Rnc>, "RNCOtroContribuyente", "2222222222", "Its issuer, when a taxpayer that was dissolved, merged or split";
        fecha_ncf_modificado: Option<Fecha>, "FechaNCFModificado", "2211222222", "Its day of issue";
        codigo_modificacion: Option<CodigoModificacion>, "CodigoModificacion", "2211222222", "Why it is referred to";
        razon_modificacion: Option<Texto> = text(90), "RazonModificacion", "0033000000", "The reason in words";
    }
}
