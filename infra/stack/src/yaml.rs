//! Template files as a tree in which intrinsic functions are nodes of their own, whether written short (`!Ref`) or long (`Ref:`).

use serde_yaml_ng::Value as Yaml;

use crate::error::{Place, StackError};

/// A template as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    Null,
    /// Text, number or boolean: CloudFormation takes one for the other.
    Scalar(String),
    List(Vec<Node>),
    /// In the order of the file.
    Map(Vec<(String, Node)>),
    /// An intrinsic function by its short name (`Ref`, `GetAtt`, `Sub`…) and its argument.
    Call(String, Box<Node>),
}

impl Node {
    /// Parses a file.
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, StackError> {
        let yaml = serde_yaml_ng::from_str(text).map_err(|source| StackError::Yaml {
            file: file.to_owned(),
            source,
        })?;
        convert(yaml, &Place::top(file))
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Self::Map(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// The entries of a map; an absent node has none.
    pub(crate) fn entries(node: Option<&Self>, place: &Place) -> Result<Vec<(String, Self)>, StackError> {
        match node {
            None | Some(Self::Null) => Ok(Vec::new()),
            Some(Self::Map(entries)) => Ok(entries.clone()),
            Some(other) => Err(other.unexpected("a map", place)),
        }
    }

    pub(crate) fn scalar(&self, place: &Place) -> Result<&str, StackError> {
        match self {
            Self::Scalar(text) => Ok(text),
            other => Err(other.unexpected("a text", place)),
        }
    }

    pub(crate) fn list(&self, place: &Place) -> Result<&[Self], StackError> {
        match self {
            Self::List(items) => Ok(items),
            other => Err(other.unexpected("a list", place)),
        }
    }

    pub(crate) fn unexpected(&self, expected: &str, place: &Place) -> StackError {
        let found = match self {
            Self::Null => "nothing".to_owned(),
            Self::Scalar(text) => format!("\"{text}\""),
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) => "a map".to_owned(),
            Self::Call(name, _) => format!("the function {name}"),
        };
        StackError::Invalid {
            place: place.clone(),
            expected: expected.to_owned(),
            found,
        }
    }
}

fn convert(yaml: Yaml, place: &Place) -> Result<Node, StackError> {
    Ok(match yaml {
        Yaml::Null => Node::Null,
        Yaml::Bool(value) => Node::Scalar(value.to_string()),
        Yaml::Number(value) => Node::Scalar(value.to_string()),
        Yaml::String(text) => Node::Scalar(text),
        Yaml::Sequence(items) => Node::List(
            items
                .into_iter()
                .enumerate()
                .map(|(index, item)| convert(item, &place.below(index)))
                .collect::<Result<_, _>>()?,
        ),
        Yaml::Mapping(entries) => convert_map(entries, place)?,
        Yaml::Tagged(tagged) => {
            let name = tagged.tag.to_string();
            let name = name.trim_start_matches('!').to_owned();
            let argument = convert(tagged.value, place)?;
            Node::Call(name, Box::new(argument))
        }
    })
}

fn convert_map(entries: serde_yaml_ng::Mapping, place: &Place) -> Result<Node, StackError> {
    let mut map = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        let Yaml::String(key) = key else {
            return Err(StackError::Unsupported {
                place: place.clone(),
                what: "a key that is not text".to_owned(),
            });
        };
        let value = convert(value, &place.below(&key))?;
        map.push((key, value));
    }
    // `Condition` alone is left out: a policy statement has a key of that name too. The short form says it unmistakably.
    if let [(key, _)] = map.as_slice()
        && let Some(name) = key.strip_prefix("Fn::").or((key == "Ref").then_some("Ref"))
    {
        let name = name.to_owned();
        let argument = map.remove(0).1;
        return Ok(Node::Call(name, Box::new(argument)));
    }
    Ok(Node::Map(map))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_forms_are_the_same_node() {
        let short = Node::parse("t", "a: !GetAtt Key.Arn\nb: !Ref Key").unwrap();
        let long = Node::parse("t", "a: {Fn::GetAtt: Key.Arn}\nb: {Ref: Key}").unwrap();
        assert_eq!(short, long);
    }

    #[test]
    fn a_file_that_is_no_yaml_is_named() {
        let error = Node::parse("infra/queues.yaml", "a: [").unwrap_err();
        assert_eq!(error.to_string(), "infra/queues.yaml is not YAML");
    }
}
