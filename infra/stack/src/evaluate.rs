//! Intrinsic functions, parameters and conditions of one template.

use std::collections::BTreeMap;

use crate::{
    error::{Place, StackError},
    text::{Part, Text},
    yaml::Node,
};

/// A node whose functions are resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(Text),
    List(Vec<Value>),
    Map(BTreeMap<String, Value>),
}

/// What the functions of one template can refer to.
pub(crate) struct Scope {
    pub(crate) place: Place,
    /// What `AWS::StackName` is: a nested stack is named after the one that nests it.
    pub(crate) stack_name: Text,
    pub(crate) parameters: BTreeMap<String, Value>,
    pub(crate) conditions: BTreeMap<String, bool>,
    /// Logical ids of the resources that exist under these conditions.
    pub(crate) resources: Vec<String>,
    /// Outputs of nested stacks, as far as they were evaluated; `None` for one that is yet to come.
    pub(crate) nested: BTreeMap<String, Option<BTreeMap<String, Value>>>,
}

/// The pseudo parameters that are known when the resources are made.
const PSEUDO_PARAMETERS: [&str; 4] = ["AWS::AccountId", "AWS::Partition", "AWS::Region", "AWS::URLSuffix"];

/// Why a value has none yet.
#[derive(Debug)]
pub(crate) enum Unresolved {
    /// It waits for the outputs of this nested stack.
    Nested(String),
    /// It never will.
    Error(StackError),
}

impl From<StackError> for Unresolved {
    fn from(error: StackError) -> Self {
        Self::Error(error)
    }
}

