//! The excise taxes (ISC) of a line: the fields and codes that they require. Their amounts are checked in `taxes`.
//!
//! A wrong structure is rejected, regardless of the tolerances for amounts. Alcohol sold in bulk (UnidadMedida 18,
//! Granel) has only the ad valorem tax and needs none of these fields.

use ecf_language::{Bilingual, say};

use super::finding::line;
use super::{Case, Findings, Rule};
use crate::catalogue::{ImpuestoClass, TipoImpuesto};
use crate::document::Item;

const SOURCE: &str = "IT §14; format, Item, taxes 006 to 039";

pub(super) const RULES: &[Rule] = &[
    Rule::rejected(
        "ISC-01",
        "recorded: message 2150; format, Item: TablaSubcantidad",
        "excise taxes 006 to 039 need TablaSubcantidad",
        content_is_given,
    ),
    Rule::rejected(
        "ISC-02",
        "recorded: message 2150; format, Item: SubcantidadItem",
        "each SubcantidadItem says how much and in which unit",
        contents_are_complete,
    ),
    Rule::rejected(
        "ISC-03",
        SOURCE,
        "excise taxes 006 to 039 need CantidadReferencia",
        reference_quantity_is_given,
    ),
    Rule::rejected(
        "ISC-04",
        SOURCE,
        "the taxes on alcohol 006 to 018 need GradosAlcohol",
        degrees_are_given,
    ),
    Rule::rejected(
        "ISC-05",
        SOURCE,
        "the ad valorem taxes 023 to 039 need PrecioUnitarioReferencia",
        retail_price_is_given,
    ),
    Rule::rejected(
        "ISC-06",
        SOURCE,
        "an ad valorem tax stands beside the specific tax of the same article",
        ad_valorem_stands_beside_its_specific_tax,
    ),
    Rule::rejected(
        "ISC-07",
        "IT §14, Granel",
        "alcohol in bulk carries no specific tax",
        bulk_carries_no_specific_tax,
    ),
    Rule::notice(
        "ISC-08",
        "format, Item: TablaSubcantidad, GradosAlcohol, PrecioUnitarioReferencia",
        "the fields of the excise taxes belong to lines that carry one",
        fields_belong_to_a_taxed_line,
    ),
];

/// The unit of measure for bulk.
const GRANEL: &str = "18";

fn is_bulk(item: &Item) -> bool {
    item.unidad_medida.is_some_and(|unit| unit.code() == GRANEL)
}

fn taxes(item: &Item) -> impl Iterator<Item = TipoImpuesto> {
    let carried = item.tabla_impuesto_adicional.impuesto_adicional.iter();
    carried.filter_map(|tax| tax.tipo_impuesto)
}

/// The first tax of these classes on a line. A tax that the type may not carry is reported separately.
fn first_of(case: &Case<'_>, item: &Item, classes: &[ImpuestoClass]) -> Option<TipoImpuesto> {
    taxes(item).find(|tax| classes.contains(&tax.class()) && case.carried.contains(*tax))
}

const SPECIFIC: &[ImpuestoClass] = &[ImpuestoClass::EspecificoAlcohol, ImpuestoClass::EspecificoTabaco];
const AD_VALOREM: &[ImpuestoClass] = &[ImpuestoClass::AdValoremAlcohol, ImpuestoClass::AdValoremTabaco];
const EXCISE: &[ImpuestoClass] = &[
    ImpuestoClass::EspecificoAlcohol,
    ImpuestoClass::EspecificoTabaco,
    ImpuestoClass::AdValoremAlcohol,
    ImpuestoClass::AdValoremTabaco,
];

/// Reports each packed line that has a tax of these classes but lacks the field.
fn need(
    case: &Case<'_>,
    classes: &[ImpuestoClass],
    has_field: fn(&Item) -> bool,
    (field, meaning): (&str, Bilingual),
    out: &mut Findings<'_>,
) {
    for (index, item) in case.lines.iter().enumerate() {
        let Some(tax) = first_of(case, item, classes) else {
            continue;
        };
        if !has_field(item) && !is_bulk(item) {
            let message = say!(
                [meaning],
                "the line carries tax {tax} ({}), so it needs {field}: {meaning}",
                "la línea lleva el impuesto {tax} ({}), así que necesita {field}: {meaning}",
                tax.words()
            );
            out.missing(line(index, &[field]), message).expected(&*meaning.en);
        }
    }
}

fn content_is_given(case: &Case<'_>, out: &mut Findings<'_>) {
    let has = |item: &Item| !item.tabla_subcantidad.subcantidad_item.is_empty();
    let meaning = say!(
        "litres of one unit of alcohol, or cigarettes of one packet",
        "los litros de una unidad de alcohol, o los cigarrillos de una cajetilla"
    );
    need(case, EXCISE, has, ("TablaSubcantidad", meaning), out);
}

