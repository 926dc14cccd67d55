//! `POST /api/v1/client/tools/inspect-p12`.
//!
//! For a file that was rejected: reports the content that the PIN opens, the problems, and how to correct them. Nothing
//! is stored or logged.

use axum::Json;
use axum::extract::State;
use ecf_api::{Caller, CodedError, Form, FromForm, Instant, Spoken, ValidForm, ValidationError};
use ecf_certificates::{LARGEST_P12_BYTES, Owner};
use ecf_language::{Bilingual, Say, say};
use serde::Serialize;
use utoipa::ToSchema;
use xmldsig::{InspectedCertificate, InspectedKey, Inspection, P12Problem, Protection, inspect_pkcs12};
use zeroize::Zeroizing;

use crate::App;
use crate::upload::FIELDS;

/// A P12, with its PIN as far as it is known.
#[derive(ToSchema)]
pub(crate) struct InspectRequest {
    /// The P12 (PFX) file.
    #[schema(value_type = String, format = Binary)]
    certificate: Zeroizing<Vec<u8>>,
    /// Without it, or with a wrong one, the answer has the algorithms and little more.
    #[schema(value_type = Option<String>, max_length = 200)]
    pin: Option<Zeroizing<String>>,
}

impl FromForm for InspectRequest {
    fn read(form: &mut Form) -> Option<Self> {
        let certificate = form.file(FIELDS.file);
        let pin = form.fields().text(FIELDS.pin).secret().length(0..=200).optional();
        Some(Self {
            certificate: certificate?.into_secret(),
            pin: pin.map(Zeroizing::new),
        })
    }
}

/// What is in a P12.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InspectionView {
    /// Whether an upload of this file with this PIN would succeed.
    would_be_taken: bool,
    size_bytes: usize,
    /// Absent when nothing in the file shows it.
    pin_fits: Option<bool>,
    /// The integrity check; absent when there is none.
    mac: Option<ProtectionView>,
    /// How the parts that are not keys are encrypted.
    encryption: Vec<ProtectionView>,
    keys: Vec<KeyView>,
    certificates: Vec<CertificateDetailView>,
    /// Positions in `certificates`, from the signer's up to the last issuer that the file has. Of several certificates that can sign
    /// now the one that lasts longest is the signer's.
    chain: Vec<usize>,
    /// Whose the signer's certificate is, seen from the company of the API key: `company`, `other` or `unstated`.
    owner: Option<&'static str>,
    /// What is wrong, the worst first.
    problems: Vec<ProblemView>,
}

#[derive(Debug, Serialize, ToSchema)]
struct ProtectionView {
    #[schema(example = "PBE-SHA1-RC2-40")]
    algorithm: String,
    iterations: Option<u32>,
    supported: bool,
    /// Whether everybody can break it.
    weak: bool,
}

