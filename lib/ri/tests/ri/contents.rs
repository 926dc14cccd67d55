//! Every mandatory field of each type is printed, on each paper.

use ecf::{Document, Environment, ReceiptType, StampHosts};
use ecf_ri::{Design, Format, Mode, Options, render};
use serde_json::json;

use crate::paper::{flat, print, print_as, texts, try_print};
use crate::receipts::{beer, full, issue, long, payload, receipt};

/// Texts that every receipt of these tests contains.
const ALWAYS: [&str; 14] = [
    "FerreNorte",
    "Ferretería del Norte, S.R.L.",
    "Santiago Centro",
    "131880681",
    "Av. 27 de Febrero No. 102, Los Jardines, SANTIAGO, SANTIAGO",
    "Fecha Emisión: 20-11-2026",
    "e-NCF:",
    "Cantidad",
    "Descripción",
    "Precio",
    "Valor",
    "Código de Seguridad:",
    "Fecha Firma: 20-11-2026 14:05:09",
    "Representación impresa de un e-CF",
];

fn assert_printed(receipt_type: ReceiptType, expected: &[&str], absent: &[&str]) {
    let signed = receipt(receipt_type);
    for format in Format::ALL {
        let text = flat(&print(&signed, format));
        let encf = format!("E{receipt_type}0000000147");
        for words in ALWAYS
            .iter()
            .chain(expected)
            .chain([&receipt_type.title(), &encf.as_str()])
        {
            assert!(
                text.contains(words),
                "type {receipt_type} on {format}: {words:?} is not in {text}"
            );
        }
        for words in absent {
            assert!(
                !text.contains(words),
                "type {receipt_type} on {format}: {words:?} is in {text}"
            );
        }
        assert_amounts(&signed, &text);
    }
}

/// Every amount that must be printed appears with the digits of the document.
fn assert_amounts(signed: &[u8], text: &str) {
    let document = Document::from_xml(signed).unwrap().document;
    let totales = &document.encabezado.totales;
    let header = [
        &totales.monto_total,
        &totales.monto_gravado_total,
        &totales.monto_exento,
        &totales.total_itbis,
        &totales.total_isr_retencion,
    ];
    let items = &document.detalles_items.item;
    let lines = items.iter().flat_map(|item| [&item.monto_item, &item.descuento_monto]);
    let digits: String = text.chars().filter(|character| *character != ',').collect();
    for amount in header.into_iter().chain(lines).flatten() {
        assert!(digits.contains(&amount.to_string()), "{amount} is not in {text}");
    }
    for item in items {
        let name = item.nombre_item.as_ref().unwrap().as_str();
        assert!(text.contains(name), "{name:?} is not in {text}");
    }
}

const BUYER: [&str; 2] = [
    "Razón Social Cliente: Constructora Peña & Núñez, S.R.L.",
    "RNC Cliente: 101010632",
];
const EXPIRY: &str = "Fecha Vencimiento: 31-12-2027";

#[test]
fn a_tax_credit_invoice_says_all_it_must() {
    let [name, rnc] = BUYER;
    let more = [
        name,
        rnc,
        EXPIRY,
        "Subtotal Gravado",
        "Subtotal Exento",
        "Total ITBIS",
        "Descuento",
        "ITBIS",
    ];
    assert_printed(ReceiptType::E31, &more, &["NCF Modificado", "Página No."]);
}

#[test]
fn a_consumer_invoice_has_no_expiry() {
    assert_printed(
        ReceiptType::E32,
        &["Total ITBIS"],
        &["Fecha Vencimiento", "RNC Cliente"],
    );
}

#[test]
fn notes_say_what_they_modify_and_why_in_words() {
    let modified = [
        "NCF Modificado: E310000000099",
        "Corrige montos del NCF modificado",
        "Precio de la varilla según cotización",
        BUYER[0],
        BUYER[1],
    ];
    assert_printed(ReceiptType::E33, &[&modified[..], &[EXPIRY]].concat(), &[]);
    assert_printed(ReceiptType::E34, &modified, &["Fecha Vencimiento"]);
}

#[test]
fn purchases_say_what_is_withheld() {
    let more = [
        BUYER[0],
        BUYER[1],
        EXPIRY,
        "ITBIS Retenido",
        "ISR Retenido",
        "300.00",
        "200.00",
    ];
    assert_printed(ReceiptType::E41, &more, &[]);
}

#[test]
fn petty_expenses_name_no_buyer_and_mark_exempt_lines() {
    assert_printed(
        ReceiptType::E43,
        &[EXPIRY, "Subtotal Exento", "E "],
        &["Cliente", "Subtotal Gravado", "ITBIS"],
    );
}

