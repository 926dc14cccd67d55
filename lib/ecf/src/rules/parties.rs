//! `Emisor` and `Comprador`: which party must be named, with which identity, and whether the places match.

use ecf_language::say;

use super::finding::{Path, comprador, emisor};
use super::{Case, Findings, Rule};
use crate::ReceiptType::{E31, E32, E33, E34, E41, E44, E45, E46};
use crate::catalogue::ProvinciaMunicipio;
use crate::draft::SUMMARY_THRESHOLD;
use crate::field::Presence;

pub(super) const RULES: &[Rule] = &[
    Rule::notice(
        "EMISOR-03",
        "format, tables of provinces and municipalities",
        "the issuer's municipality lies in the issuer's province",
        issuer_place_fits,
    ),
    Rule::rejected(
        "COMPRADOR-01",
        "format, Comprador: RNCComprador, IdentificadorExtranjero",
        "a consumer invoice of RD$250,000.00 or more identifies the buyer",
        large_consumer_invoice_identifies_the_buyer,
    ),
    Rule::rejected(
        "COMPRADOR-02",
        "format, Comprador: RazonSocialComprador",
        "a consumer invoice of RD$250,000.00 or more names the buyer",
        large_consumer_invoice_names_the_buyer,
    ),
    Rule::rejected(
        "COMPRADOR-03",
        "format, Comprador: IdentificadorExtranjero",
        "RNCComprador and IdentificadorExtranjero exclude each other",
        identities_exclude_each_other,
    ),
    Rule::rejected(
        "COMPRADOR-04",
        "format, Comprador, type 44",
        "a buyer under a special regime has a taxpayer number or a foreign identity",
        special_regime_identifies_the_buyer,
    ),
    Rule::rejected(
        "COMPRADOR-05",
        "format, Comprador, types 33 and 34; Ley 32-23 art. 15",
        "a note identifies the buyer of what it modifies",
        note_identifies_the_buyer_of_the_original,
    ),
    Rule::rejected(
        "COMPRADOR-06",
        "format, Comprador, types 33 and 34; Ley 32-23 art. 15",
        "a note names the buyer of what it modifies",
        note_names_the_buyer_of_the_original,
    ),
    Rule::notice(
        "COMPRADOR-07",
        "format, tables of provinces and municipalities",
        "the buyer's municipality lies in the buyer's province",
        buyer_place_fits,
    ),
];

/// Whether the amount in pesos reaches the threshold, even when another currency was agreed.
fn is_large(case: &Case<'_>) -> bool {
    case.monto_total().is_some_and(|total| total >= SUMMARY_THRESHOLD)
}

fn has_identity(case: &Case<'_>) -> bool {
    let buyer = &case.document.encabezado.comprador;
    buyer.rnc_comprador.is_some() || buyer.identificador_extranjero.is_some()
}

fn has_name(case: &Case<'_>) -> bool {
    case.document.encabezado.comprador.razon_social_comprador.is_some()
}

fn large_consumer_invoice_identifies_the_buyer(case: &Case<'_>, out: &mut Findings<'_>) {
    if case.receipt_type == E32 && is_large(case) && !has_identity(case) {
        let message = say!(
            "a consumer invoice of RD$250,000.00 or more needs the buyer's RNCComprador, or \
                       IdentificadorExtranjero for a foreigner without a Dominican number",
            "una Factura de Consumo de RD$250,000.00 o más necesita el RNCComprador del comprador, o \
         IdentificadorExtranjero para un extranjero sin número dominicano"
        );
        out.missing(comprador("RNCComprador"), message)
            .expected("RNCComprador or IdentificadorExtranjero");
    }
}

fn large_consumer_invoice_names_the_buyer(case: &Case<'_>, out: &mut Findings<'_>) {
    if case.receipt_type == E32 && is_large(case) && !has_name(case) {
        let message = say!(
            "a consumer invoice of RD$250,000.00 or more needs the buyer's RazonSocialComprador",
            "una Factura de Consumo de RD$250,000.00 o más necesita la RazonSocialComprador del comprador"
        );
        out.missing(comprador("RazonSocialComprador"), message);
    }
}

fn identities_exclude_each_other(case: &Case<'_>, out: &mut Findings<'_>) {
    let buyer = &case.document.encabezado.comprador;
    if let Some((rnc, foreign)) = buyer
        .rnc_comprador
        .as_ref()
        .zip(buyer.identificador_extranjero.as_ref())
    {
        // Type 47 does not have RNCComprador; its presence is reported separately.
        if case.presence(&comprador("RNCComprador")) == Some(Presence::Forbidden) {
            return;
        }
        let message = say!(
            "a buyer with RNCComprador {rnc} has no IdentificadorExtranjero beside it",
            "un comprador con RNCComprador {rnc} no lleva además IdentificadorExtranjero"
        );
        out.forbidden(comprador("IdentificadorExtranjero"), message)
            .given(foreign)
            .expected("one of RNCComprador and IdentificadorExtranjero");
    }
}

