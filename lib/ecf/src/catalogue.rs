//! The tax authority's code tables, with the Spanish words for print.
//!
//! Short lists are enums; long ones are tables behind a code type. All are written and read by their code. Leading
//! zeros may be missing, because JSON numbers lose them.

mod impuestos_adicionales;
mod listed;
mod monedas;
mod provincias_municipios;
mod unidades_medida;

use std::fmt;
use std::str::FromStr;

use ecf_language::{Bilingual, Say};
use thiserror::Error;

use crate::field::Catalogue;
use impuestos_adicionales::IMPUESTOS_ADICIONALES;
pub use listed::{Detail, Entry, LISTED, Listed};
use monedas::MONEDAS;
pub(crate) use monedas::is_peso;
use provincias_municipios::PROVINCIAS_MUNICIPIOS;
use unidades_medida::{ABREVIATURAS, UNIDADES_MEDIDA};

/// A code that is not in its catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{given:?} is no code of {catalogue}")]
pub struct UnknownCode {
    /// The text as received.
    pub given: String,
    /// The name of the catalogue.
    pub catalogue: &'static str,
}

impl Say for UnknownCode {
    fn say(&self) -> Bilingual {
        Bilingual::of(self, format!("{:?} no es un código de {}", self.given, self.catalogue))
    }
}

/// Implements reading and writing for a type with `CATALOGUE`, `FromStr` and `Display`. `also` lists other names of the
/// entries, for the advice in a refusal.
macro_rules! code_value {
    ($Code:ident, $also:expr) => {
        impl fmt::Display for $Code {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.code())
            }
        }

        impl crate::field::Value for $Code {
            const FORM: crate::field::Form = crate::field::Form::Code(Self::CATALOGUE);

            fn read(
                scalar: crate::field::Scalar<'_>,
                _: &crate::field::Form,
                context: &mut crate::field::Context,
            ) -> Result<Self, crate::field::Problem> {
                crate::field::read_code(scalar, Self::CATALOGUE, $also, context)
            }

            fn write(&self, out: &mut Vec<u8>) {
                crate::field::escape(self.code(), out);
            }
        }

        text_serde!($Code);
    };
}

macro_rules! short_catalogue {
    ($($(#[$meta:meta])* pub enum $Code:ident { $($Variant:ident = $code:literal $words:literal,)+ })+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $Code {
            $(#[doc = concat!("`", $code, "` ", $words)] $Variant,)+
        }

        impl $Code {
            /// All codes, in the order of the catalogue.
            pub const ALL: &'static [Self] = &[$(Self::$Variant,)+];
            const CATALOGUE: Catalogue = &[$(($code, $words),)+];

            /// The code as written in the document.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$Variant => $code,)+ }
            }

            /// The words of the code.
            pub const fn words(self) -> &'static str {
                match self { $(Self::$Variant => $words,)+ }
            }
        }

        impl FromStr for $Code {
            type Err = UnknownCode;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                crate::field::place_of(Self::CATALOGUE, text)
                    .map(|place| Self::ALL[place])
                    .ok_or_else(|| UnknownCode { given: text.to_owned(), catalogue: stringify!($Code) })
            }
        }

        code_value!($Code, &[]);
    )+};
}