impl Scope {
    /// Resolves a node; `None` is `AWS::NoValue`, which takes the property away.
    pub(crate) fn value(&self, node: &Node, place: &Place) -> Result<Option<Value>, Unresolved> {
        Ok(Some(match node {
            Node::Null => return Ok(None),
            Node::Scalar(text) => Value::Text(Text::literal(text)),
            Node::List(items) => {
                let mut list = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    list.extend(self.value(item, &place.below(index))?);
                }
                Value::List(list)
            }
            Node::Map(entries) => {
                let mut map = BTreeMap::new();
                for (key, item) in entries {
                    if let Some(value) = self.value(item, &place.below(key))? {
                        map.insert(key.clone(), value);
                    }
                }
                Value::Map(map)
            }
            Node::Call(name, argument) => return self.call(name, argument, place),
        }))
    }

    /// Resolves a node that must be text.
    pub(crate) fn text(&self, node: &Node, place: &Place) -> Result<Text, Unresolved> {
        match self.value(node, place)? {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(node.unexpected("a text", place).into()),
        }
    }

    fn call(&self, name: &str, argument: &Node, place: &Place) -> Result<Option<Value>, Unresolved> {
        match name {
            "Ref" => self.reference(argument.scalar(place)?, place),
            "GetAtt" => self.attribute(argument.scalar(place)?, place).map(Some),
            "Sub" => self
                .substitute(argument.scalar(place)?, place)
                .map(|text| Some(Value::Text(text))),
            "If" => {
                let [condition, then, otherwise] = arguments(argument, place)?;
                let holds = self.named_condition(condition.scalar(place)?, place)?;
                self.value(if holds { then } else { otherwise }, place)
            }
            _ => Err(unsupported(place, name).into()),
        }
    }

    fn reference(&self, name: &str, place: &Place) -> Result<Option<Value>, Unresolved> {
        if name == "AWS::NoValue" {
            return Ok(None);
        }
        if name == "AWS::StackName" {
            return Ok(Some(Value::Text(self.stack_name.clone())));
        }
        if PSEUDO_PARAMETERS.contains(&name) {
            return Ok(Some(Value::Text(Text::of(Part::Pseudo(name.to_owned())))));
        }
        if let Some(value) = self.parameters.get(name) {
            return Ok(Some(value.clone()));
        }
        // SAM's name for the stage that it makes of an API.
        if let Some(api) = name.strip_suffix(".Stage") {
            return self.resource_attribute(api, "Stage", place).map(Some);
        }
        self.resource_attribute(name, "Ref", place).map(Some)
    }

    fn attribute(&self, path: &str, place: &Place) -> Result<Value, Unresolved> {
        let Some((resource, attribute)) = path.split_once('.') else {
            return Err(invalid(place, "Resource.Attribute", path).into());
        };
        match (self.nested.get(resource), attribute.strip_prefix("Outputs.")) {
            (Some(None), Some(_)) => Err(Unresolved::Nested(resource.to_owned())),
            (Some(Some(outputs)), Some(output)) => {
                outputs.get(output).cloned().ok_or_else(|| unknown(place, path).into())
            }
            _ => self.resource_attribute(resource, attribute, place),
        }
    }

    fn resource_attribute(&self, resource: &str, attribute: &str, place: &Place) -> Result<Value, Unresolved> {
        if !self.resources.iter().any(|known| known == resource) {
            return Err(unknown(place, resource).into());
        }
        let part = Part::Attribute {
            resource: resource.to_owned(),
            attribute: attribute.to_owned(),
        };
        Ok(Value::Text(Text::of(part)))
    }

    /// `${Name}` and `${Name.Attribute}`.
    fn substitute(&self, pattern: &str, place: &Place) -> Result<Text, Unresolved> {
        let mut text = Text::default();
        let mut rest = pattern;
        while let Some(start) = rest.find("${") {
            text.push(Part::Literal(rest[..start].to_owned()));
            let Some(length) = rest[start..].find('}') else {
                return Err(invalid(place, "a closing brace", pattern).into());
            };
            text.append(self.substituted(&rest[start + 2..start + length], place)?);
            rest = &rest[start + length + 1..];
        }
        text.push(Part::Literal(rest.to_owned()));
        Ok(text)
    }

    fn substituted(&self, name: &str, place: &Place) -> Result<Text, Unresolved> {
        let value = if name.contains('.') {
            Some(self.attribute(name, place)?)
        } else {
            self.reference(name, place)?
        };
        match value {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(invalid(place, "a text", name).into()),
        }
    }

    /// Whether a condition that the template defines holds.
    pub(crate) fn named_condition(&self, name: &str, place: &Place) -> Result<bool, StackError> {
        self.conditions.get(name).copied().ok_or_else(|| unknown(place, name))
    }

    /// Evaluates a condition's definition. It can look at parameters only, as CloudFormation demands.
    pub(crate) fn condition(&self, node: &Node, place: &Place) -> Result<bool, Unresolved> {
        let Node::Call(name, argument) = node else {
            return Err(node.unexpected("a condition function", place).into());
        };
        match name.as_str() {
            "Equals" => {
                let [left, right] = arguments(argument, place)?;
                Ok(self.text(left, place)? == self.text(right, place)?)
            }
            "Not" => {
                let [inner] = arguments(argument, place)?;
                Ok(!self.condition(inner, place)?)
            }
            _ => Err(unsupported(place, name).into()),
        }
    }
}

fn arguments<'n, const N: usize>(argument: &'n Node, place: &Place) -> Result<&'n [Node; N], StackError> {
    let items = argument.list(place)?;
    items
        .try_into()
        .map_err(|_| invalid(place, &format!("{N} arguments"), &items.len().to_string()))
}

fn unknown(place: &Place, name: &str) -> StackError {
    StackError::Unknown {
        place: place.clone(),
        name: name.to_owned(),
    }
}

