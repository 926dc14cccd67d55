//! The content of a document, and its errors apart from the signature.

use ecf::messages::{Acecf, Anecf, Arecf, MessageError, Rfce, Semilla};
use ecf::rules::{self, Context};
use ecf::totals::{self, IscRates};
use ecf::{
    Document, Encf, Environment, Fecha, FechaHora, Grade, Heading, Received, Rnc, Violation, XmlError,
    sort_in_document_order, structure,
};
use ecf_api::FieldError;
use ecf_language::{Bilingual, Say};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// What a document states about itself.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct ContentView {
    /// The root element.
    #[schema(example = "ECF")]
    root: String,
    ecf_type: Option<String>,
    encf: Option<String>,
    rnc_emisor: Option<String>,
    rnc_comprador: Option<String>,
    monto_total: Option<String>,
    fecha_emision: Option<String>,
    /// When it was signed or created, according to the document.
    fecha_hora: Option<String>,
}

/// The name that the authority wants for the file.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FileNameView {
    given: Option<String>,
    /// Absent when it cannot be determined, or any name is allowed.
    expected: Option<String>,
    /// Absent when no name was given or expected.
    fits: Option<bool>,
}

/// The bytes of a document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    /// The bytes as sent; only these show the form of the XML.
    pub(super) sent: &'a [u8],
    /// The signed content, if the signature verifies.
    pub(super) content: &'a [u8],
}

/// A document, parsed as far as possible.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) document: Option<ContentView>,
    pub(super) structure: Vec<FieldError>,
    pub(super) rules: Vec<FieldError>,
    pub(super) rules_as_of: Option<String>,
    is_refused: bool,
    issuer: Option<Rnc>,
    signed_at: Option<Timestamp>,
    expected_name: Option<String>,
}

impl Content {
    /// Reads any document of the scheme. A form of the portal has no structure or rules to validate.
    pub(super) fn read(source: Source<'_>, environment: Environment, now: Timestamp) -> Self {
        let read = Document::from_xml(source.content).and_then(|mut received| {
            let form = structure::check(source.sent, Some(received.receipt_type))?;
            received.violations = structure::merge(form, received.violations);
            Ok(received)
        });
        match read {
            Ok(received) => Self::of_receipt(received, environment, now),
            Err(XmlError::Root { given, .. }) => Self::of_message(source, given),
            Err(error) => Self::unreadable(heading(source.sent), &error),
        }
    }

    /// The taxpayer who made the document.
    pub(super) fn issuer(&self) -> Option<&Rnc> {
        self.issuer.as_ref()
    }

    /// The signing time that the document states.
    pub(super) fn signed_at(&self) -> Option<Timestamp> {
        self.signed_at
    }

    /// Whether the document has no error for which the authority would reject it.
    pub(super) fn is_right(&self) -> bool {
        self.structure.is_empty() && !self.is_refused
    }

    pub(super) fn file_name(&self, given: Option<String>) -> FileNameView {
        let fits = given
            .as_ref()
            .zip(self.expected_name.as_ref())
            .map(|(given, expected)| given == expected);
        FileNameView {
            given,
            expected: self.expected_name.clone(),
            fits,
        }
    }

