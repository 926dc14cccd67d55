//! The content of a PKCS#12 file, to diagnose why it cannot be used.

use ecf_language::{Bilingual, Say};
use jiff::Timestamp;

use super::P12Error;
use super::contents::{Contents, KeyBag};
use crate::certificate::{Certificate, CertificateError, PublicKey};
use crate::choice::{Choice, Unusable};
use crate::identity::Identity;

/// The content of a file, as far as the password opens it. Algorithms can be read with any password.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// Size of the file.
    pub size_bytes: usize,
    /// Whether the password is right; `None` when nothing in the file depends on it.
    pub password_fits: Option<bool>,
    /// The integrity check; `None` when the file has no check.
    pub mac: Option<Protection>,
    /// The encryption of each encrypted part, keys excluded: usually one part with the certificates.
    pub encryption: Vec<Protection>,
    /// The private keys, in the order of the file.
    pub keys: Vec<InspectedKey>,
    /// The certificates that could be read, in the order of the file.
    pub certificates: Vec<InspectedCertificate>,
    /// Indexes of certificates, from the signer's to the last known issuer's; empty when the signer's is not known.
    pub chain: Vec<usize>,
    /// Problems of the file, the most severe first.
    pub problems: Vec<P12Problem>,
}

/// How something is encrypted or protected against changes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Protection {
    /// The usual name, such as `PBE-SHA1-RC2-40`, or an object identifier.
    pub algorithm: String,
    /// Iterations of key derivation, if readable.
    pub iterations: Option<u32>,
    /// Whether it is supported here.
    pub supported: bool,
    /// Whether it is easily broken.
    pub weak: bool,
}

/// A private key, with public information only.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InspectedKey {
    /// Kind and size; `None` when the key cannot be decrypted or read.
    pub kind: Option<PublicKey>,
    /// Its encryption; `None` when it is not encrypted on its own.
    pub protection: Option<Protection>,
    /// The name that a tool gave it.
    pub friendly_name: Option<String>,
    /// Index of the certificate that belongs to it: the signer's, if several do.
    pub certificate: Option<usize>,
}

/// A certificate and its role in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InspectedCertificate {
    /// The certificate.
    pub certificate: Certificate,
    /// The name that a tool gave it.
    pub friendly_name: Option<String>,
    /// Whether a private key of the file belongs to it.
    pub has_key: bool,
}

/// A problem of a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum P12Problem {
    /// It cannot serve as an identity.
    #[error(transparent)]
    File(#[from] P12Error),
    /// The signer's certificate must not be used now.
    #[error(transparent)]
    Signer(CertificateError),
    /// None of several certificates can be used now; the value names one with its reason.
    #[error("{0}")]
    NoneUsable(Unusable),
    /// Another certificate signs, because this one cannot.
    #[error("{0}")]
    NotChosen(Unusable),
    /// Several certificates can sign; the one that expires last does.
    #[error(
        "{usable} certificates of the file can sign now; {subject} signs, because it lasts longest, until {not_after}"
    )]
    SeveralCertificates {
        /// The number of certificates that can sign.
        usable: usize,
        /// The subject of the one that signs.
        subject: String,
        /// The end of its validity.
        not_after: Timestamp,
    },
    /// A certificate cannot be read. It is not listed.
    #[error("certificate {position} of the file cannot be read: {error}")]
    UnreadableCertificate {
        /// Its position, counted from 1.
        position: usize,
        /// Why.
        error: CertificateError,
    },
    /// The signer's certificate is that of an authority.
    #[error("the certificate that belongs to the key is that of an authority")]
    SignerIsAuthority,
    /// More than one key. The choice among their certificates decides which one signs.
    #[error("the file has {keys} private keys")]
    SeveralKeys {
        /// The number of keys.
        keys: usize,
    },
    /// This encryption is easily broken.
    #[error("{algorithm} protects nothing: keep the file as if it had no password")]
    WeakEncryption {
        /// Its name.
        algorithm: String,
    },
    /// No integrity check, so an altered file cannot be recognized.
    #[error("the file has no integrity check")]
    NoMac,
    /// No integrity check although a password was given, which only the check could confirm.
    #[error("the file has no integrity check, which a file with a password needs")]
    PasswordWithoutMac,
}

