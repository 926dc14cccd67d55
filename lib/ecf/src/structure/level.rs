//! Processes a document, with one level for each open element.

use crate::codes;
use ecf_language::{Bilingual, say};
use quick_xml::events::BytesStart;

use super::namespaces::Namespaces;
use super::table;
use crate::ReceiptType;
use crate::field::{Field, Presence};
use crate::violation::Violation;

/// The signature element, the last child of the root; the schema allows any element there.
const SIGNATURE: &str = "Signature";

#[derive(Debug)]
pub(super) struct Walk {
    receipt_type: ReceiptType,
    pub(super) faults: Vec<Violation>,
    open: Vec<Level>,
    path: Vec<String>,
    namespaces: Namespaces,
}

/// An open element.
#[derive(Debug)]
pub(super) struct Level {
    content: Content,
    /// The number of path steps of the element: its name, and its index if it is repeated.
    steps: usize,
    /// Whether the element or an ancestor is in a namespace. Reported once.
    is_foreign: bool,
    has_text: bool,
    has_children: bool,
}

/// The allowed content of an element.
#[derive(Debug)]
enum Content {
    /// Elements, in the order of the table.
    Block(Progress),
    /// A value.
    Value,
    /// Unchecked: the signature, unknown elements, and elements inside a value.
    Anything,
}

/// The progress through the children of a block.
#[derive(Debug)]
struct Progress {
    fields: &'static [Field],
    /// The row of the last known child.
    last: Option<usize>,
    /// Bit n: the child of row n was seen.
    seen: u64,
    /// The number of repeated children so far.
    repeats: usize,
    is_signed: bool,
}

