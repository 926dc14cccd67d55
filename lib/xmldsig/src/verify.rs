//! Verification: one strict profile; all other signatures are refused with a reason.
//!
//! Accepted is exactly one `Signature`, a child of the root, over the whole document (`URI=""`), with the
//! enveloped-signature transform, inclusive or exclusive C14N (explicit or not), SHA-256 and RSA PKCS#1 v1.5 of at
//! least 2048 bits, and a certificate in `KeyInfo`. The caller judges the certificate's issuer and validity.
//!
//! [`signature`] reads the `Signature` element, [`report`] holds the outcome of each check.

mod report;
mod signature;

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ecf_language::{Bilingual, Say, say};
use openssl::pkey::{PKey, Public};
use sha2::{Digest, Sha256};

use crate::c14n::Method;
use crate::c14n::document::{self, Document, Found, Options, Signatures};
use crate::c14n::writer::{self, Context};
use crate::certificate::{self, Certificate, CertificateError, PublicKey};
use crate::rsa;
use crate::xml::reader;
use crate::xml::{Limits, XmlError};

pub use report::{Check, CheckResult, Report};
use signature::{Reference, Signature};

/// The result of a successful verification.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// The canonical bytes that were verified, without the signature: read data from these only.
    pub document: Vec<u8>,
    /// The signer's certificate. Neither its validity nor its issuer was checked.
    pub certificate: Certificate,
    /// The other certificates in the signature. They are not verified.
    pub other_certificates: Vec<Certificate>,
    /// The text of `SignatureValue`, without white space.
    pub signature_value: String,
    /// Whether the document verifies only without text nodes that consist only of blanks, as the authority reads it.
    pub whitespace_dropped: bool,
}

/// Why a document is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The document is not well-formed, or exceeds a limit.
    #[error(transparent)]
    Xml(#[from] XmlError),
    /// The document contains no `Signature` element.
    #[error("the document has no signature")]
    NoSignature,
    /// There is more than one `Signature` element.
    #[error("the document has more than one signature")]
    SeveralSignatures,
    /// The `Signature` is not directly below the root.
    #[error("the signature is not a child of the root element")]
    SignatureMoved,
    /// The structure of the `Signature` element is not allowed.
    #[error("malformed signature: {0}")]
    Structure(String),
    /// Not exactly one `Reference`.
    #[error("the signature has {found} references, exactly one is allowed")]
    References {
        /// The number of references.
        found: usize,
    },
    /// The reference does not point to the whole document.
    #[error("the reference must have URI=\"\", found {0:?}")]
    ReferenceUri(Option<String>),
    /// A transform outside of the profile, too many transforms, or a wrong order.
    #[error("the transforms {found:?} are not allowed, only enveloped-signature, alone or followed by C14N 1.0")]
    Transforms {
        /// Their identifiers, in order.
        found: Vec<String>,
    },
    /// A canonicalisation outside of the profile.
    #[error("canonicalization method {0:?} is not allowed, only inclusive and exclusive C14N 1.0 without comments are")]
    Canonicalization(String),
    /// A signature algorithm outside of the profile: SHA-1, HMAC, elliptic curves.
    #[error("signature method {0:?} is not allowed, only rsa-sha256 is")]
    SignatureMethod(String),
    /// A digest outside of the profile.
    #[error("digest method {0:?} is not allowed, only SHA-256 is")]
    DigestMethod(String),
    /// A value that is not valid base64.
    #[error("{element} is not valid base64")]
    Base64 {
        /// The element.
        element: &'static str,
    },
    /// A digest of the wrong length.
    #[error("the digest has {found} bytes, SHA-256 has 32")]
    DigestLength {
        /// Its length.
        found: usize,
    },
    /// `KeyInfo` carries no certificate.
    #[error("the signature carries no certificate")]
    NoCertificate,
    /// A certificate that cannot be read.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The certificate's key is not an RSA key, or its size is out of bounds.
    #[error("the certificate has {}, an RSA key of 2048 to 8192 bits is required", .found.en)]
    Key {
        /// Kind and size.
        found: Bilingual,
    },
    /// The document is not the one that was signed.
    #[error("the document was changed after it was signed: its digest is {computed}, the signature says {stated}")]
    Digest {
        /// Base64 of the computed digest.
        computed: String,
        /// `DigestValue` in the signature.
        stated: String,
    },
    /// `SignatureValue` does not match `SignedInfo` and the certificate's key.
    #[error("the signature value does not fit the signed information and the certificate")]
    SignatureValue,
}

