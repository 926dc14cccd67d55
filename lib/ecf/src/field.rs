//! The single declaration of each field. Reading, error paths, presence checks, the XML writer and the JSON schema are
//! derived from it.
//!
//! A document block is a struct written with [`block!`]. Each row has the Rust field, its type, the XML element, the
//! obligation in each of the ten types and a description; rows are in XSD order. `reader` turns JSON or received XML
//! into blocks, `checker` checks presence, `writer` writes canonical XML, `schema` generates the OpenAPI schema.

mod advice;
mod checker;
mod class;
mod form;
pub(crate) mod hints;
mod places;
mod reader;
mod refusal;
mod schema;
mod values;
mod writer;

pub(crate) use advice::words;
pub(crate) use checker::{Checker, Stage};
pub(crate) use form::{Catalogue, Class, Form, Limit, Sign, integer, line_number, money, page_number, text, text_of};
pub(crate) use places::places_of;
pub use places::{Kind, Place, Step};
pub(crate) use reader::{Context, Reader, Source};
pub(crate) use schema::block_schema;
pub(crate) use values::{Problem, Scalar, Value, place_of, read_code};
pub(crate) use writer::{element, escape};

use crate::{Node, ReceiptType};

/// One row of a block's declaration.
#[derive(Debug)]
pub(crate) struct Field {
    /// The XML element, which is also the JSON key.
    pub(crate) name: &'static str,
    pub(crate) obligations: Obligations,
    /// The maximum number of occurrences in its parent.
    pub(crate) limit: Limit,
    pub(crate) repeated: bool,
    pub(crate) form: Form,
    /// The rows of the nested block.
    pub(crate) children: Option<&'static [Field]>,
    /// The type name of the nested block.
    pub(crate) block: Option<&'static str>,
    pub(crate) description: &'static str,
}

/// Whether an element is mandatory, optional or forbidden in its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Forbidden,
    Mandatory,
    /// Mandatory under a condition that a rule checks.
    Conditional,
    Optional,
}

/// The obligation codes of the ten types, in the order of [`ReceiptType::ALL`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Obligations([u8; 10]);

impl Obligations {
    /// Parses ten codes, or one for all types. `0` to `3` are the codes of the format. Where the official schema
    /// differs and takes precedence, a letter stands for both:
    ///
    /// | code | format | schema |
    /// |---|---|---|
    /// | `c` | 2, conditional | mandatory in its parent |
    /// | `o` | 3, optional | mandatory in its parent |
    /// | `r` | 1, mandatory | optional, and absence is accepted in practice |
    /// | `x` | 0, forbidden | optional |
    pub(crate) const fn parse(codes: &str) -> Self {
        let codes = codes.as_bytes();
        assert!(
            codes.len() == 10 || codes.len() == 1,
            "ten obligation codes, or one for all"
        );
        let mut parsed = [b'0'; 10];
        let mut index = 0;
        while index < 10 {
            let code = codes[if codes.len() == 1 { 0 } else { index }];
            assert!(
                matches!(code, b'0'..=b'3' | b'c' | b'o' | b'r' | b'x'),
                "unknown obligation code"
            );
            parsed[index] = code;
            index += 1;
        }
        Self(parsed)
    }

    pub(crate) const fn presence(&self, receipt_type: ReceiptType) -> Presence {
        match self.0[receipt_type as usize] {
            b'1' | b'c' | b'o' => Presence::Mandatory,
            b'2' => Presence::Conditional,
            b'3' | b'r' | b'x' => Presence::Optional,
            _ => Presence::Forbidden,
        }
    }

    /// The code of the format, without the schema's addition.
    #[cfg(test)]
    pub(crate) const fn format_code(&self, receipt_type: ReceiptType) -> u8 {
        match self.0[receipt_type as usize] {
            b'c' => b'2',
            b'o' => b'3',
            b'r' => b'1',
            b'x' => b'0',
            code => code,
        }
    }
}

/// An element that contains elements.
pub(crate) trait Block: Default {
    const NAME: &'static str;
    const FIELDS: &'static [Field];

    /// Reads the members, one slot per row.
    fn read_members(&mut self, members: &[Option<&Node>], reader: &mut Reader);
    fn write_members(&self, out: &mut Vec<u8>);
    fn check_members(&self, checker: &mut Checker);
    fn is_empty(&self) -> bool;
}

/// The type of a struct field: a block, an optional value, or a list of either.
pub(crate) trait Member {
    const CHILDREN: Option<&'static [Field]>;
    const BLOCK: Option<&'static str>;
    const REPEATED: bool;
    const FORM: Form;

