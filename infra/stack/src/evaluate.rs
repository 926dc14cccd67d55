//! Intrinsic functions, parameters and conditions of one template.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use serde_yaml_ng::Value as Yaml;

use crate::{
    error::{Place, StackError},
    text::Text,
};

/// The names that the intrinsic functions of one template can refer to.
#[derive(Default)]
pub(crate) struct Scope {
    /// The value of `AWS::StackName`. A nested stack takes its parent's name as a prefix.
    pub(crate) stack_name: String,
    pub(crate) parameters: BTreeMap<String, String>,
    pub(crate) conditions: BTreeMap<String, bool>,
    /// Logical ids of the resources whose conditions hold.
    pub(crate) resources: BTreeSet<String>,
    /// Outputs of the nested stacks read so far.
    pub(crate) outputs: BTreeMap<String, BTreeMap<String, String>>,
}

/// The pseudo parameters that are resolved when the resources are created.
const PSEUDO_PARAMETERS: [&str; 4] = ["AWS::AccountId", "AWS::Partition", "AWS::Region", "AWS::URLSuffix"];

impl Scope {
    /// Resolves the functions of a node. `None` is `AWS::NoValue`, which removes the property.
    pub(crate) fn value(&self, node: &Yaml, place: &Place) -> Result<Option<Value>, StackError> {
        Ok(Some(match node {
            Yaml::Null => return Ok(None),
            Yaml::Bool(scalar) => Value::Bool(*scalar),
            Yaml::Number(scalar) => Text::property(scalar.to_string()),
            Yaml::String(scalar) => Text::property(scalar.clone()),
            Yaml::Sequence(items) => {
                let items = items.iter().enumerate();
                let items = items.map(|(index, item)| self.value(item, &place.below(index)));
                let items: Vec<_> = items.collect::<Result<_, _>>()?;
                items.into_iter().flatten().collect()
            }
            Yaml::Mapping(entries) => {
                let mut map = serde_json::Map::new();
                for (key, item) in entries {
                    let key: String = place.read(key)?;
                    // The long form of a function.
                    if key == "Ref" || key.starts_with("Fn::") {
                        return Err(place.unsupported(format_args!("the key {key}")));
                    }
                    if let Some(value) = self.value(item, &place.below(&key))? {
                        map.insert(key, value);
                    }
                }
                Value::Object(map)
            }
            Yaml::Tagged(call) => match (call.tag.to_string().as_str(), &call.value) {
                ("!Ref", Yaml::String(name)) => return Ok(self.reference(name, place)?.map(Text::property)),
                ("!GetAtt", Yaml::String(path)) => Text::property(self.attribute(path, place)?),
                ("!Sub", Yaml::String(pattern)) => Text::property(self.substitute(pattern, place)?),
                ("!If", arguments) => {
                    let (condition, then, otherwise): (String, Yaml, Yaml) = place.read(arguments)?;
                    let holds = self.holds(&condition, place)?;
                    return self.value(if holds { &then } else { &otherwise }, place);
                }
                ("!Ref" | "!GetAtt" | "!Sub", _) => return Err(place.invalid("expected a function of one text")),
                (other, _) => return Err(unsupported(other, place)),
            },
        }))
    }

    /// Resolves a node whose value must be text.
    pub(crate) fn text(&self, node: &Yaml, place: &Place) -> Result<String, StackError> {
        let value = self.value(node, place)?.unwrap_or_default();
        place.read(value).map(|text: Text| text.to_string())
    }

    fn reference(&self, name: &str, place: &Place) -> Result<Option<String>, StackError> {
        Ok(Some(match (name, self.parameters.get(name)) {
            ("AWS::NoValue", _) => return Ok(None),
            ("AWS::StackName", _) => self.stack_name.clone(),
            (_, Some(value)) => value.clone(),
            _ if PSEUDO_PARAMETERS.contains(&name) => format!("${{{name}}}"),
            // SAM's name for the stage that it generates for an API.
            _ if name.ends_with(".Stage") => self.attribute(name, place)?,
            _ => self.attribute(&format!("{name}.Ref"), place)?,
        }))
    }