short_catalogue! {
    /// The version of the format.
    pub enum Version {
        V1 = "1.0" "",
    }

    /// Whether the receipt is sent later than it is issued.
    pub enum IndicadorEnvioDiferido {
        Diferido = "1" "Envío diferido",
    }

    /// Whether line amounts include the ITBIS.
    pub enum IndicadorMontoGravado {
        SinItbis = "0" "Montos sin ITBIS incluido",
        ConItbis = "1" "Montos con ITBIS incluido",
    }

    /// An all-inclusive service.
    pub enum IndicadorServicioTodoIncluido {
        TodoIncluido = "1" "Servicio todo incluido",
    }

    /// Whether a credit note is issued more than 30 days after the receipt that it modifies.
    pub enum IndicadorNotaCredito {
        HastaTreintaDias = "0" "Hasta 30 días",
        MasDeTreintaDias = "1" "Más de 30 días",
    }

    /// The class of income.
    pub enum TipoIngresos {
        Operaciones = "01" "Ingresos por operaciones (No financieros)",
        Financieros = "02" "Ingresos Financieros",
        Extraordinarios = "03" "Ingresos Extraordinarios",
        Arrendamientos = "04" "Ingresos por Arrendamientos",
        VentaActivo = "05" "Ingresos por Venta de Activo Depreciable",
        Otros = "06" "Otros Ingresos",
    }

    /// When the receipt is paid.
    pub enum TipoPago {
        Contado = "1" "Contado",
        Credito = "2" "Crédito",
        Gratuito = "3" "Gratuito",
    }

    /// The form of payment.
    pub enum FormaPago {
        Efectivo = "1" "Efectivo",
        ChequeTransferenciaDeposito = "2" "Cheque/Transferencia/Depósito",
        Tarjeta = "3" "Tarjeta de Débito/Crédito",
        VentaCredito = "4" "Venta a Crédito",
        Bonos = "5" "Bonos o Certificados de regalo",
        Permuta = "6" "Permuta",
        NotaCredito = "7" "Nota de crédito",
        Otras = "8" "Otras Formas de pago",
    }

    /// The kind of account a payment comes from.
    pub enum TipoCuentaPago {
        Corriente = "CT" "Cta. Corriente",
        Ahorro = "AH" "Ahorro",
        Otra = "OT" "Otra",
    }

    /// How goods travel.
    pub enum ViaTransporte {
        Terrestre = "01" "Terrestre",
        Maritimo = "02" "Marítimo",
        Aereo = "03" "Aérea",
    }

    /// The ITBIS group of a line.
    pub enum IndicadorFacturacion {
        NoFacturable = "0" "No Facturable",
        Itbis1 = "1" "ITBIS 1 (18%)",
        Itbis2 = "2" "ITBIS 2 (16%)",
        Itbis3 = "3" "ITBIS 3 (0%)",
        Exento = "4" "Exento (E)",
    }

    /// Which lines a global discount or surcharge affects.
    pub enum IndicadorFacturacionDescuentooRecargo {
        Itbis1 = "1" "ITBIS 1 (18%)",
        Itbis2 = "2" "ITBIS 2 (16%)",
        Itbis3 = "3" "ITBIS 3 (0%)",
        Exento = "4" "Exento (E)",
    }

    /// Whether tax is withheld or collected ahead.
    pub enum IndicadorAgenteRetencionoPercepcion {
        Retencion = "1" "Retención",
        Percepcion = "2" "Percepción",
    }

    /// Goods or a service.
    pub enum IndicadorBienoServicio {
        Bien = "1" "Bien",
        Servicio = "2" "Servicio",
    }

    /// Whether seller and buyer of minerals are affiliated.
    pub enum TipoAfiliacion {
        Afiliado = "1" "Afiliado",
        NoAfiliado = "2" "No afiliado",
    }

    /// Whether the liquidation of minerals is provisional or final.
    pub enum Liquidacion {
        Provisional = "1" "Provisional",
        Final = "2" "Final",
    }

    /// Whether an adjustment is an amount or a percentage.
    pub enum TipoValor {
        Monto = "$" "Monto",
        Porcentaje = "%" "Porcentaje",
    }

    /// Discount or surcharge.
    pub enum TipoAjuste {
        Descuento = "D" "Descuento",
        Recargo = "R" "Recargo",
    }

    /// Whether a discount falls under Norma 10-07.
    pub enum IndicadorNorma1007 {
        No = "0" "No",
        Si = "1" "Descuento de la Norma 10-07",
    }

    /// The reason for the reference to another receipt.
    pub enum CodigoModificacion {
        Anula = "1" "Anula el NCF modificado",
        CorrigeTexto = "2" "Corrige texto del comprobante fiscal modificado",
        CorrigeMontos = "3" "Corrige montos del NCF modificado",
        ReemplazaContingencia = "4" "Reemplazo de NCF emitido en contingencia",
        ReferenciaConsumo = "5" "Referencia Factura de Consumo Electrónica",
    }

    /// Whether an e-CF arrived.
    pub enum EstadoAcuse {
        Recibido = "0" "e-CF Recibido",
        NoRecibido = "1" "e-CF No Recibido",
    }

    /// Why an e-CF was refused.
    pub enum CodigoMotivoNoRecibido {
        ErrorEspecificacion = "1" "Error de especificación",
        ErrorFirma = "2" "Error de Firma Digital",
        EnvioDuplicado = "3" "Envío duplicado",
        RncCompradorNoCorresponde = "4" "RNC Comprador no corresponde",
    }

    /// The buyer's answer to an e-CF.
    pub enum EstadoAprobacion {
        Aceptado = "1" "e-CF Aceptado",
        Rechazado = "2" "e-CF Rechazado",
    }
}

macro_rules! long_catalogue {
    ($($(#[$meta:meta])* pub struct $Code:ident of $CATALOGUE:ident by $find:path, also $also:expr;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Code(u16);

        impl $Code {
            const CATALOGUE: Catalogue = $CATALOGUE;

            /// All codes, in the order of the catalogue.
            pub fn all() -> impl Iterator<Item = Self> {
                (0..$CATALOGUE.len() as u16).map(Self)
            }

            /// The code as written in the document.
            pub fn code(self) -> &'static str {
                $CATALOGUE[usize::from(self.0)].0
            }

            /// The words of the code.
            pub fn words(self) -> &'static str {
                $CATALOGUE[usize::from(self.0)].1
            }
        }

        impl FromStr for $Code {
            type Err = UnknownCode;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $find($CATALOGUE, text)
                    .and_then(|place| u16::try_from(place).ok())
                    .map(Self)
                    .ok_or_else(|| UnknownCode { given: text.to_owned(), catalogue: stringify!($Code) })
            }
        }

        impl fmt::Debug for $Code {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($Code), "({})"), self.code())
            }
        }

        code_value!($Code, $also);
    )+};
}