    fn read(&mut self, field: &'static Field, node: &Node, reader: &mut Reader);
    fn write(&self, name: &'static str, out: &mut Vec<u8>);
    fn check(&self, field: &'static Field, checker: &mut Checker);
    fn is_empty(&self) -> bool;
}

/// The element type of a list.
pub(crate) trait Content: Sized {
    const CHILDREN: Option<&'static [Field]>;
    const BLOCK: Option<&'static str>;
    const FORM: Form;

    fn read_one(field: &'static Field, node: &Node, reader: &mut Reader) -> Option<Self>;
    fn write_one(&self, name: &'static str, out: &mut Vec<u8>);
    fn check_one(&self, checker: &mut Checker);
}

impl<B: Block> Member for B {
    const CHILDREN: Option<&'static [Field]> = Some(B::FIELDS);
    const BLOCK: Option<&'static str> = Some(B::NAME);
    const REPEATED: bool = false;
    const FORM: Form = Form::Block;

    fn read(&mut self, _: &'static Field, node: &Node, reader: &mut Reader) {
        *self = reader.block(node);
    }

    fn write(&self, name: &'static str, out: &mut Vec<u8>) {
        writer::block(name, self, out);
    }

    fn check(&self, _: &'static Field, checker: &mut Checker) {
        self.check_members(checker);
    }

    fn is_empty(&self) -> bool {
        Block::is_empty(self)
    }
}

impl<V: Value> Member for Option<V> {
    const CHILDREN: Option<&'static [Field]> = None;
    const BLOCK: Option<&'static str> = None;
    const REPEATED: bool = false;
    const FORM: Form = V::FORM;

    fn read(&mut self, field: &'static Field, node: &Node, reader: &mut Reader) {
        *self = reader.value(field, node);
    }

    fn write(&self, name: &'static str, out: &mut Vec<u8>) {
        if let Some(value) = self {
            writer::element(name, out, |out| value.write(out));
        }
    }

    fn check(&self, _: &'static Field, _: &mut Checker) {}

    fn is_empty(&self) -> bool {
        self.is_none()
    }
}

impl<C: Content> Member for Vec<C> {
    const CHILDREN: Option<&'static [Field]> = C::CHILDREN;
    const BLOCK: Option<&'static str> = C::BLOCK;
    const REPEATED: bool = true;
    const FORM: Form = C::FORM;

    fn read(&mut self, field: &'static Field, node: &Node, reader: &mut Reader) {
        *self = reader.list(field, node);
    }

    fn write(&self, name: &'static str, out: &mut Vec<u8>) {
        for one in self {
            one.write_one(name, out);
        }
    }

    fn check(&self, field: &'static Field, checker: &mut Checker) {
        checker.list(field, self);
    }

    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

impl<B: Block> Content for B {
    const CHILDREN: Option<&'static [Field]> = Some(B::FIELDS);
    const BLOCK: Option<&'static str> = Some(B::NAME);
    const FORM: Form = Form::Block;

    fn read_one(_: &'static Field, node: &Node, reader: &mut Reader) -> Option<Self> {
        Some(reader.block(node))
    }

    fn write_one(&self, name: &'static str, out: &mut Vec<u8>) {
        writer::block(name, self, out);
    }

    fn check_one(&self, checker: &mut Checker) {
        self.check_members(checker);
    }
}

/// Declares a block: a struct with public fields in XSD order, and one [`Field`] row for each.
///
/// `name: Type [limit] = form, "Element", "codes", "description";` where `limit` (occurrences, 1 unless given) and
/// `form` (that of the type unless given) may be left out.
macro_rules! block {
    (
        $(#[$meta:meta])*
        pub struct $Block:ident {
            $($field:ident: $ty:ty $([$limit:expr])? $(= $form:expr)?, $name:literal, $codes:literal, $description:literal;)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $Block {
            $(#[doc = $description] pub $field: $ty,)+
        }

        impl $crate::field::Block for $Block {
            const NAME: &'static str = stringify!($Block);
            const FIELDS: &'static [$crate::field::Field] = &[$($crate::field::Field {
                name: $name,
                obligations: $crate::field::Obligations::parse($codes),
                limit: block!(@limit $($limit)?),
                repeated: <$ty as $crate::field::Member>::REPEATED,
                form: block!(@form $ty $(= $form)?),
                children: <$ty as $crate::field::Member>::CHILDREN,
                block: <$ty as $crate::field::Member>::BLOCK,
                description: $description,
            },)+];

            fn read_members(&mut self, members: &[Option<&$crate::Node>], reader: &mut $crate::field::Reader) {
                let mut rows = Self::FIELDS.iter().zip(members);
                $(if let Some((field, Some(node))) = rows.next() {
                    reader.member(&mut self.$field, field, node);
                })+
            }

            fn write_members(&self, out: &mut Vec<u8>) {
                $($crate::field::Member::write(&self.$field, $name, out);)+
            }

            fn check_members(&self, checker: &mut $crate::field::Checker) {
                let mut rows = Self::FIELDS.iter();
                $(if let Some(field) = rows.next() {
                    checker.member(&self.$field, field);
                })+
            }

            fn is_empty(&self) -> bool {
                $($crate::field::Member::is_empty(&self.$field))&&+
            }
        }
    };
    (@limit) => { $crate::field::Limit::all(1) };
    (@limit $limit:expr) => { $limit };
    (@form $ty:ty) => { <$ty as $crate::field::Member>::FORM };
    (@form $ty:ty = $form:expr) => { $form };
}