impl Say for P12Problem {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::File(error) => return error.say(),
            Self::Signer(error) => return error.say(),
            Self::NoneUsable(unusable) | Self::NotChosen(unusable) => return unusable.say(),
            Self::SeveralCertificates {
                usable,
                subject,
                not_after,
            } => format!(
                "{usable} certificados del archivo pueden firmar ahora; firma {subject}, porque dura más, hasta {not_after}"
            ),
            Self::UnreadableCertificate { position, error } => {
                format!(
                    "no se puede leer el certificado {position} del archivo: {}",
                    error.say().es
                )
            }
            Self::SignerIsAuthority => "el certificado que pertenece a la clave es de una autoridad".to_owned(),
            Self::SeveralKeys { keys } => format!("el archivo tiene {keys} claves privadas"),
            Self::WeakEncryption { algorithm } => {
                format!("{algorithm} no protege nada: guarde el archivo como si no tuviera contraseña")
            }
            Self::NoMac => "el archivo no tiene verificación de integridad".to_owned(),
            Self::PasswordWithoutMac => {
                "el archivo no tiene verificación de integridad, que un archivo con contraseña necesita".to_owned()
            }
        };
        Bilingual::of(self, spanish)
    }
}

impl P12Problem {
    /// Whether the problem makes the file unusable.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        matches!(
            self,
            Self::File(_) | Self::Signer(_) | Self::NoneUsable(_) | Self::PasswordWithoutMac
        )
    }

    /// A permanent code for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::File(error) => error.code(),
            Self::Signer(error) => error.code(),
            Self::NoneUsable(unusable) => unusable.reason.code(),
            Self::NotChosen(_) => "not_chosen",
            Self::SeveralCertificates { .. } => "several_certificates",
            Self::UnreadableCertificate { .. } => "unreadable_certificate",
            Self::SignerIsAuthority => "signer_is_authority",
            Self::SeveralKeys { .. } => "several_keys",
            Self::WeakEncryption { .. } => "weak_encryption",
            Self::NoMac | Self::PasswordWithoutMac => "no_mac",
        }
    }
}

impl Protection {
    pub(super) fn of_unsupported(error: &P12Error) -> Option<Self> {
        match error {
            P12Error::UnsupportedCipher { name } => Some(Self {
                algorithm: name.clone(),
                iterations: None,
                supported: false,
                weak: false,
            }),
            _ => None,
        }
    }
}

impl Inspection {
    /// The result for a file that was not read.
    pub(super) fn of_unread(size_bytes: usize, error: P12Error) -> Self {
        Self {
            size_bytes,
            password_fits: None,
            mac: None,
            encryption: Vec::new(),
            keys: Vec::new(),
            certificates: Vec::new(),
            chain: Vec::new(),
            problems: vec![error.into()],
        }
    }