fn invalid(place: &Place, expected: &str, found: &str) -> StackError {
    StackError::Invalid {
        place: place.clone(),
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
}

fn unsupported(place: &Place, function: &str) -> StackError {
    StackError::Unsupported {
        place: place.clone(),
        what: format!("the function {function}"),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;

    fn scope() -> Scope {
        Scope {
            place: Place::top("t.yaml"),
            stack_name: Text::literal("demo"),
            parameters: BTreeMap::from([("Level".to_owned(), Value::Text(Text::literal("info")))]),
            conditions: BTreeMap::from([("Yes".to_owned(), true), ("No".to_owned(), false)]),
            resources: vec!["Table".to_owned()],
            nested: BTreeMap::from([
                ("Later".to_owned(), None),
                (
                    "Done".to_owned(),
                    Some(BTreeMap::from([(
                        "Url".to_owned(),
                        Value::Text(Text::literal("http://q")),
                    )])),
                ),
            ]),
        }
    }

    fn evaluate(yaml: &str) -> Result<Option<Value>, Unresolved> {
        scope().value(&Node::parse("t.yaml", yaml).unwrap(), &Place::top("t.yaml"))
    }

    fn evaluated(yaml: &str) -> String {
        match evaluate(yaml).unwrap() {
            Some(Value::Text(text)) => text.to_string(),
            other => panic!("no text: {other:?}"),
        }
    }

    fn failure(yaml: &str) -> String {
        match evaluate(yaml).unwrap_err() {
            Unresolved::Error(error) => error.to_string(),
            Unresolved::Nested(name) => panic!("waits for {name}"),
        }
    }

    #[test]
    fn references_and_text_functions_resolve() {
        assert_eq!(evaluated("!Ref Level"), "info");
        assert_eq!(evaluated("!Ref Table"), "${Table.Ref}");
        assert_eq!(evaluated("!GetAtt Table.Arn"), "${Table.Arn}");
        assert_eq!(evaluated("!GetAtt Done.Outputs.Url"), "http://q");
        assert_eq!(
            evaluated("!Sub 'a ${AWS::StackName} ${Level} ${Table.Arn} z'"),
            "a demo info ${Table.Arn} z"
        );
        assert_eq!(evaluated("!If [No, a, !If [Yes, b, c]]"), "b");
    }

    #[test]
    fn no_value_takes_the_property_away() {
        let value = evaluate("{a: !If [No, x, !Ref AWS::NoValue], b: y}").unwrap().unwrap();
        assert_eq!(
            value,
            Value::Map(BTreeMap::from([("b".to_owned(), Value::Text(Text::literal("y")))]))
        );
    }

    #[test]
    fn what_is_not_understood_is_an_error_with_its_place() {
        assert_eq!(
            failure("{a: !Select [0, [x]]}"),
            "t.yaml: a: the function Select is not supported here"
        );
        assert_eq!(
            failure("{a: {Fn::ImportValue: x}}"),
            "t.yaml: a: the function ImportValue is not supported here"
        );
        assert_eq!(failure("[!Ref Nothing]"), "t.yaml: 0: there is no Nothing");
        assert_eq!(failure("!Sub '${Nothing.Arn}'"), "t.yaml: there is no Nothing");
        assert_eq!(
            failure("!Sub '${Level'"),
            "t.yaml: expected a closing brace, found ${Level"
        );
        assert_eq!(failure("!If [Perhaps, a, b]"), "t.yaml: there is no Perhaps");
        assert_eq!(
            failure("!GetAtt Done.Outputs.Other"),
            "t.yaml: there is no Done.Outputs.Other"
        );
    }

    #[test]
    fn outputs_that_are_not_known_yet_can_be_waited_for() {
        assert!(matches!(evaluate("!GetAtt Later.Outputs.Url"), Err(Unresolved::Nested(name)) if name == "Later"));
    }

    #[test]
    fn conditions_combine() {
        let holds = |yaml: &str| {
            let node = Node::parse("t.yaml", yaml).unwrap();
            scope().condition(&node, &Place::top("t.yaml")).unwrap()
        };
        assert!(holds("!Equals [!Ref Level, info]"));
        assert!(holds("!Not [!Equals [!Ref Level, '']]"));
        assert!(!holds("!Equals [a, b]"));
    }
}