#[derive(Debug, Serialize, ToSchema)]
struct KeyView {
    /// Absent while the key stays locked.
    #[schema(example = "RSA 2048")]
    kind: Option<String>,
    protection: Option<ProtectionView>,
    friendly_name: Option<String>,
    /// Position of the certificate that belongs to it.
    certificate: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
struct CertificateDetailView {
    subject: String,
    /// The field of the certificate that has the holder's RNC or cédula.
    subject_serial_number: Option<String>,
    issuer: String,
    serial_number: String,
    not_before: Instant,
    not_after: Instant,
    key: String,
    /// Absent when the certificate does not restrict it.
    key_usage: Option<Vec<&'static str>>,
    is_authority: bool,
    self_issued: bool,
    has_key: bool,
    sha256: String,
    sha1: String,
    friendly_name: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct ProblemView {
    /// Stays the same for the same problem.
    code: &'static str,
    #[schema(value_type = String)]
    message: Spoken,
    /// Whether the file cannot be used because of it.
    fatal: bool,
    #[schema(value_type = Option<String>)]
    what_to_do: Option<Spoken>,
}

/// Examinar un P12
///
/// Lists the contents of a P12 and everything that is wrong with it. Nothing is stored.
#[utoipa::path(
    post,
    path = "/api/v1/client/tools/inspect-p12",
    tag = "Herramientas",
    request_body(content = InspectRequest, content_type = "multipart/form-data"),
    responses(
        (status = 200, description = "What is in the file, also when it does not open", body = InspectionView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 413, description = "The body is too large", body = CodedError),
        (status = 415, description = "The body is no form", body = CodedError),
        (status = 422, description = "The file is missing or empty", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn inspect_p12(
    State(app): State<App>,
    caller: Caller,
    ValidForm(request): ValidForm<InspectRequest>,
) -> Json<InspectionView> {
    let pin = request.pin.as_ref().map_or("", |pin| pin.as_str());
    let found = inspect_pkcs12(&request.certificate, pin, app.clock.now());
    Json(InspectionView::of(found, &caller))
}

impl InspectionView {
    fn of(found: Inspection, caller: &Caller) -> Self {
        let signer = found.chain.first().and_then(|&place| found.certificates.get(place));
        let owner = signer.map(|signer| match Owner::of(&signer.certificate, &caller.rnc, &[]) {
            Owner::Taxpayer => "company",
            Owner::Delegate(_) | Owner::Other(_) => "other",
            Owner::Unstated => "unstated",
        });
        let fits = found.size_bytes <= LARGEST_P12_BYTES;
        Self {
            would_be_taken: fits && !found.problems.iter().any(P12Problem::is_fatal),
            size_bytes: found.size_bytes,
            pin_fits: found.password_fits,
            mac: found.mac.map(ProtectionView::from),
            encryption: found.encryption.into_iter().map(ProtectionView::from).collect(),
            keys: found.keys.into_iter().map(KeyView::from).collect(),
            certificates: found
                .certificates
                .into_iter()
                .map(CertificateDetailView::from)
                .collect(),
            chain: found.chain,
            owner,
            problems: found.problems.iter().map(ProblemView::from).collect(),
        }
    }
}

impl From<Protection> for ProtectionView {
    fn from(protection: Protection) -> Self {
        Self {
            algorithm: protection.algorithm,
            iterations: protection.iterations,
            supported: protection.supported,
            weak: protection.weak,
        }
    }
}

impl From<InspectedKey> for KeyView {
    fn from(key: InspectedKey) -> Self {
        Self {
            kind: key.kind.map(|kind| kind.to_string()),
            protection: key.protection.map(ProtectionView::from),
            friendly_name: key.friendly_name,
            certificate: key.certificate,
        }
    }
}

impl From<InspectedCertificate> for CertificateDetailView {
    fn from(inspected: InspectedCertificate) -> Self {
        let certificate = inspected.certificate;
        let key_usage = certificate.key_usage.map(|usage| {
            let uses = [
                (usage.digital_signature, "digitalSignature"),
                (usage.non_repudiation, "nonRepudiation"),
                (usage.key_encipherment, "keyEncipherment"),
                (usage.certificate_signing, "keyCertSign"),
            ];
            uses.into_iter()
                .filter(|(allowed, _)| *allowed)
                .map(|(_, name)| name)
                .collect()
        });
        Self {
            sha256: certificate.fingerprint_hex(),
            sha1: certificate.sha1_fingerprint_hex(),
            key: certificate.public_key.to_string(),
            key_usage,
            not_before: certificate.not_before.into(),
            not_after: certificate.not_after.into(),
            is_authority: certificate.is_authority,
            self_issued: certificate.self_issued,
            subject: certificate.subject,
            subject_serial_number: certificate.subject_serial,
            issuer: certificate.issuer,
            serial_number: certificate.serial_number,
            has_key: inspected.has_key,
            friendly_name: inspected.friendly_name,
        }
    }
}

impl From<&P12Problem> for ProblemView {
    fn from(problem: &P12Problem) -> Self {
        Self {
            code: problem.code(),
            message: problem.say().into(),
            fatal: problem.is_fatal(),
            what_to_do: what_to_do(problem).map(Into::into),
        }
    }
}

/// The correction of a problem, unless its message says it already.
fn what_to_do(problem: &P12Problem) -> Option<Bilingual> {
    Some(match problem.code() {
        "wrong_password" => say!(
            "type the PIN as the issuer gave it; letter case and ñ count, blanks around it too",
            "escriba el PIN tal como lo dio el emisor; cuentan las mayúsculas y la ñ, y también los \
         espacios alrededor"
        ),
        "other_format" => say!(
            "export the certificate with its private key as PKCS#12 (.p12, .pfx)",
            "exporte el certificado con su clave privada como PKCS#12 (.p12, .pfx)"
        ),
        "mangled_as_text" | "mangled_as_utf8" | "mangled_without_nuls" | "mangled_line_ends" => {
            say!(
                "send the bytes as a binary file part; do not read the file as text on the way",
                "envíe los bytes como un archivo binario; no lea el archivo como texto por el camino"
            )
        }
        "damaged" => say!(
            "download or export the file again and compare the sizes",
            "descargue o exporte el archivo otra vez y compare los tamaños"
        ),
        "no_key" | "key_mismatch" => say!(
            "export the certificate again, together with its own private key",
            "exporte el certificado otra vez, junto con su propia clave privada"
        ),
        "no_certificate" => say!(
            "export the key again, together with its certificate",
            "exporte la clave otra vez, junto con su certificado"
        ),
        "not_rsa" | "key_size" => say!(
            "ask the issuer for a certificate with an RSA key of 2048 bits or more",
            "pida al emisor un certificado con una clave RSA de 2048 bits o más"
        ),
        "expired" => say!(
            "ask the issuer to renew the certificate",
            "pida al emisor que renueve el certificado"
        ),
        "not_yet_valid" => say!(
            "wait for the first day of its validity, or correct the clock of the machine that made it",
            "espere al primer día de su validez, o corrija el reloj de la máquina que lo hizo"
        ),
        "key_usage" | "signer_is_authority" => say!(
            "ask the issuer for a certificate for signing documents",
            "pida al emisor un certificado para firmar documentos"
        ),
        "not_chosen" => say!(
            "change nothing, unless this certificate should sign: then send a file with it alone",
            "no cambie nada, salvo que deba firmar este certificado: entonces envíe un archivo solo con él"
        ),
        "several_certificates" => say!(
            "change nothing, unless another one should sign: then send a file with it alone",
            "no cambie nada, salvo que deba firmar otro: entonces envíe un archivo solo con él"
        ),
        "no_mac" if problem.is_fatal() => say!(
            "export the file again with a current tool, which adds an integrity check",
            "exporte el archivo otra vez con una herramienta actual, que agrega una verificación de integridad"
        ),
        "no_mac" => say!(
            "compare the SHA-256 of the certificate with the one that the issuer shows",
            "compare el SHA-256 del certificado con el que muestra el emisor"
        ),
        "weak_encryption" => say!(
            "keep the file as you would keep the key without a PIN, or export it again with AES",
            "guarde el archivo como guardaría la clave sin PIN, o expórtelo otra vez con AES"
        ),
        _ => return None,
    })
}