    fn of_receipt(received: Received, environment: Environment, now: Timestamp) -> Self {
        let Received {
            document,
            receipt_type,
            violations,
        } = received;
        let rates = IscRates::of(environment);
        let computed = totals::compute(&document, receipt_type, &rates);
        let as_of = |today| {
            let context = Context {
                receipt_type,
                environment,
                today,
                computed: &computed,
                rates: &rates,
            };
            rules::check(&document, &context)
        };
        let today = Fecha::at(now);
        let signed_at = document.fecha_hora_firma.and_then(FechaHora::instant);
        // An archived document is judged by the rules of its signing day. A signing time in the future counts as today.
        let signed_on = signed_at.map_or(today, Fecha::at).min(today);
        let mut found = as_of(signed_on);
        if signed_on != today {
            add_as_notices(&mut found, as_of(today));
        }
        let header = &document.encabezado;
        let (emisor, encf) = (header.emisor.rnc_emisor.clone(), header.id_doc.encf);
        Self {
            document: Some(ContentView {
                root: "ECF".to_owned(),
                ecf_type: Some(receipt_type.to_string()),
                encf: text(&encf),
                rnc_emisor: text(&emisor),
                rnc_comprador: text(&header.comprador.rnc_comprador),
                monto_total: text(&header.totales.monto_total),
                fecha_emision: text(&header.emisor.fecha_emision),
                fecha_hora: text(&document.fecha_hora_firma),
            }),
            structure: FieldError::listed(&violations, finding),
            is_refused: found.iter().any(|violation| violation.grade == Grade::Rejected),
            rules: FieldError::listed(&found, graded),
            rules_as_of: Some(signed_on.to_string()),
            expected_name: name(emisor.as_ref(), encf.as_ref()),
            issuer: emisor,
            signed_at,
        }
    }

    fn of_message(source: Source<'_>, root: String) -> Self {
        let bytes = source.content;
        let read = match root.as_str() {
            "RFCE" => Rfce::from_xml(bytes).map(Self::of_summary),
            "ARECF" => Arecf::from_xml(bytes).map(Self::of_acknowledgement),
            "ACECF" => Acecf::from_xml(bytes).map(Self::of_approval),
            "ANECF" => Anecf::from_xml(bytes).map(Self::of_annulment),
            "SemillaModel" => Semilla::from_xml(bytes).map(Self::of_seed),
            _ => {
                return Self::of_root(ContentView {
                    root,
                    ..ContentView::default()
                });
            }
        };
        let view = ContentView {
            root,
            ..ContentView::default()
        };
        let (mut content, fields) = match read {
            Ok(content) => (content, Vec::new()),
            Err(MessageError::Fields(violations)) => (Self::of_root(view), violations),
            Err(MessageError::Xml(error)) => return Self::unreadable(Some(view), &error),
        };
        match structure::check(source.sent, None) {
            Ok(form) => content.structure = FieldError::listed(&structure::merge(form, fields), finding),
            Err(error) => return Self::unreadable(content.document, &error),
        }
        content
    }

    fn of_root(view: ContentView) -> Self {
        Self {
            document: Some(view),
            ..Self::default()
        }
    }

    fn of_summary(rfce: Rfce) -> Self {
        let header = rfce.encabezado;
        let (emisor, encf) = (header.emisor.rnc_emisor, header.id_doc.encf);
        Self {
            document: Some(ContentView {
                root: "RFCE".to_owned(),
                ecf_type: text(&header.id_doc.tipo_ecf),
                encf: text(&encf),
                rnc_emisor: text(&emisor),
                rnc_comprador: text(&header.comprador.rnc_comprador),
                monto_total: text(&header.totales.monto_total),
                fecha_emision: text(&header.emisor.fecha_emision),
                fecha_hora: None,
            }),
            expected_name: name(emisor.as_ref(), encf.as_ref()),
            issuer: emisor,
            ..Self::default()
        }
    }

    /// The buyer sends the acknowledgement, so its RNC is in the file name.
    fn of_acknowledgement(arecf: Arecf) -> Self {
        let detail = arecf.detalle_acusede_recibo;
        Self {
            document: Some(ContentView {
                root: "ARECF".to_owned(),
                encf: text(&detail.encf),
                rnc_emisor: text(&detail.rnc_emisor),
                rnc_comprador: text(&detail.rnc_comprador),
                fecha_hora: text(&detail.fecha_hora_acuse_recibo),
                ..ContentView::default()
            }),
            expected_name: name(detail.rnc_comprador.as_ref(), detail.encf.as_ref()),
            issuer: detail.rnc_comprador,
            signed_at: detail.fecha_hora_acuse_recibo.and_then(FechaHora::instant),
            ..Self::default()
        }
    }

