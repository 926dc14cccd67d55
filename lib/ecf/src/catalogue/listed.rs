//! The catalogues whose codes callers write, under the names by which the service publishes them.

use super::{
    CodigoModificacion, FormaPago, IndicadorFacturacion, ProvinciaMunicipio, TipoCuentaPago, TipoImpuesto,
    TipoIngresos, TipoMoneda, TipoPago, UnidadMedida, ViaTransporte,
};
use crate::ReceiptType;

/// A catalogue for callers.
#[derive(Debug, Clone, Copy)]
pub struct Listed {
    /// Its name in addresses.
    pub name: &'static str,
    /// Its title in Spanish.
    pub title: &'static str,
    /// The fields that take its codes.
    pub fields: &'static [&'static str],
    entries: fn() -> Vec<Entry>,
}

/// A code with its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The code as written in the document.
    pub code: &'static str,
    /// The words of the code.
    pub words: &'static str,
    /// What else is known of it.
    pub detail: Detail,
}

/// What some catalogues know beside the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Nothing.
    None,
    /// The abbreviation of a unit.
    Abbreviation(&'static str),
    /// The code of the province of a place.
    Provincia(&'static str),
    /// The tax, whose rates `totals::IscRates` knows.
    Impuesto(TipoImpuesto),
}

impl Listed {
    /// Its codes, in the authority's order.
    pub fn entries(&self) -> Vec<Entry> {
        (self.entries)()
    }
}

/// Entries without detail of a short catalogue.
macro_rules! plain {
    ($Code:ident) => {
        || {
            let codes = $Code::ALL.iter();
            codes.map(|one| entry(one.code(), one.words(), Detail::None)).collect()
        }
    };
}

/// All catalogues, in the order of their names.
pub const LISTED: [Listed; 12] = [
    Listed {
        name: "codigos-modificacion",
        title: "Códigos de modificación",
        fields: &["CodigoModificacion"],
        entries: plain!(CodigoModificacion),
    },
    Listed {
        name: "formas-pago",
        title: "Formas de pago",
        fields: &["FormaPago"],
        entries: plain!(FormaPago),
    },
    Listed {
        name: "impuestos-adicionales",
        title: "Impuestos adicionales",
        fields: &["TipoImpuesto", "TipoImpuestoOtraMoneda"],
        entries: || {
            let taxes = TipoImpuesto::all();
            taxes
                .map(|tax| entry(tax.code(), tax.words(), Detail::Impuesto(tax)))
                .collect()
        },
    },
    Listed {
        name: "indicadores-facturacion",
        title: "Indicadores de facturación",
        fields: &["IndicadorFacturacion", "IndicadorFacturacionDescuentooRecargo"],
        entries: plain!(IndicadorFacturacion),
    },
    Listed {
        name: "monedas",
        title: "Monedas",
        fields: &["TipoMoneda"],
        entries: || {
            let currencies = TipoMoneda::all();
            currencies
                .map(|one| entry(one.code(), one.words(), Detail::None))
                .collect()
        },
    },
    Listed {
        name: "provincias-municipios",
        title: "Provincias, municipios y distritos municipales",
        fields: &["Provincia", "Municipio", "ProvinciaComprador", "MunicipioComprador"],
        entries: || {
            let places = ProvinciaMunicipio::all();
            places
                .map(|place| entry(place.code(), place.words(), Detail::Provincia(place.provincia().code())))
                .collect()
        },
    },
    Listed {
        name: "tipos-cuenta-pago",
        title: "Tipos de cuenta de pago",
        fields: &["TipoCuentaPago"],
        entries: plain!(TipoCuentaPago),
    },
    Listed {
        name: "tipos-ecf",
        title: "Tipos de e-CF",
        fields: &["TipoeCF"],
        entries: || {
            let types = ReceiptType::ALL.into_iter();
            types
                .map(|one| entry(one.as_str(), one.title(), Detail::None))
                .collect()
        },
    },
    Listed {
        name: "tipos-ingresos",
        title: "Tipos de ingresos",
        fields: &["TipoIngresos"],
        entries: plain!(TipoIngresos),
    },
    Listed {
        name: "tipos-pago",
        title: "Tipos de pago",
        fields: &["TipoPago"],
        entries: plain!(TipoPago),
    },
    Listed {
        name: "unidades-medida",
        title: "Unidades de medida",
        fields: &[
            "UnidadMedida",
            "UnidadReferencia",
            "CodigoSubcantidad",
            "UnidadPesoBruto",
            "UnidadPesoNeto",
            "UnidadBulto",
            "UnidadVolumen",
        ],
        entries: || {
            let units = UnidadMedida::all();
            units
                .map(|unit| entry(unit.code(), unit.words(), Detail::Abbreviation(unit.abbreviation())))
                .collect()
        },
    },
    Listed {
        name: "vias-transporte",
        title: "Vías de transporte",
        fields: &["ViaTransporte"],
        entries: plain!(ViaTransporte),
    },
];

fn entry(code: &'static str, words: &'static str, detail: Detail) -> Entry {
    Entry { code, words, detail }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// Collects the forms of the properties of this name.
    fn forms<'v>(schema: &'v Value, name: &str, found: &mut Vec<&'v Value>) {
        for (of, inner) in schema["properties"].as_object().into_iter().flatten() {
            if of == name {
                found.push(inner);
            }
            forms(inner, name, found);
        }
        if let Some(items) = schema.get("items") {
            forms(items, name, found);
        }
    }

    #[test]
    fn p8_each_catalogue_has_the_codes_that_its_fields_take() {
        assert!(LISTED.is_sorted_by(|one, next| one.name < next.name));
        let schemas = ReceiptType::ALL.map(crate::json_schema);
        for listed in LISTED {
            let codes: Vec<&str> = listed.entries().iter().map(|entry| entry.code).collect();
            for field in listed.fields {
                let mut found = Vec::new();
                schemas.iter().for_each(|schema| forms(schema, field, &mut found));
                assert!(!found.is_empty(), "{field}");
                for form in found.into_iter().filter_map(|form| form["enum"].as_array()) {
                    let known = |code: &Value| {
                        let number = code.to_string();
                        codes.contains(&code.as_str().unwrap_or(&number))
                    };
                    assert!(form.iter().all(known), "{field} of {}: {form:?}", listed.name);
                }
            }
        }
    }
}
