//! What is in a PKCS#12 file, for people who want to know why it does not serve.

use jiff::Timestamp;

use super::pfx::{Contents, KeyBag};
use super::{P12Error, PrivateKeyInfo};
use crate::certificate::{Certificate, CertificateError, PublicKey, reader};

/// What is in a file, as far as the password opens it. Algorithms can be read with any password.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// Size of the file.
    pub size_bytes: usize,
    /// Whether the password is right; `None` when nothing in the file tells.
    pub password_fits: Option<bool>,
    /// The integrity check; `None` when there is none.
    pub mac: Option<Protection>,
    /// How each encrypted part that is not a key is encrypted: usually the one with the certificates.
    pub encryption: Vec<Protection>,
    /// The private keys, in the order of the file.
    pub keys: Vec<InspectedKey>,
    /// The certificates that could be read, in the order of the file.
    pub certificates: Vec<InspectedCertificate>,
    /// Numbers of certificates from the signer's up to the last known issuer; empty when it is not known which one is the signer's.
    pub chain: Vec<usize>,
    /// What is wrong with the file or noteworthy about it, the worst first.
    pub problems: Vec<P12Problem>,
}

/// How something is encrypted or protected against changes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Protection {
    /// The usual name, such as `PBE-SHA1-RC2-40`, or an object identifier.
    pub algorithm: String,
    /// Rounds of key derivation, as far as they could be read.
    pub iterations: Option<u32>,
    /// Whether it can be opened here.
    pub supported: bool,
    /// Whether it can be broken by everybody.
    pub weak: bool,
}

/// A private key, of which only what is public is told.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InspectedKey {
    /// Kind and size; `None` when the key stays locked or cannot be read.
    pub kind: Option<PublicKey>,
    /// Its encryption; `None` when it has none of its own.
    pub protection: Option<Protection>,
    /// The name that a tool gave it.
    pub friendly_name: Option<String>,
    /// Number of the certificate that belongs to it.
    pub certificate: Option<usize>,
}

/// A certificate and its part in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InspectedCertificate {
    /// What it says.
    pub certificate: Certificate,
    /// The name that a tool gave it.
    pub friendly_name: Option<String>,
    /// A private key of the file belongs to it.
    pub has_key: bool,
}

/// What is wrong with a file or noteworthy about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum P12Problem {
    /// It cannot serve as an identity.
    #[error(transparent)]
    File(#[from] P12Error),
    /// The signer's certificate must not be used now.
    #[error(transparent)]
    Signer(CertificateError),
    /// A certificate cannot be read. It is not listed.
    #[error("certificate {position} of the file cannot be read: {error}")]
    UnreadableCertificate {
        /// Which one, counted from 1.
        position: usize,
        /// Why.
        error: CertificateError,
    },
    /// The signer's certificate is that of an authority.
    #[error("the certificate that belongs to the key is that of an authority")]
    SignerIsAuthority,
    /// More than one key: the first that has a certificate signs.
    #[error("the file has {keys} private keys")]
    SeveralKeys {
        /// How many.
        keys: usize,
    },
    /// Everybody can break this encryption.
    #[error("{algorithm} protects nothing: keep the file as if it had no password")]
    WeakEncryption {
        /// Its name.
        algorithm: String,
    },
    /// No integrity check: nothing shows whether the file was altered.
    #[error("the file has no integrity check")]
    NoMac,
}

impl P12Problem {
    /// Whether the file cannot be used because of it.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        matches!(self, Self::File(_) | Self::Signer(_))
    }

    /// A permanent name for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::File(error) => error.code(),
            Self::Signer(error) => error.code(),
            Self::UnreadableCertificate { .. } => "unreadable_certificate",
            Self::SignerIsAuthority => "signer_is_authority",
            Self::SeveralKeys { .. } => "several_keys",
            Self::WeakEncryption { .. } => "weak_encryption",
            Self::NoMac => "no_mac",
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
    /// A file that is not even read.
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

    /// `verdict`: what opening the file says.
    pub(super) fn of(size_bytes: usize, contents: Contents, verdict: Option<P12Error>, now: Timestamp) -> Self {
        let mut problems: Vec<P12Problem> = verdict.into_iter().map(P12Problem::from).collect();
        for failure in contents.failures {
            let problem = P12Problem::File(failure);
            // An explained damage replaces the bare one.
            let is_told = problems.contains(&problem)
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
        let keys: Vec<InspectedKey> = contents.keys.into_iter().map(|bag| key(bag, &certificates)).collect();
        for at in keys.iter().filter_map(|key| key.certificate) {
            certificates[at].has_key = true;
        }
        let chain = chain(&certificates);
        if let Some(&signer) = chain.first() {
            let signer = &certificates[signer].certificate;
            problems.extend(signer.check_usable_at(now).err().map(P12Problem::Signer));
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
        if contents.mac.is_none() && was_read {
            problems.push(P12Problem::NoMac);
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

fn key(bag: KeyBag, certificates: &[InspectedCertificate]) -> InspectedKey {
    let info = bag.pkcs8.as_ref().and_then(|pkcs8| PrivateKeyInfo::read(pkcs8).ok());
    let rsa = info.as_ref().and_then(|info| info.rsa().transpose());
    let certificate = match &rsa {
        Some(Ok(key)) => certificates
            .iter()
            .position(|inspected| super::belongs(key.public, &inspected.certificate)),
        _ => None,
    };
    let kind = match (&info, &rsa) {
        (_, Some(rsa)) => rsa.as_ref().ok().map(|key| PublicKey::Rsa {
            bits: key.public.bits(),
        }),
        (Some(info), None) => Some(PublicKey::Other {
            algorithm: reader::name_of(info.algorithm),
        }),
        (None, None) => None,
    };
    InspectedKey {
        kind,
        protection: bag.protection,
        friendly_name: bag.friendly_name,
        certificate,
    }
}

/// From the signer's certificate upwards. Without an open key it is the only one that is not an authority's.
fn chain(certificates: &[InspectedCertificate]) -> Vec<usize> {
    let all = || certificates.iter().enumerate();
    let with_key = all().find(|(_, one)| one.has_key).map(|(at, _)| at);
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