    /// The buyer sends the approval, so its RNC is in the file name.
    fn of_approval(acecf: Acecf) -> Self {
        let detail = acecf.detalle_aprobacion_comercial;
        Self {
            document: Some(ContentView {
                root: "ACECF".to_owned(),
                encf: text(&detail.encf),
                rnc_emisor: text(&detail.rnc_emisor),
                rnc_comprador: text(&detail.rnc_comprador),
                monto_total: text(&detail.monto_total),
                fecha_emision: text(&detail.fecha_emision),
                fecha_hora: text(&detail.fecha_hora_aprobacion_comercial),
                ..ContentView::default()
            }),
            expected_name: name(detail.rnc_comprador.as_ref(), detail.encf.as_ref()),
            issuer: detail.rnc_comprador,
            signed_at: detail.fecha_hora_aprobacion_comercial.and_then(FechaHora::instant),
            ..Self::default()
        }
    }

    fn of_annulment(anecf: Anecf) -> Self {
        let header = anecf.encabezado;
        Self {
            document: Some(ContentView {
                root: "ANECF".to_owned(),
                rnc_emisor: text(&header.rnc_emisor),
                fecha_hora: text(&header.fecha_hora_anulacion_encf),
                ..ContentView::default()
            }),
            issuer: header.rnc_emisor,
            signed_at: header.fecha_hora_anulacion_encf.and_then(FechaHora::instant),
            ..Self::default()
        }
    }

    fn of_seed(semilla: Semilla) -> Self {
        Self {
            document: Some(ContentView {
                root: "SemillaModel".to_owned(),
                fecha_hora: text(&semilla.fecha),
                ..ContentView::default()
            }),
            ..Self::default()
        }
    }

    fn unreadable(document: Option<ContentView>, error: &XmlError) -> Self {
        let error = FieldError::new(
            ["document"],
            "xml_invalid",
            Bilingual {
                en: ecf_runtime::telemetry::chain(error).to_string().into(),
                ..error.say()
            },
        );
        Self {
            document,
            structure: vec![error],
            ..Self::default()
        }
    }
}

/// Identifies a receipt that cannot be parsed, because of its encoding or its unknown type.
fn heading(bytes: &[u8]) -> Option<ContentView> {
    let heading = Heading::from_xml(bytes).ok()?;
    Some(ContentView {
        root: "ECF".to_owned(),
        encf: text(&heading.encf),
        rnc_emisor: text(&heading.rnc_emisor),
        rnc_comprador: text(&heading.rnc_comprador),
        ..ContentView::default()
    })
}

/// Adds violations that exist on the later day only, as notices.
fn add_as_notices(found: &mut Vec<Violation>, later: Vec<Violation>) {
    let is_new = |one: &Violation| {
        !found
            .iter()
            .any(|known| (known.code, &known.path) == (one.code, &one.path))
    };
    let new: Vec<Violation> = later.into_iter().filter(is_new).collect();
    found.extend(new.into_iter().map(|one| one.with_grade(Grade::Notice)));
    sort_in_document_order(found);
}

fn finding(violation: &Violation) -> FieldError {
    FieldError::of_violation(&["document"], violation)
}

fn graded(violation: &Violation) -> FieldError {
    let grade = match violation.grade {
        Grade::Notice => "notice",
        Grade::Conditional => "conditional",
        Grade::Rejected => "rejected",
    };
    finding(violation).with_ctx("grade", grade)
}

/// The sender's RNC, then the e-NCF (Descripción técnica, naming of files).
fn name(rnc: Option<&Rnc>, encf: Option<&Encf>) -> Option<String> {
    Some(format!("{}{}.xml", rnc?, encf?))
}

fn text<T: ToString>(value: &Option<T>) -> Option<String> {
    value.as_ref().map(ToString::to_string)
}