long_catalogue! {
    /// A currency other than the Dominican peso.
    pub struct TipoMoneda of MONEDAS by crate::field::place_of, also monedas::ALSO;
    /// A unit of measure.
    pub struct UnidadMedida of UNIDADES_MEDIDA by crate::field::place_of, also unidades_medida::ALSO;
    /// A tax other than the ITBIS.
    pub struct TipoImpuesto of IMPUESTOS_ADICIONALES by crate::field::place_of, also &[];
    /// A province, municipality or municipal district.
    pub struct ProvinciaMunicipio of PROVINCIAS_MUNICIPIOS by place_in_sorted, also &[];
}

impl TipoMoneda {
    /// Whether one unit is worth more than one peso; `None` when this is not certain for all years.
    pub fn is_above_the_peso(self) -> Option<bool> {
        match self.code() {
            "JPY" | "HTG" | "COP" => Some(false),
            // The bolívar lost most of its worth.
            "VEF" => None,
            _ => Some(true),
        }
    }
}

/// The index of a six-digit code, by binary search. A JSON number has lost the leading zero.
fn place_in_sorted(catalogue: Catalogue, text: &str) -> Option<usize> {
    let padded = (text.len() == 5).then(|| format!("0{text}"));
    let code = padded.as_deref().unwrap_or(text);
    catalogue.binary_search_by_key(&code, |(code, _)| code).ok()
}

/// The class of an additional tax, which determines the element of the totals with its amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImpuestoClass {
    /// Codes 001 to 005: a percentage, in OtrosImpuestosAdicionales.
    Otros,
    /// Codes 006 to 018: an amount per litre of absolute alcohol.
    EspecificoAlcohol,
    /// Codes 019 to 022: an amount per packet.
    EspecificoTabaco,
    /// Codes 023 to 035: a percentage of the retail price.
    AdValoremAlcohol,
    /// Codes 036 to 039: a percentage of the retail price.
    AdValoremTabaco,
}

impl TipoImpuesto {
    /// The class of the tax.
    pub fn class(self) -> ImpuestoClass {
        // The table starts with code 001.
        match self.0 + 1 {
            1..=5 => ImpuestoClass::Otros,
            6..=18 => ImpuestoClass::EspecificoAlcohol,
            19..=22 => ImpuestoClass::EspecificoTabaco,
            23..=35 => ImpuestoClass::AdValoremAlcohol,
            _ => ImpuestoClass::AdValoremTabaco,
        }
    }

    /// Whether the law fixes the rate as a percentage; the other rates change with resolutions of the authority.
    pub fn has_fixed_rate(self) -> bool {
        !matches!(
            self.class(),
            ImpuestoClass::EspecificoAlcohol | ImpuestoClass::EspecificoTabaco
        )
    }

    /// Whether the tax is part of the ITBIS base, as the excise taxes are.
    pub fn in_itbis_base(self) -> bool {
        self.class() != ImpuestoClass::Otros
    }
}

impl UnidadMedida {
    /// The abbreviation that is printed.
    pub fn abbreviation(self) -> &'static str {
        ABREVIATURAS[usize::from(self.0)]
    }
}

impl ProvinciaMunicipio {
    /// The province of the place; a province returns itself.
    pub fn provincia(self) -> Self {
        let code = format!("{}0000", &self.code()[..2]);
        code.parse().unwrap_or(self)
    }

    /// Whether it is a whole province.
    pub fn is_provincia(self) -> bool {
        self.code().ends_with("0000")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_with_and_without_leading_zeros() {
        assert_eq!("01".parse(), Ok(TipoIngresos::Operaciones));
        assert_eq!("1".parse(), Ok(TipoIngresos::Operaciones));
        assert_eq!("6".parse::<TipoImpuesto>().unwrap().code(), "006");
        assert_eq!("10100".parse::<ProvinciaMunicipio>().unwrap().code(), "010100");
        assert_eq!("43".parse::<UnidadMedida>().unwrap().abbreviation(), "UND");
        for bad in ["", "0", "001", "7", "x"] {
            assert!(bad.parse::<TipoIngresos>().is_err(), "{bad}");
        }
        for bad in ["", "0", "000", "040", "1 "] {
            assert!(bad.parse::<TipoImpuesto>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_long_tables_are_in_order_and_complete() {
        assert!(PROVINCIAS_MUNICIPIOS.is_sorted_by(|(left, _), (right, _)| left < right));
        assert_eq!(
            (PROVINCIAS_MUNICIPIOS.len(), ABREVIATURAS.len()),
            (582, UNIDADES_MEDIDA.len())
        );
        for (index, (code, _)) in IMPUESTOS_ADICIONALES.iter().enumerate() {
            assert_eq!(code.parse(), Ok(index + 1));
        }
        for place in ProvinciaMunicipio::all() {
            assert!(place.provincia().is_provincia(), "{place}");
        }
        assert_eq!(
            "023".parse::<TipoImpuesto>().unwrap().class(),
            ImpuestoClass::AdValoremAlcohol
        );
        assert_eq!(TipoImpuesto::all().filter(|tax| tax.in_itbis_base()).count(), 34);
    }
}
