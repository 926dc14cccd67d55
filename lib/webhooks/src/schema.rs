//! A payload and its schema in the published contract, from one declaration.

use serde_json::{Value, json};

/// Declares a payload: a struct in the order of its bytes, and beside each member its schema. Members without a schema are those that
/// every event has ([`Schema::of_events`] adds them).
macro_rules! payload {
    (
        $(#[doc = $description:literal])+
        $name:ident<$life:lifetime> {
            $($(#[$attribute:meta])* $member:ident: $type:ty $(= $schema:expr)?,)*
        }
    ) => {
        $(#[doc = $description])+
        #[derive(serde::Serialize)]
        pub(crate) struct $name<$life> {
            $($(#[$attribute])* pub(crate) $member: $type,)*
        }

        impl $name<'_> {
            /// Its schema.
            pub(crate) fn schema() -> $crate::schema::Schema {
                $crate::schema::Schema {
                    name: stringify!($name),
                    description: concat!($($description),+).trim(),
                    members: vec![$($((stringify!($member), $schema),)?)*],
                }
            }
        }
    };
}
pub(crate) use payload;

/// The schema of a payload.
#[derive(Debug)]
pub struct Schema {
    /// Its name in the published contract.
    pub name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) members: Vec<(&'static str, Member)>,
}

/// The schema of a member.
#[derive(Debug)]
pub(crate) struct Member {
    schema: Value,
    is_required: bool,
}

impl Schema {
    /// As JSON, with the members that every event has; `names` are the events with this payload.
    #[must_use]
    pub fn of_events(self, names: &[&str]) -> Value {
        let head = [
            ("event", required(json!({ "type": "string", "enum": names }))),
            (
                "public_id",
                text("The subject of the event; together with `event` it identifies one event"),
            ),
            ("company_rnc", text("Whose event it is")),
            ("timestamp", instant("When it happened")),
        ];
        let mut properties = json!({});
        let mut required = Vec::new();
        for (name, member) in head.into_iter().chain(self.members) {
            properties[name] = member.schema;
            required.extend(member.is_required.then_some(name));
        }
        json!({ "type": "object", "description": self.description, "properties": properties, "required": required })
    }
}

fn required(schema: Value) -> Member {
    Member {
        schema,
        is_required: true,
    }
}

/// The same for a member that may be left out.
pub(crate) fn optional(member: Member) -> Member {
    Member {
        is_required: false,
        ..member
    }
}

pub(crate) fn text(description: &str) -> Member {
    required(json!({ "type": "string", "description": description }))
}

pub(crate) fn nullable_text(description: &str) -> Member {
    required(json!({ "type": ["string", "null"], "description": description }))
}

/// One of a closed list of words.
pub(crate) fn word(words: &[&str], description: &str) -> Member {
    required(json!({ "type": "string", "enum": words, "description": description }))
}

/// One of a closed list of words, or null.
pub(crate) fn nullable_word(words: &[&str], description: &str) -> Member {
    let words: Vec<_> = words.iter().copied().map(Some).chain([None]).collect();
    required(json!({ "type": ["string", "null"], "enum": words, "description": description }))
}

pub(crate) fn number() -> Member {
    required(json!({ "type": "integer" }))
}

pub(crate) fn count(description: &str) -> Member {
    required(json!({ "type": "integer", "description": description }))
}

pub(crate) fn flag(description: &str) -> Member {
    required(json!({ "type": "boolean", "description": description }))
}

/// A JSON object whose members are not ours.
pub(crate) fn foreign_object(description: &str) -> Member {
    required(json!({ "type": "object", "additionalProperties": true, "description": description }))
}

pub(crate) fn instant(what: &str) -> Member {
    let description =
        format!("{what}: UTC without an offset; `2026-11-27T16:00:05` is 12:00:05 in Santo Domingo (UTC-04:00)");
    required(
        json!({ "type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$", "description": description, "examples": ["2026-11-27T16:00:05"] }),
    )
}
