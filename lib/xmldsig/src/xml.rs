//! Reads untrusted XML: limits, errors, and the tokens of a well-formed document.
//!
//! [`reader`] turns bytes into tokens, [`attributes`] reads the inside of a start tag, [`characters`] defines which
//! characters XML allows, [`encoding`] names the encoding of a document that is not UTF-8.

use ecf_language::{Bilingual, Say};

pub(crate) mod attributes;
pub(crate) mod characters;
mod encoding;
pub(crate) mod reader;

/// Upper bounds for untrusted documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Size of the whole document.
    pub max_bytes: usize,
    /// Nesting of elements; a signed receipt has nine levels.
    pub max_depth: usize,
    /// Attributes and namespace declarations of one element.
    pub max_attributes: usize,
}

impl Default for Limits {
    /// 10 MiB, 64 levels, 64 attributes.
    fn default() -> Self {
        Self {
            max_bytes: 10 * 1024 * 1024,
            max_depth: 64,
            max_attributes: 64,
        }
    }
}

/// An XML error and its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} (byte {offset})")]
#[non_exhaustive]
pub struct XmlError {
    /// The error.
    pub kind: XmlErrorKind,
    /// Its offset in bytes from the start of the document.
    pub offset: usize,
}

impl Say for XmlError {
    fn say(&self) -> Bilingual {
        Bilingual::of(self, format!("{} (byte {})", self.kind.say().es, self.offset))
    }
}

/// The kinds of XML errors. Names and values are cut to a few characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum XmlErrorKind {
    /// More bytes than [`Limits::max_bytes`].
    #[error("the document has {bytes} bytes, at most {limit} are read")]
    TooLarge {
        /// Size of the document.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The document starts with a byte-order mark. The authority refuses such files; a caller that wants to read them
    /// strips it first.
    #[error("the document starts with a byte order mark")]
    ByteOrderMark,
    /// The bytes are not UTF-8.
    #[error("the document is not valid UTF-8")]
    NotUtf8,
    /// A character that XML 1.0 does not allow.
    #[error("character U+{0:04X} is not allowed in XML")]
    ForbiddenCharacter(u32),
    /// A document type declaration, which allows external entities and entity expansion attacks.
    #[error("document type declarations are refused")]
    Doctype,
    /// An XML version other than 1.0.
    #[error("XML version {0:?} is not supported, only 1.0 is")]
    Version(String),
    /// A declared encoding other than UTF-8.
    #[error("encoding {0:?} is not supported, only UTF-8 is")]
    Encoding(String),
    /// An XML declaration that is not the first thing in the document, or is malformed.
    #[error("the XML declaration is misplaced or malformed")]
    Declaration,
    /// Markup that the parser cannot read.
    #[error("not well-formed: {0}")]
    Syntax(String),
    /// More nesting than [`Limits::max_depth`].
    #[error("elements are nested deeper than {limit} levels")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// More attributes than [`Limits::max_attributes`].
    #[error("an element has more than {limit} attributes")]
    TooManyAttributes {
        /// The limit.
        limit: usize,
    },
    /// More attributes in the whole document than the limit.
    #[error("the document has more than {limit} attributes")]
    TooManyAttributesInAll {
        /// The limit.
        limit: usize,
    },
    /// More namespace declarations in scope than the limit.
    #[error("more than {limit} namespace declarations are in scope")]
    TooManyNamespaces {
        /// The limit.
        limit: usize,
    },
    /// Not an XML name where one is required.
    #[error("{0:?} is not a valid name")]
    Name(String),
    /// An attribute without a quoted value, or with a raw `<` in it.
    #[error("malformed attribute near {0:?}")]
    Attribute(String),
    /// The same attribute twice in one element.
    #[error("attribute {0:?} appears twice")]
    DuplicateAttribute(String),
    /// A reference to an entity that only a document type declaration could define.
    #[error("entity {0:?} is not defined")]
    UnknownEntity(String),
    /// A malformed character reference, or one to a character that XML does not allow.
    #[error("character reference {0:?} is not valid")]
    CharacterReference(String),
    /// A prefix without a namespace declaration in scope.
    #[error("namespace prefix {0:?} is not declared")]
    UnboundPrefix(String),
    /// A namespace declaration that the namespace recommendation forbids.
    #[error("the declaration of namespace prefix {0:?} is not allowed")]
    NamespaceDeclaration(String),
    /// A namespace that is not an absolute URI: Canonical XML must fail on it.
    #[error("namespace {0:?} is not an absolute URI")]
    RelativeNamespace(String),
    /// `]]>` in character data.
    #[error("\"]]>\" in character data")]
    CdataEndInText,
    /// No element at all.
    #[error("the document has no root element")]
    NoRoot,
    /// Text or a second element beside the root.
    #[error("content outside of the root element")]
    ContentOutsideRoot,
    /// The end tag belongs to another element.
    #[error("end tag {found:?} where {expected:?} is open")]
    EndTag {
        /// The element that is open.
        expected: String,
        /// The name in the end tag.
        found: String,
    },
    /// The document ends inside of an element.
    #[error("element {0:?} is not closed")]
    Unclosed(String),
}