    /// `opened`: the result of opening the file.
    pub(super) fn of(
        size_bytes: usize,
        contents: Contents,
        opened: Result<Identity, P12Error>,
        has_empty_password: bool,
        now: Timestamp,
    ) -> Self {
        let (identity, mut problems) = match opened {
            Ok(identity) => (Some(identity), Vec::new()),
            Err(error) => (None, vec![P12Problem::from(error)]),
        };
        // A text conversion of the whole file explains every failure in it.
        let is_mangled = problems.iter().any(|problem| {
            matches!(
                problem,
                P12Problem::File(
                    P12Error::MangledAsText { .. }
                        | P12Error::MangledAsUtf8
                        | P12Error::MangledWithoutNuls
                        | P12Error::MangledLineEnds { .. }
                )
            )
        });
        for failure in contents.failures {
            let problem = P12Problem::File(failure);
            // A damage with an explanation replaces the unexplained one.
            let is_told = is_mangled
                || problems.contains(&problem)
                || matches!(&problem, P12Problem::File(P12Error::Damaged(_))) && !problems.is_empty();
            if !is_told {
                problems.push(problem);
            }
        }
        let mut certificates = Vec::new();
        for (at, bag) in contents.certificates.into_iter().enumerate() {
            match Certificate::from_der(&bag.der) {
                Ok(certificate) => certificates.push(InspectedCertificate {
                    certificate,
                    friendly_name: bag.friendly_name,
                    has_key: false,
                }),
                Err(error) => problems.push(P12Problem::UnreadableCertificate {
                    position: at + 1,
                    error,
                }),
            }
        }
        let signer = identity.as_ref().map(Identity::certificate);
        let keys = contents.keys.into_iter();
        let keys: Vec<InspectedKey> = keys.map(|bag| key(bag, &mut certificates, signer)).collect();
        let chain = chain(&certificates, signer);
        if let Some(&signer) = chain.first() {
            let signer = &certificates[signer].certificate;
            match &identity {
                Some(identity) => problems.extend(of_choice(identity.choice())),
                None => problems.extend(signer.check_usable_at(now).err().map(P12Problem::Signer)),
            }
            if signer.is_authority {
                problems.push(P12Problem::SignerIsAuthority);
            }
        }
        if keys.len() > 1 {
            problems.push(P12Problem::SeveralKeys { keys: keys.len() });
        }
        let protections = keys.iter().filter_map(|key| key.protection.as_ref());
        for protection in contents
            .encryption
            .iter()
            .chain(protections)
            .filter(|protection| protection.weak)
        {
            let problem = P12Problem::WeakEncryption {
                algorithm: protection.algorithm.clone(),
            };
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        let was_read =
            contents.mac.is_some() || !contents.encryption.is_empty() || !keys.is_empty() || !certificates.is_empty();
        if contents.mac.is_none() && was_read && !is_mangled {
            let is_refused = identity.is_some() && !has_empty_password;
            problems.push(if is_refused {
                P12Problem::PasswordWithoutMac
            } else {
                P12Problem::NoMac
            });
        }
        problems.sort_by_key(|problem| !problem.is_fatal());
        Self {
            size_bytes,
            password_fits: contents.password_fits,
            mac: contents.mac,
            encryption: contents.encryption,
            keys,
            certificates,
            chain,
            problems,
        }
    }
}

/// The problems of a choice among several certificates.
fn of_choice(choice: &Choice) -> Vec<P12Problem> {
    let Choice { usable, unusable } = choice;
    let unusable = unusable.iter().cloned();
    match (usable.as_slice(), unusable.len()) {
        ([], 1) => unusable
            .map(|one| match one.reason {
                P12Error::Certificate(error) => P12Problem::Signer(error),
                _ => P12Problem::NoneUsable(one),
            })
            .collect(),
        ([], _) => unusable.map(P12Problem::NoneUsable).collect(),
        ([chosen, others @ ..], _) => {
            let several = (!others.is_empty()).then(|| P12Problem::SeveralCertificates {
                usable: usable.len(),
                subject: chosen.subject.clone(),
                not_after: chosen.not_after,
            });
            unusable.map(P12Problem::NotChosen).chain(several).collect()
        }
    }
}

/// Also marks the certificates that belong to the key.
fn key(bag: KeyBag, certificates: &mut [InspectedCertificate], signer: Option<&Certificate>) -> InspectedKey {
    let mut certificate = None;
    if let Some(key) = &bag.key {
        for (at, inspected) in certificates.iter_mut().enumerate() {
            if super::belongs(key, &inspected.certificate) {
                inspected.has_key = true;
                if certificate.is_none() || signer == Some(&inspected.certificate) {
                    certificate = Some(at);
                }
            }
        }
    }
    InspectedKey {
        kind: bag.key.as_deref().map(PublicKey::of),
        protection: bag.protection,
        friendly_name: bag.friendly_name,
        certificate,
    }
}

/// The chain from the signer's certificate upwards. In a file that does not open, the signer's is the first certificate
/// with a key, or else the only one that is not an authority's.
fn chain(certificates: &[InspectedCertificate], signer: Option<&Certificate>) -> Vec<usize> {
    let all = || certificates.iter().enumerate();
    let chosen = signer.and_then(|signer| all().find(|(_, one)| one.certificate == *signer));
    let with_key = chosen.or_else(|| all().find(|(_, one)| one.has_key)).map(|(at, _)| at);
    let mut leaves = all().filter(|(_, one)| !one.certificate.is_authority).map(|(at, _)| at);
    let only_leaf = || leaves.next().filter(|_| leaves.next().is_none());
    let Some(signer) = with_key.or_else(only_leaf) else {
        return Vec::new();
    };
    let mut chain = vec![signer];
    let mut at = signer;
    while !certificates[at].certificate.self_issued {
        let issuer = &certificates[at].certificate.issuer;
        let next = all().find(|(next, one)| !chain.contains(next) && one.certificate.subject == *issuer);
        let Some((next, _)) = next else { break };
        chain.push(next);
        at = next;
    }
    chain
}