impl Say for VerifyError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::Xml(error) => return error.say(),
            Self::NoSignature => "el documento no tiene firma".to_owned(),
            Self::SeveralSignatures => "el documento tiene más de una firma".to_owned(),
            Self::SignatureMoved => "la firma no es hija del elemento raíz".to_owned(),
            Self::Structure(_) => "la firma está mal formada".to_owned(),
            Self::References { found } => format!("la firma tiene {found} referencias, se permite exactamente una"),
            Self::ReferenceUri(found) => match found {
                Some(uri) => format!("la referencia debe tener URI=\"\", tiene {uri:?}"),
                None => "la referencia debe tener URI=\"\", y no tiene URI".to_owned(),
            },
            Self::Transforms { found } => format!(
                "no se permiten las transformaciones {found:?}, solo enveloped-signature, sola o seguida de C14N 1.0"
            ),
            Self::Canonicalization(method) => format!(
                "no se permite la canonicalización {method:?}, solo C14N 1.0 inclusiva y exclusiva, sin comentarios"
            ),
            Self::SignatureMethod(method) => format!("no se permite el método de firma {method:?}, solo rsa-sha256"),
            Self::DigestMethod(method) => format!("no se permite el método de resumen {method:?}, solo SHA-256"),
            Self::Base64 { element } => format!("{element} no es base64 válido"),
            Self::DigestLength { found } => format!("el resumen tiene {found} bytes, SHA-256 tiene 32"),
            Self::NoCertificate => "la firma no lleva certificado".to_owned(),
            Self::Certificate(error) => return error.say(),
            Self::Key { found } => format!(
                "el certificado tiene {}, se exige una clave RSA de 2048 a 8192 bits",
                found.es
            ),
            Self::Digest { computed, stated } => {
                format!("el documento cambió después de firmarse: su resumen es {computed}, la firma dice {stated}")
            }
            Self::SignatureValue => {
                "el valor de la firma no corresponde a la información firmada y al certificado".to_owned()
            }
        };
        Bilingual::of(self, spanish)
    }
}

/// Verifies a signed document.
///
/// # Errors
///
/// A [`VerifyError`] that names the first check that failed.
pub fn verify(xml: &[u8], limits: &Limits) -> Result<Verified, VerifyError> {
    examine(xml, limits).into_result()
}

/// Verifies a signed document and reports the outcome of each check. [`verify`] runs exactly these checks.
#[must_use]
pub fn examine(xml: &[u8], limits: &Limits) -> Report {
    let mut report = Report::default();
    report.verified = run(xml, limits, &mut report);
    report
}

fn run(xml: &[u8], limits: &Limits, report: &mut Report) -> Option<Verified> {
    let text = report.record(
        Check::WellFormed,
        reader::decode(xml, limits).map_err(VerifyError::from),
    )?;
    let as_received = Reading {
        text,
        limits,
        drop_blank_text: false,
    };
    let mut document = report.record(Check::WellFormed, as_received.document(Method::Inclusive))?;
    let found = report.record(Check::OneSignature, one_signature(std::mem::take(&mut document.found)))?;
    let signature = report.record(Check::Structure, Signature::read(text, &found, limits))?;
    let method = report.record(Check::Algorithms, signature.algorithms());
    let reference = report.record(Check::Reference, signature.reference());
    let signers = report.record(Check::Certificate, signers(&signature.certificates));
    report.certificate = signers
        .as_ref()
        .and_then(|signers| signers.first())
        .map(|signer| signer.certificate.clone());
    report.signature_value = Some(signature.value.clone());

    let claims = Claims {
        context: found.context,
        signature: &signature,
        method,
        reference,
        signers,
    };
    let has_blank_text = document.has_blank_text || signature.has_blank_text;
    let mut attempt = as_received.check(document, &claims);
    if !attempt.passed() && has_blank_text {
        let stripped = Reading {
            drop_blank_text: true,
            ..as_received
        };
        let retried = stripped
            .document(Method::Inclusive)
            .map(|document| stripped.check(document, &claims));
        if let Ok(retried) = retried
            && retried.passed()
        {
            attempt = retried;
            report.whitespace_dropped = true;
        }
    }
    let Attempt {
        document,
        digest,
        signer,
    } = attempt;
    let digest = digest.and_then(|outcome| report.record(Check::Digest, outcome));
    let signer = signer.and_then(|outcome| report.record(Check::SignatureValue, outcome));
    digest?;
    let mut certificates: Vec<_> = claims.signers?.into_iter().map(|one| one.certificate).collect();
    let certificate = certificates.remove(signer?);
    report.certificate = Some(certificate.clone());
    Some(Verified {
        document,
        certificate,
        other_certificates: certificates,
        signature_value: signature.value,
        whitespace_dropped: report.whitespace_dropped,
    })
}

/// The values in the signature; `None` for a part that a check refused.
struct Claims<'a> {
    /// The context that `SignedInfo` inherits.
    context: Context<'a>,
    signature: &'a Signature,
    method: Option<Method>,
    reference: Option<Reference>,
    signers: Option<Vec<Signer>>,
}

#[derive(Clone)]
struct Signer {
    certificate: Certificate,
    key: PKey<Public>,
}

/// Signers that were read recently, the latest first. OpenSSL takes longer to read a certificate than to verify a
/// signature, and the same signers repeat.
static READ_LATELY: Mutex<VecDeque<Signer>> = Mutex::new(VecDeque::new());
/// Upper bound of the cache; an entry has at most 32 KB.
const MOST_READ_LATELY: usize = 32;

/// One reading of the document: as received, or without blank text.
#[derive(Clone, Copy)]
struct Reading<'a> {
    text: &'a str,
    limits: &'a Limits,
    drop_blank_text: bool,
}