impl Walk {
    pub(super) fn new(receipt_type: ReceiptType) -> Self {
        Self {
            receipt_type,
            faults: Vec::new(),
            open: Vec::new(),
            path: Vec::new(),
            namespaces: Namespaces::default(),
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(super) fn start(&mut self, tag: &BytesStart<'_>) {
        let depth = self.open.len();
        let steps_before = self.path.len();
        let qualified = tag.name();
        let (prefix, name) = match qualified.as_ref().split_once(':') {
            Some((prefix, name)) => (prefix, name),
            None => ("", qualified.as_ref()),
        };
        let content = match self.open.last_mut() {
            None => match table(name) {
                Some(fields) => Content::Block(Progress::new(fields)),
                None => Content::Anything,
            },
            Some(parent) => {
                let is_first = !std::mem::replace(&mut parent.has_children, true);
                let (content, fault) = match &mut parent.content {
                    Content::Block(progress) => progress.child(name, depth == 1, &mut self.path),
                    Content::Value if is_first => {
                        let message = say!(
                            "a text or a number is expected, not the element {name}",
                            "se espera un texto o un número, no el elemento {name}"
                        );
                        let fault = Fault::new(codes::NOT_A_VALUE, "string_type", message);
                        (Content::Anything, fault)
                    }
                    Content::Value | Content::Anything => (Content::Anything, None),
                };
                self.faults.extend(fault.map(|fault| fault.at(&self.path)));
                content
            }
        };
        self.namespaces.enter(tag, depth);
        let is_checked = !matches!(content, Content::Anything);
        let is_inside_foreign = self.open.last().is_some_and(|parent| parent.is_foreign);
        let mut is_foreign = is_inside_foreign;
        if is_checked {
            if let Some(attribute) = self.namespaces.first_foreign_attribute(tag) {
                let message = say!(
                    "{name} has the attribute {attribute}: the schema allows none",
                    "{name} tiene el atributo {attribute}: el esquema no permite ninguno"
                );
                self.report(codes::HAS_ATTRIBUTE, "extra_forbidden", message);
            }
            if let Some(address) = self
                .namespaces
                .address(prefix)
                .or((!prefix.is_empty()).then_some(prefix))
            {
                is_foreign = true;
                if !is_inside_foreign {
                    let message = say!(
                        "{name} is in the namespace {address}: the schema knows elements without namespace only",
                        "{name} está en el espacio de nombres {address}: el esquema solo conoce \
                         elementos sin espacio de nombres"
                    );
                    self.report(codes::HAS_NAMESPACE, "value_error", message);
                }
            }
        }
        self.open.push(Level {
            content,
            steps: self.path.len() - steps_before,
            is_foreign,
            has_text: false,
            has_children: false,
        });
    }

    pub(super) fn end(&mut self) {
        let Some(level) = self.open.pop() else { return };
        let name = self.path.iter().rev().find(|step| step.parse::<usize>().is_err());
        let shown = match name {
            Some(name) => Bilingual::same(name.clone()),
            None => say!("the root element", "el elemento raíz"),
        };
        let is_bare = !level.has_children && !level.has_text;
        let is_empty = is_bare && !self.may_be_empty(&level.content, &shown.en);
        if is_empty {
            let message = say!(
                [shown],
                "{shown} is empty: an element without a value is left out",
                "{shown} está vacío: un elemento sin valor se omite"
            );
            self.report(codes::EMPTY_ELEMENT, "value_error", message);
        } else if matches!(level.content, Content::Block(_)) && level.has_text {
            let message = say!(
                [shown],
                "text stands between the elements of {shown}",
                "hay texto entre los elementos de {shown}"
            );
            self.report(codes::STRAY_TEXT, "value_error", message);
        }
        self.path.truncate(self.path.len() - level.steps);
        self.namespaces.leave(self.open.len());
    }

    pub(super) fn text(&mut self, text: &str) {
        if let Some(level) = self.open.last_mut() {
            level.has_text |= !text.trim().is_empty();
        }
    }

    /// Whether the schema allows the element without content. The signing rules require that empty elements are left
    /// out, but a receiver that insists on it would refuse documents that the authority accepted.
    fn may_be_empty(&self, content: &Content, name: &str) -> bool {
        match content {
            Content::Anything => true,
            Content::Block(progress) => {
                let is_mandatory = |field: &Field| field.obligations.presence(self.receipt_type) == Presence::Mandatory;
                !progress.fields.iter().any(is_mandatory)
            }
            // Texts whose schema sets a maximum length but no minimum.
            Content::Value => match name {
                "DetalleMotivoRechazo" | "ResponsablePago" => true,
                "PaisDestino" => self.receipt_type == ReceiptType::E47,
                _ => false,
            },
        }
    }

    fn report(&mut self, code: &'static str, kind: &'static str, message: Bilingual) {
        self.faults
            .push(Violation::rejected(self.path.clone(), code, kind, message));
    }
}

/// A fault whose path is not known yet.
struct Fault {
    code: &'static str,
    kind: &'static str,
    message: Bilingual,
}

impl Fault {
    fn new(code: &'static str, kind: &'static str, message: Bilingual) -> Option<Self> {
        Some(Self { code, kind, message })
    }

    fn at(self, path: &[String]) -> Violation {
        Violation::rejected(path.to_vec(), self.code, self.kind, self.message)
    }
}

impl Progress {
    fn new(fields: &'static [Field]) -> Self {
        Self {
            fields,
            last: None,
            seen: 0,
            repeats: 0,
            is_signed: false,
        }
    }

    /// Processes a child: extends the path, and returns its allowed content and the fault of its position, if any.
    fn child(&mut self, name: &str, is_below_root: bool, path: &mut Vec<String>) -> (Content, Option<Fault>) {
        path.push(name.to_owned());
        if is_below_root && name == SIGNATURE {
            let fault = if std::mem::replace(&mut self.is_signed, true) {
                let message = say!(
                    "Signature may stand once at most, and stands again",
                    "Signature puede aparecer una sola vez, y aparece otra"
                );
                Fault::new(codes::TOO_MANY, "too_long", message)
            } else {
                None
            };
            return (Content::Anything, fault);
        }
        let Some(place) = self.fields.iter().position(|field| field.name == name) else {
            let message = say!("there is no field {name} here", "aquí no hay un campo {name}");
            return (
                Content::Anything,
                Fault::new(codes::UNKNOWN_FIELD, "extra_forbidden", message),
            );
        };
        let field = &self.fields[place];
        let fault = self.misplaced(place);
        if field.repeated {
            path.push(self.repeats.to_string());
            self.repeats += 1;
        }
        self.seen |= 1 << place;
        self.last = self.last.max(Some(place));
        let content = match field.children {
            Some(children) => Content::Block(Self::new(children)),
            None => Content::Value,
        };
        (content, fault)
    }

    fn misplaced(&self, place: usize) -> Option<Fault> {
        let field = &self.fields[place];
        if !field.repeated && self.seen & (1 << place) != 0 {
            let message = say!(
                "{} may stand once at most, and stands again",
                "{} puede aparecer una sola vez, y aparece otra",
                field.name
            );
            return Fault::new(codes::TOO_MANY, "too_long", message);
        }
        if self.is_signed {
            let message = say!(
                "{} stands after {SIGNATURE}, which is the last element",
                "{} está después de {SIGNATURE}, que es el último elemento",
                field.name
            );
            return Fault::new(codes::OUT_OF_ORDER, "value_error", message);
        }
        let last = self.last.filter(|last| *last > place)?;
        let message = say!(
            "{} is out of order: the schema has it before {}",
            "{} está fuera de orden: el esquema lo tiene antes de {}",
            field.name,
            self.fields[last].name
        );
        Fault::new(codes::OUT_OF_ORDER, "value_error", message)
    }
}