fn contents_are_complete(case: &Case<'_>, out: &mut Findings<'_>) {
    for (index, item) in case.lines.iter().enumerate() {
        for (place, content) in item.tabla_subcantidad.subcantidad_item.iter().enumerate() {
            let given = [
                ("Subcantidad", content.subcantidad.is_some()),
                ("CodigoSubcantidad", content.codigo_subcantidad.is_some()),
            ];
            for (field, _) in given.into_iter().filter(|(_, given)| !given) {
                let steps = ["TablaSubcantidad", "SubcantidadItem", &place.to_string(), field];
                out.missing(
                    line(index, &steps),
                    say!(
                        "{field} is due in every SubcantidadItem",
                        "cada SubcantidadItem lleva {field}"
                    ),
                );
            }
        }
    }
}

/// The list of codes says 006 to 022, but the formulas of 023 to 039 use the field too.
fn reference_quantity_is_given(case: &Case<'_>, out: &mut Findings<'_>) {
    let meaning = say!(
        "bottles or packets in one unit that is sold",
        "las botellas o cajetillas de una unidad vendida"
    );
    let has = |item: &Item| item.cantidad_referencia.is_some();
    need(case, EXCISE, has, ("CantidadReferencia", meaning), out);
}

fn degrees_are_given(case: &Case<'_>, out: &mut Findings<'_>) {
    let meaning = say!("alcohol by volume in percent", "el alcohol por volumen en por ciento");
    let has = |item: &Item| item.grados_alcohol.is_some();
    need(
        case,
        &[ImpuestoClass::EspecificoAlcohol],
        has,
        ("GradosAlcohol", meaning),
        out,
    );
}

fn retail_price_is_given(case: &Case<'_>, out: &mut Findings<'_>) {
    let meaning = say!(
        "retail price of one bottle or packet, ITBIS included",
        "el precio al por menor de una botella o cajetilla, con ITBIS"
    );
    let has = |item: &Item| item.precio_unitario_referencia.is_some();
    need(case, AD_VALOREM, has, ("PrecioUnitarioReferencia", meaning), out);
}

/// Both tables have the same articles in the same order: 006 is beer, and so is 023.
fn specific_of(ad_valorem: TipoImpuesto) -> Option<TipoImpuesto> {
    const DISTANCE: u32 = 17;
    let code: u32 = ad_valorem.code().parse().ok()?;
    code.checked_sub(DISTANCE)?.to_string().parse().ok()
}

fn ad_valorem_stands_beside_its_specific_tax(case: &Case<'_>, out: &mut Findings<'_>) {
    for (index, item) in case.lines.iter().enumerate().filter(|(_, item)| !is_bulk(item)) {
        let Some(tax) = first_of(case, item, AD_VALOREM) else {
            continue;
        };
        let Some(specific) = specific_of(tax).filter(|specific| taxes(item).all(|other| other != *specific)) else {
            continue;
        };
        let message = say!(
            "tax {tax} ({}) is computed from its specific tax {specific}, which the line must carry too",
            "el impuesto {tax} ({}) se calcula a partir de su impuesto específico {specific}, que la \
             línea también debe llevar",
            tax.words()
        );
        out.missing(line(index, &["TablaImpuestoAdicional"]), message)
            .given(tax)
            .expected(format!("{specific} and {tax}"));
    }
}

fn bulk_carries_no_specific_tax(case: &Case<'_>, out: &mut Findings<'_>) {
    for (index, item) in case.lines.iter().enumerate().filter(|(_, item)| is_bulk(item)) {
        if let Some(tax) = first_of(case, item, SPECIFIC) {
            let message = say!(
                "UnidadMedida is 18 (Granel), for which the specific tax {tax} is not due",
                "UnidadMedida es 18 (Granel), para la que no se debe el impuesto específico {tax}"
            );
            out.forbidden(line(index, &["TablaImpuestoAdicional"]), message)
                .given(tax);
        }
    }
}

fn fields_belong_to_a_taxed_line(case: &Case<'_>, out: &mut Findings<'_>) {
    for (index, item) in case.lines.iter().enumerate() {
        if first_of(case, item, EXCISE).is_some() {
            continue;
        }
        let given = [
            ("CantidadReferencia", item.cantidad_referencia.is_some()),
            ("TablaSubcantidad", !item.tabla_subcantidad.subcantidad_item.is_empty()),
            ("GradosAlcohol", item.grados_alcohol.is_some()),
            ("PrecioUnitarioReferencia", item.precio_unitario_referencia.is_some()),
        ];
        for (field, _) in given.into_iter().filter(|(_, given)| *given) {
            let message = say!(
                "{field} belongs to the excise taxes 006 to 039, and the line carries none of them",
                "{field} es de los impuestos selectivos 006 a 039, y la línea no lleva ninguno"
            );
            out.wrong(line(index, &[field]), message);
        }
    }
}