/// The two cryptographic checks of one reading; `None` when an input was refused.
struct Attempt {
    document: Vec<u8>,
    digest: Option<Result<(), VerifyError>>,
    signer: Option<Result<usize, VerifyError>>,
}

impl Attempt {
    fn passed(&self) -> bool {
        matches!((&self.digest, &self.signer), (Some(Ok(())), Some(Ok(_))))
    }
}

impl<'a> Reading<'a> {
    fn document(&self, method: Method) -> Result<Document<'a>, VerifyError> {
        let options = Options {
            method,
            drop_blank_text: self.drop_blank_text,
            signatures: Signatures::CutOut,
        };
        Ok(document::read(self.text, &options, self.limits)?)
    }

    /// `document`: this reading in inclusive form.
    fn check(&self, document: Document<'_>, claims: &Claims<'a>) -> Attempt {
        let needs_exclusive = document.has_namespaces
            && claims
                .reference
                .as_ref()
                .is_some_and(|reference| reference.method == Method::Exclusive);
        let bytes = if needs_exclusive {
            self.document(Method::Exclusive).map(|document| document.bytes)
        } else {
            Ok(document.bytes)
        };
        let digest = claims.reference.as_ref().map(|reference| match &bytes {
            Ok(bytes) => compare_digest(bytes, reference),
            Err(error) => Err(error.clone()),
        });
        let signer = match (claims.method, &claims.signers) {
            (Some(method), Some(signers)) => Some(self.signer(method, signers, claims)),
            _ => None,
        };
        Attempt {
            document: bytes.unwrap_or_default(),
            digest,
            signer,
        }
    }

    /// The index of the signer whose key made the signature.
    fn signer(&self, method: Method, signers: &[Signer], claims: &Claims<'a>) -> Result<usize, VerifyError> {
        let value = STANDARD
            .decode(&claims.signature.value)
            .map_err(|_| VerifyError::Base64 {
                element: "SignatureValue",
            })?;
        let range = claims.signature.signed_info.clone();
        let signed_info = writer::subtree(
            self.text,
            range,
            method,
            self.drop_blank_text,
            &claims.context,
            self.limits,
        )?;
        let digest = Sha256::digest(&signed_info).into();
        signers
            .iter()
            .position(|signer| rsa::fits_sha256(&signer.key, &digest, &value))
            .ok_or(VerifyError::SignatureValue)
    }
}

fn one_signature(found: Vec<Found<'_>>) -> Result<Found<'_>, VerifyError> {
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (None, _) => Err(VerifyError::NoSignature),
        (Some(_), Some(_)) => Err(VerifyError::SeveralSignatures),
        (Some(only), None) if only.is_child_of_root => Ok(only),
        (Some(_), None) => Err(VerifyError::SignatureMoved),
    }
}

/// The certificates in the signature, with their keys. Usually there is one; of several, the one whose key made the
/// signature is the signer's.
fn signers(certificates: &[String]) -> Result<Vec<Signer>, VerifyError> {
    if certificates.is_empty() {
        return Err(VerifyError::NoCertificate);
    }
    certificates.iter().map(|base64| signer(base64)).collect()
}

fn signer(base64: &str) -> Result<Signer, VerifyError> {
    let der = STANDARD.decode(base64).map_err(|_| VerifyError::Base64 {
        element: "X509Certificate",
    })?;
    let mut lately = READ_LATELY.lock().unwrap_or_else(PoisonError::into_inner);
    let known = lately.iter().position(|signer| signer.certificate.der == der);
    let signer = match known.and_then(|at| lately.remove(at)) {
        Some(signer) => signer,
        None => {
            drop(lately);
            let signer = read_signer(&der)?;
            lately = READ_LATELY.lock().unwrap_or_else(PoisonError::into_inner);
            signer
        }
    };
    lately.push_front(signer.clone());
    lately.truncate(MOST_READ_LATELY);
    Ok(signer)
}

fn read_signer(der: &[u8]) -> Result<Signer, VerifyError> {
    let (certificate, key) = certificate::read(der)?;
    let refused = |found| VerifyError::Key { found };
    let (PublicKey::Rsa { bits }, Some(key)) = (&certificate.public_key, key) else {
        return Err(refused(say!(
            "another kind of key ({})",
            "otro tipo de clave ({})",
            certificate.public_key
        )));
    };
    if !(2048..=8192).contains(bits) {
        return Err(refused(say!(
            "an RSA key of {bits} bits",
            "una clave RSA de {bits} bits"
        )));
    }
    if !rsa::exponent_is_sound(&key) {
        return Err(refused(say!(
            "an RSA key with an unsound public exponent",
            "una clave RSA con un exponente público inseguro"
        )));
    }
    Ok(Signer { certificate, key })
}

fn compare_digest(document: &[u8], reference: &Reference) -> Result<(), VerifyError> {
    let computed = <[u8; 32]>::from(Sha256::digest(document));
    if computed == reference.digest {
        return Ok(());
    }
    Err(VerifyError::Digest {
        computed: STANDARD.encode(computed),
        stated: STANDARD.encode(reference.digest),
    })
}