fn special_regime_identifies_the_buyer(case: &Case<'_>, out: &mut Findings<'_>) {
    if case.receipt_type == E44 && !has_identity(case) {
        let message = say!(
            "type 44 needs the buyer's RNCComprador, or IdentificadorExtranjero for a foreign diplomat",
            "el tipo 44 necesita el RNCComprador del comprador, o IdentificadorExtranjero para un \
         diplomático extranjero"
        );
        out.missing(comprador("RNCComprador"), message)
            .expected("RNCComprador or IdentificadorExtranjero");
    }
}

/// Types 31, 41 and 45 always have the buyer's RNC, type 44 has the RNC or a foreign identity, a consumer invoice only
/// from the threshold on. A credit note that reaches the threshold cannot refer to a smaller invoice.
fn note_identifies_the_buyer_of_the_original(case: &Case<'_>, out: &mut Findings<'_>) {
    let Some(original) = original_of_note(case) else {
        return;
    };
    let buyer = &case.document.encabezado.comprador;
    let large_credit = original == E32 && case.receipt_type == E34 && is_large(case);
    if matches!(original, E31 | E41 | E45) && buyer.rnc_comprador.is_none() {
        let message = say!(
            "the note modifies a receipt of type {original}, so it needs the same RNCComprador",
            "la nota modifica un comprobante del tipo {original}, así que necesita el mismo RNCComprador"
        );
        out.missing(comprador("RNCComprador"), message)
            .expected("the RNCComprador of the modified receipt");
    } else if (original == E44 || large_credit) && !has_identity(case) {
        let message = say!(
            "the note modifies a receipt of type {original}, so it needs the same RNCComprador or \
             IdentificadorExtranjero",
            "la nota modifica un comprobante del tipo {original}, así que necesita el mismo \
             RNCComprador o IdentificadorExtranjero"
        );
        out.missing(comprador("RNCComprador"), message)
            .expected("RNCComprador or IdentificadorExtranjero of the modified receipt");
    }
}

fn note_names_the_buyer_of_the_original(case: &Case<'_>, out: &mut Findings<'_>) {
    let Some(original) = original_of_note(case) else {
        return;
    };
    let large_credit = original == E32 && case.receipt_type == E34 && is_large(case);
    if (matches!(original, E31 | E41 | E44 | E45 | E46) || large_credit) && !has_name(case) {
        let message = say!(
            "the note modifies a receipt of type {original}, so it names the same buyer",
            "la nota modifica un comprobante del tipo {original}, así que nombra al mismo comprador"
        );
        out.missing(comprador("RazonSocialComprador"), message)
            .expected("the RazonSocialComprador of the modified receipt");
    }
}

fn original_of_note(case: &Case<'_>) -> Option<crate::ReceiptType> {
    case.is_one_of(&[E33, E34])
        .then(|| super::references::modified_type(case))
        .flatten()
}

fn issuer_place_fits(case: &Case<'_>, out: &mut Findings<'_>) {
    let issuer = &case.document.encabezado.emisor;
    place_fits(
        issuer.provincia,
        issuer.municipio,
        (emisor("Provincia"), emisor("Municipio")),
        out,
    );
}

fn buyer_place_fits(case: &Case<'_>, out: &mut Findings<'_>) {
    let buyer = &case.document.encabezado.comprador;
    let paths = (comprador("ProvinciaComprador"), comprador("MunicipioComprador"));
    place_fits(buyer.provincia_comprador, buyer.municipio_comprador, paths, out);
}

/// The schemas accept any code of the table in both fields.
fn place_fits(
    provincia: Option<ProvinciaMunicipio>,
    municipio: Option<ProvinciaMunicipio>,
    (provincia_path, municipio_path): (Path, Path),
    out: &mut Findings<'_>,
) {
    if let Some(given) = provincia.filter(|given| !given.is_provincia()) {
        let message = say!(
            "{given} is {}, not a province",
            "{given} es {}, no una provincia",
            given.words()
        );
        out.differs(provincia_path, given, given.provincia(), message);
        return;
    }
    let Some(given) = municipio else { return };
    if given.is_provincia() {
        let message = say!(
            "{given} is {}, not a municipality",
            "{given} es {}, no un municipio",
            given.words()
        );
        out.wrong(municipio_path, message)
            .given(given)
            .expected("the code of a municipality or municipal district");
    } else if let Some(provincia) = provincia.filter(|provincia| given.provincia() != *provincia) {
        let message = say!(
            "{given} {} lies in {} {}, not in {provincia} {}",
            "{given} {} está en {} {}, no en {provincia} {}",
            given.words(),
            given.provincia(),
            given.provincia().words(),
            provincia.words()
        );
        let expected = format!("a code that starts with {}", &provincia.code()[..2]);
        out.differs(municipio_path, given, expected, message);
    }
}