#[test]
fn special_regimes_are_exempt() {
    assert_printed(
        ReceiptType::E44,
        &["Embajada de Francia", EXPIRY, "Subtotal Exento"],
        &["ITBIS"],
    );
}

#[test]
fn a_government_invoice_says_all_it_must() {
    assert_printed(
        ReceiptType::E45,
        &[BUYER[0], BUYER[1], EXPIRY, "Subtotal Gravado", "Total ITBIS"],
        &[],
    );
}

#[test]
fn an_export_names_the_country_and_both_currencies() {
    let more = [
        "Caribbean Hardware Imports LLC",
        "Identificador Extranjero: US-EIN-4471",
        "País: Estados Unidos",
        "USD 1.00 = RD$ 62.50",
        EXPIRY,
        "770.30",
        "Valor USD",
        "Precio USD",
        "USD",
    ];
    assert_printed(ReceiptType::E46, &more, &["RNC Cliente"]);
}

#[test]
fn a_payment_abroad_names_who_is_paid() {
    let more = [
        "Northern Cloud Hosting Inc.",
        "CA-882211",
        EXPIRY,
        "ISR Retenido",
        "8,437.50",
    ];
    assert_printed(ReceiptType::E47, &more, &["ITBIS"]);
}

#[test]
fn excise_taxes_have_their_columns_and_their_total() {
    let signed = beer();
    for format in [Format::Letter, Format::Roll58] {
        let text = flat(&print(&signed, format));
        for words in [
            "Grados Alcohol en %",
            "PVP",
            "65.00",
            "ISCe",
            "540.04",
            "ISCav",
            "191.28",
            "ITBIS",
            "713.04",
            "Total ISC",
            "731.32",
            "Caja/Cajón",
            "4,674.36",
        ] {
            assert!(text.contains(words), "{words:?} is not in {text}");
        }
    }
}

#[test]
fn other_taxes_have_a_row_each() {
    let mut phone = payload(ReceiptType::E31);
    phone["DetallesItems"]["Item"][3]["TablaImpuestoAdicional"] =
        json!({"ImpuestoAdicional": [{"TipoImpuesto": "002"}, {"TipoImpuesto": "004"}]});
    phone["DetallesItems"]["Item"][0]["TablaImpuestoAdicional"] =
        json!({"ImpuestoAdicional": [{"TipoImpuesto": "001"}]});
    let text = flat(&print(&issue(ReceiptType::E31, &phone), Format::Letter));
    for words in [
        "CDT 74.00",
        "Servicios de Telecomunicaciones 370.00",
        "Propina Legal 1,980.00",
    ] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
}

#[test]
fn global_discounts_and_surcharges_are_rows_with_their_words() {
    let mut adjusted = payload(ReceiptType::E31);
    adjusted["DescuentosORecargos"] = json!({"DescuentoORecargo": [
        {"TipoAjuste": "D", "DescripcionDescuentooRecargo": "Pronto pago", "TipoValor": "%", "ValorDescuentooRecargo": "2.5",
         "IndicadorFacturacionDescuentooRecargo": 1},
        {"TipoAjuste": "R", "DescripcionDescuentooRecargo": "Flete", "TipoValor": "$", "MontoDescuentooRecargo": "500.00",
         "IndicadorFacturacionDescuentooRecargo": 1}
    ]});
    let text = flat(&print(&issue(ReceiptType::E31, &adjusted), Format::Letter));
    // The lines, less the discount and plus the surcharge, give both subtotals; 390.00 of them are exempt.
    let words = "Subtotal Bruto 48,143.50 Descuento: Pronto pago (2.50 %) -1,193.84 Recargo: Flete 500.00 \
                 Subtotal Gravado 47,059.66 Subtotal Exento 390.00";
    assert!(text.contains(words), "{text}");
}

#[test]
fn deferred_sending_and_contingency_have_their_legends() {
    let mut deferred = payload(ReceiptType::E31);
    deferred["Encabezado"]["IdDoc"]["IndicadorEnvioDiferido"] = json!(1);
    let signed = issue(ReceiptType::E31, &deferred);
    let legend = "e-CF emitido en modalidad Envío Diferido, podrá ser consultado para su validez fiscal, a partir de las \
                  veinticuatro (24) horas.";
    let contingency = "e-CF emitido en modalidad de Contingencia, el cual podrá ser consultado para su validez fiscal, a \
                       partir de las setenta y dos (72) horas.";
    for format in Format::ALL {
        let normal = flat(&print(&signed, format));
        assert!(normal.contains(legend) && !normal.contains(contingency), "{normal}");
        let pdf = try_print(&signed, format, Mode::Contingency, &Design::default()).unwrap();
        assert!(flat(&pdf).contains(contingency));
    }
    assert!(!flat(&print(&receipt(ReceiptType::E31), Format::Letter)).contains("Envío Diferido"));
}