impl Say for XmlErrorKind {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::TooLarge { bytes, limit } => format!("el documento tiene {bytes} bytes, se leen {limit} como máximo"),
            Self::ByteOrderMark => "el documento empieza con una marca de orden de bytes".to_owned(),
            Self::NotUtf8 => "el documento no es UTF-8 válido".to_owned(),
            Self::ForbiddenCharacter(code) => format!("el carácter U+{code:04X} no se permite en XML"),
            Self::Doctype => "no se admiten declaraciones de tipo de documento".to_owned(),
            Self::Version(found) => format!("la versión de XML {found:?} no es compatible, solo 1.0"),
            Self::Encoding(found) => format!("la codificación {found:?} no es compatible, solo UTF-8"),
            Self::Declaration => "la declaración XML está fuera de lugar o mal formada".to_owned(),
            Self::Syntax(_) => "no es XML bien formado".to_owned(),
            Self::TooDeep { limit } => format!("los elementos tienen más de {limit} niveles"),
            Self::TooManyAttributes { limit } => format!("un elemento tiene más de {limit} atributos"),
            Self::TooManyAttributesInAll { limit } => format!("el documento tiene más de {limit} atributos"),
            Self::TooManyNamespaces { limit } => {
                format!("hay más de {limit} declaraciones de espacios de nombres vigentes")
            }
            Self::Name(name) => format!("{name:?} no es un nombre válido"),
            Self::Attribute(near) => format!("atributo mal formado cerca de {near:?}"),
            Self::DuplicateAttribute(name) => format!("el atributo {name:?} aparece dos veces"),
            Self::UnknownEntity(name) => format!("la entidad {name:?} no está definida"),
            Self::CharacterReference(text) => format!("la referencia de carácter {text:?} no es válida"),
            Self::UnboundPrefix(prefix) => format!("el prefijo de espacio de nombres {prefix:?} no está declarado"),
            Self::NamespaceDeclaration(prefix) => {
                format!("no se permite la declaración del prefijo de espacio de nombres {prefix:?}")
            }
            Self::RelativeNamespace(uri) => format!("el espacio de nombres {uri:?} no es un URI absoluto"),
            Self::CdataEndInText => "\"]]>\" en el texto".to_owned(),
            Self::NoRoot => "el documento no tiene elemento raíz".to_owned(),
            Self::ContentOutsideRoot => "hay contenido fuera del elemento raíz".to_owned(),
            Self::EndTag { expected, found } => {
                format!("la etiqueta de cierre {found:?} está donde está abierto {expected:?}")
            }
            Self::Unclosed(name) => format!("el elemento {name:?} no está cerrado"),
        };
        Bilingual::of(self, spanish)
    }
}

impl XmlErrorKind {
    pub(crate) fn at(self, offset: usize) -> XmlError {
        XmlError { kind: self, offset }
    }
}

/// The beginning of a value, for messages: an untrusted value may have any length.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}