    fn attribute(&self, path: &str, place: &Place) -> Result<String, StackError> {
        let (resource, attribute) = path.split_once('.').unwrap_or((path, ""));
        let known = self.resources.contains(resource);
        match (self.outputs.get(resource), attribute.strip_prefix("Outputs.")) {
            (Some(outputs), Some(output)) => outputs.get(output).cloned().ok_or_else(|| place.unknown(path)),
            (None, Some(_)) if known => Err(place.unsupported("an output of a nested stack that does not stand above")),
            _ if known && !attribute.is_empty() => Ok(format!("${{{path}}}")),
            _ => Err(place.unknown(resource)),
        }
    }

    /// Resolves `${Name}` and `${Name.Attribute}`.
    fn substitute(&self, pattern: &str, place: &Place) -> Result<String, StackError> {
        if pattern.rsplit_once("${").is_some_and(|(_, rest)| !rest.contains('}')) {
            return Err(place.invalid(format_args!("expected a closing brace, found {pattern}")));
        }
        Text::from(pattern.to_owned()).filled(|name| {
            if name.contains('.') {
                self.attribute(name, place)
            } else {
                self.reference(name, place)?.ok_or_else(|| place.unknown(name))
            }
        })
    }

    /// Whether the template's condition of this name holds.
    pub(crate) fn holds(&self, name: &str, place: &Place) -> Result<bool, StackError> {
        self.conditions.get(name).copied().ok_or_else(|| place.unknown(name))
    }

    /// Evaluates a condition's definition. As in CloudFormation, it may refer only to parameters.
    pub(crate) fn condition(&self, node: &Yaml, place: &Place) -> Result<bool, StackError> {
        let Yaml::Tagged(call) = node else {
            return Err(place.invalid("expected a condition function"));
        };
        match call.tag.to_string().as_str() {
            "!Equals" => {
                let (left, right): (Yaml, Yaml) = place.read(&call.value)?;
                Ok(self.text(&left, place)? == self.text(&right, place)?)
            }
            "!Not" => {
                let (inner,): (Yaml,) = place.read(&call.value)?;
                Ok(!self.condition(&inner, place)?)
            }
            other => Err(unsupported(other, place)),
        }
    }
}

fn unsupported(tag: &str, place: &Place) -> StackError {
    place.unsupported(format_args!("the function {}", tag.trim_start_matches('!')))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;

    fn scope() -> Scope {
        let text = |text: &str| text.to_owned();
        Scope {
            stack_name: text("demo"),
            parameters: BTreeMap::from([(text("Level"), text("info"))]),
            conditions: BTreeMap::from([(text("Yes"), true), (text("No"), false)]),
            resources: BTreeSet::from(["Table", "Done", "Later"].map(text)),
            outputs: BTreeMap::from([(text("Done"), BTreeMap::from([(text("Url"), text("http://q"))]))]),
        }
    }

    fn evaluate(yaml: &str) -> Result<Option<Value>, StackError> {
        scope().value(&serde_yaml_ng::from_str(yaml).unwrap(), &Place::top("t.yaml"))
    }

    fn evaluated(yaml: &str) -> String {
        let text: Text = serde_json::from_value(evaluate(yaml).unwrap().unwrap()).unwrap();
        text.to_string()
    }

    fn failure(yaml: &str) -> String {
        evaluate(yaml).unwrap_err().to_string()
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
        assert_eq!(value, serde_json::json!({ "b": "y" }));
    }

    #[test]
    fn what_is_not_understood_is_an_error_with_its_place() {
        assert_eq!(
            failure("{a: !Select [0, [x]]}"),
            "t.yaml: a: the function Select is not supported here"
        );
        assert_eq!(
            failure("{a: {Fn::ImportValue: x}}"),
            "t.yaml: a: the key Fn::ImportValue is not supported here"
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
        assert_eq!(
            failure("!GetAtt Later.Outputs.Url"),
            "t.yaml: an output of a nested stack that does not stand above is not supported here"
        );
    }

    #[test]
    fn conditions_combine() {
        let holds = |yaml: &str| {
            let node = serde_yaml_ng::from_str(yaml).unwrap();
            scope().condition(&node, &Place::top("t.yaml")).unwrap()
        };
        assert!(holds("!Equals [!Ref Level, info]"));
        assert!(holds("!Not [!Equals [!Ref Level, '']]"));
        assert!(!holds("!Equals [a, b]"));
    }
}