#[test]
fn a_receipt_without_fiscal_value_says_so_on_every_sheet() {
    let marks = [
        (Mode::Rejected, "RECHAZADO e-CF sin valor fiscal"),
        (Mode::Cancelled, "ANULADO e-CF sin valor fiscal"),
        (Mode::Unsent, "NO ENVIADO e-CF sin valor fiscal"),
        (Mode::Unconfirmed, "SIN VALIDAR e-CF sin valor fiscal mientras"),
    ];
    let (short, long) = (receipt(ReceiptType::E31), long(90));
    for format in Format::ALL {
        for (mode, mark) in marks {
            for signed in [&short, &long] {
                for (index, sheet) in texts(&print_as(signed, format, mode)).iter().enumerate() {
                    let sheet = sheet.split_whitespace().collect::<Vec<_>>().join(" ");
                    assert!(sheet.contains(mark), "{format}, {mode:?}, sheet {index}: {sheet}");
                }
            }
        }
        for mode in [Mode::Accepted, Mode::Pending, Mode::Contingency] {
            assert!(!flat(&print_as(&short, format, mode)).contains("e-CF sin valor fiscal"));
        }
    }
}

#[test]
fn a_receipt_of_a_test_environment_says_so_on_every_sheet() {
    let mark = "AMBIENTE DE PRUEBAS SIN VALOR FISCAL";
    let (signed, design) = (long(90), Design::default());
    for format in Format::ALL {
        for environment in [Environment::TesteCF, Environment::CerteCF, Environment::Ecf] {
            let options = Options {
                environment,
                hosts: &StampHosts::default(),
                format,
                mode: Mode::Accepted,
                design: &design,
            };
            for sheet in texts(&render(&signed, &options).unwrap()) {
                let sheet = sheet.split_whitespace().collect::<Vec<_>>().join(" ");
                assert_eq!(
                    sheet.contains(mark),
                    environment != Environment::Ecf,
                    "{format}: {sheet}"
                );
            }
        }
    }
}

#[test]
fn a_receipt_without_a_verdict_says_that_it_is_pending() {
    let pending = "Pendiente de validación por la DGII: consulte su estado con el código QR.";
    let signed = receipt(ReceiptType::E31);
    for format in Format::ALL {
        assert!(flat(&print_as(&signed, format, Mode::Pending)).contains(pending));
        assert!(!flat(&print(&signed, format)).contains(pending));
    }
}

#[test]
fn what_the_receipt_says_of_payment_buyer_and_shipment_is_printed() {
    let everybody = [
        "Formas de Pago: Efectivo RD$ 10,000.00; Cheque/Transferencia/Depósito RD$ 5,000.00",
        "Cuenta: Cta. Corriente, 770-001234-5, Banco del Cibao",
        "Contacto: Ing. Rosa Núñez, 809-555-0188",
        "Correo: compras@penanunez.example",
        "Nota: Mercancía revisada en presencia del cliente; cambios en 7 días.",
    ];
    let export = [
        "Condiciones de Entrega: FOB",
        "Puerto de Embarque: Caucedo",
        "Puerto de Desembarque: Miami",
        "Peso Bruto: 2,480 Kilogramo",
        "Total FOB: 54,235.00",
        "Vía de Transporte: Marítimo",
        "Contenedor: MSKU 407213-6",
    ];
    for format in Format::ALL {
        let text = flat(&print(&full(ReceiptType::E31), format));
        for words in everybody {
            assert!(text.contains(words), "{format}: {words:?} is not in {text}");
        }
        let text = flat(&print(&full(ReceiptType::E46), format));
        for words in everybody.iter().chain(&export) {
            assert!(text.contains(words), "{format}: {words:?} is not in {text}");
        }
    }
}

#[test]
fn the_issuer_adds_a_footer() {
    let design = Design {
        footer: Some("Gracias por su compra".to_owned()),
        ..Design::default()
    };
    for format in Format::ALL {
        let pdf = try_print(&receipt(ReceiptType::E32), format, Mode::Accepted, &design).unwrap();
        assert!(flat(&pdf).contains("Gracias por su compra"));
    }
}

#[test]
fn the_same_receipt_gives_the_same_bytes() {
    let signed = receipt(ReceiptType::E31);
    for format in Format::ALL {
        assert!(print(&signed, format) == print(&signed, format));
    }
}
