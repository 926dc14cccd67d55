//! Reads the root template and its nested stacks, and collects their resources.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Duration,
};

use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;
use serde_yaml_ng::{Mapping, Value as Yaml};

use crate::{
    Function, Queue, Secret, Stack, Table,
    error::{Place, StackError},
    evaluate::Scope,
    model::{self, NOT_CARRIED_OUT, Properties},
    text::Text,
};

const ROOT: &str = "template.yaml";

/// The source of the template files.
pub(crate) enum Source {
    Folder(PathBuf),
    /// Compiled into the program.
    Embedded,
}

impl Source {
    fn read(&self, file: &str) -> Result<String, StackError> {
        match self {
            Self::Folder(folder) => std::fs::read_to_string(folder.join(file)).map_err(|source| StackError::Read {
                file: file.to_owned(),
                source,
            }),
            Self::Embedded => match file {
                ROOT => Ok(include_str!("../../../template.yaml").to_owned()),
                "infra/alarms.yaml" => Ok(include_str!("../../alarms.yaml").to_owned()),
                "infra/dashboard.yaml" => Ok(include_str!("../../dashboard.yaml").to_owned()),
                "infra/domain.yaml" => Ok(include_str!("../../domain.yaml").to_owned()),
                "infra/firewall.yaml" => Ok(include_str!("../../firewall.yaml").to_owned()),
                "infra/queues.yaml" => Ok(include_str!("../../queues.yaml").to_owned()),
                "infra/storage.yaml" => Ok(include_str!("../../storage.yaml").to_owned()),
                _ => Err(StackError::NotEmbedded { file: file.to_owned() }),
            },
        }
    }
}

/// Reads the whole deployment.
pub(crate) fn stack(source: &Source, parameters: BTreeMap<String, String>) -> Result<Stack, StackError> {
    let mut loader = Loader {
        source,
        logical_ids: BTreeSet::new(),
        stack: Stack::default(),
    };
    loader.template(ROOT, parameters, "${AWS::StackName}".to_owned())?;
    check_queues(&loader.stack)?;
    Ok(loader.stack)
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Template {
    #[serde(rename = "AWSTemplateFormatVersion")]
    _version: IgnoredAny,
    #[serde(default)]
    _transform: IgnoredAny,
    _description: IgnoredAny,
    #[serde(default)]
    parameters: BTreeMap<String, Parameter>,
    #[serde(default)]
    conditions: BTreeMap<String, Yaml>,
    #[serde(default)]
    globals: Globals,
    /// In the order of the file.
    resources: Mapping,
    #[serde(default)]
    outputs: BTreeMap<String, Output>,
}

/// Other attributes of a parameter are for CloudFormation only.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Parameter {
    default: Option<Text>,
    allowed_values: Option<Vec<Text>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Globals {
    #[serde(default)]
    function: Yaml,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Output {
    value: Yaml,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Resource {
    #[serde(rename = "Type")]
    kind: String,
    condition: Option<String>,
    #[serde(default)]
    properties: Mapping,
    #[serde(default)]
    metadata: Yaml,
    #[serde(default)]
    _depends_on: IgnoredAny,
    #[serde(default)]
    _deletion_policy: IgnoredAny,
    #[serde(default)]
    _update_replace_policy: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Nested {
    #[serde(rename = "TemplateURL")]
    template_url: String,
    #[serde(default)]
    parameters: BTreeMap<String, Text>,
}

impl Properties for Nested {}

const NESTED: &str = "AWS::CloudFormation::Stack";

struct Loader<'s> {
    source: &'s Source,
    logical_ids: BTreeSet<String>,
    stack: Stack,
}

impl Loader<'_> {
    /// Reads one template and its nested stacks; returns its outputs.
    fn template(
        &mut self,
        file: &str,
        given: BTreeMap<String, String>,
        stack_name: String,
    ) -> Result<BTreeMap<String, String>, StackError> {
        // Parsed into a tree first, because the tree rejects duplicate keys.
        let yaml: Yaml = serde_yaml_ng::from_str(&self.source.read(file)?).map_err(|source| StackError::Yaml {
            file: file.to_owned(),
            source,
        })?;
        let top = Place::top(file);
        let template: Template = top.read(yaml)?;
        let mut scope = Scope {
            stack_name,
            parameters: parameters(template.parameters, given, &top.below("Parameters"))?,
            ..Scope::default()
        };
        for (name, definition) in &template.conditions {
            let holds = scope.condition(definition, &top.below("Conditions").below(name))?;
            scope.conditions.insert(name.clone(), holds);
        }
        let mut resources: Vec<(String, Resource, Place)> = Vec::new();
        for (logical_id, node) in template.resources {
            let logical_id: String = top.read(logical_id)?;
            let place = top.below(&logical_id);
            let resource: Resource = place.read(node)?;
            let exists = resource.condition.as_ref();
            if exists.map_or(Ok(true), |condition| scope.holds(condition, &place.below("Condition")))? {
                resources.push((logical_id, resource, place));
            }
        }
        scope.resources = resources.iter().map(|(logical_id, ..)| logical_id.clone()).collect();
        let (nested, plain): (Vec<_>, Vec<_>) = resources.into_iter().partition(|(_, one, _)| one.kind == NESTED);
        for (logical_id, resource, place) in nested {
            let place = place.below("Properties");
            let nested: Nested = model::read(properties(&resource, &scope, &place)?, &place)?;
            let given = nested.parameters.into_iter();
            let given = given.map(|(name, text)| (name, text.to_string())).collect();
            let stack_name = format!("{}-{logical_id}", scope.stack_name);
            let outputs = self.template(&nested.template_url, given, stack_name)?;
            scope.outputs.insert(logical_id, outputs);
        }
        let globals = scope.value(&template.globals.function, &top.below("Globals"))?;
        for (logical_id, resource, place) in plain {
            self.resource(logical_id, &resource, &scope, globals.as_ref(), &place)?;
        }
        let outputs = template.outputs.into_iter();
        let outputs = outputs.map(|(name, output)| {
            let text = scope.text(&output.value, &top.below("Outputs").below(&name))?;
            Ok((name, text))
        });
        outputs.collect()
    }

    fn resource(
        &mut self,
        logical_id: String,
        resource: &Resource,
        scope: &Scope,
        globals: Option<&Value>,
        place: &Place,
    ) -> Result<(), StackError> {
        if !self.logical_ids.insert(logical_id.clone()) {
            return Err(place.invalid("another resource has this name"));
        }
        let below = place.below("Properties");
        let mut properties = properties(resource, scope, &below)?;
        let stack = &mut self.stack;
        match resource.kind.as_str() {
            "AWS::DynamoDB::Table" => stack.tables.push(Table {
                logical_id,
                ..model::read(properties, &below)?
            }),
            "AWS::SQS::Queue" => stack.queues.push(Queue {
                logical_id,
                ..model::read(properties, &below)?
            }),
            "AWS::S3::Bucket" => {
                model::read::<model::Bucket>(properties, &below)?;
                stack.buckets.push(logical_id);
            }
            "AWS::KMS::Key" => stack.keys.push(logical_id),
            "AWS::SecretsManager::Secret" => stack.secrets.push(Secret {
                logical_id,
                ..model::read(properties, &below)?
            }),
            "AWS::Serverless::Function" => {
                if let Some(globals) = globals {
                    lay_over(&mut properties, globals, &below)?;
                }
                // The program that `sam build` puts into the function's package.
                let binary = resource
                    .metadata
                    .get("BuildProperties")
                    .and_then(|build| build.get("Binary"));
                let place = place.below("Metadata.BuildProperties.Binary");
                let name = place.read(binary.unwrap_or(&Yaml::Null))?;
                stack
                    .functions
                    .push(Function::read(logical_id, name, properties, &below)?);
            }
            "AWS::Serverless::Api" if stack.api.stage.is_empty() => stack.api = model::read(properties, &below)?,
            "AWS::Serverless::Api" => return Err(place.unsupported("a second API")),
            other if NOT_CARRIED_OUT.contains(&other) => {}
            other => return Err(place.unsupported(format_args!("the resource type {other}"))),
        }
        Ok(())
    }
}

fn properties(resource: &Resource, scope: &Scope, place: &Place) -> Result<Value, StackError> {
    let properties = scope.value(&Yaml::Mapping(resource.properties.clone()), place)?;
    Ok(properties.unwrap_or_default())
}

fn parameters(
    declared: BTreeMap<String, Parameter>,
    mut given: BTreeMap<String, String>,
    place: &Place,
) -> Result<BTreeMap<String, String>, StackError> {
    let mut parameters = BTreeMap::new();
    for (
        name,
        Parameter {
            default,
            allowed_values,
        },
    ) in declared
    {
        let place = place.below(&name);
        let value = given.remove(&name).or(default.map(|text| text.to_string()));
        let value = value.ok_or_else(|| place.invalid("expected a value, found none"))?;
        if let Some(allowed) = allowed_values {
            let allowed: Vec<_> = allowed.iter().map(Text::to_string).collect();
            if !allowed.contains(&value) {
                let expected = allowed.join(", ");
                return Err(place.invalid(format_args!("expected one of {expected}, found {value}")));
            }
        }
        parameters.insert(name, value);
    }
    match given.into_keys().next() {
        None => Ok(parameters),
        Some(name) => Err(place.unknown(name)),
    }
}

/// Merges properties with defaults, as SAM does with `Globals`: maps are merged, other values of `own` win.
fn lay_over(own: &mut Value, defaults: &Value, place: &Place) -> Result<(), StackError> {
    match (own, defaults) {
        (Value::Object(own), Value::Object(defaults)) => defaults.iter().try_for_each(|(name, default)| {
            match own.get_mut(name) {
                Some(own) => return lay_over(own, default, &place.below(name)),
                None => own.insert(name.clone(), default.clone()),
            };
            Ok(())
        }),
        (Value::Array(_), _) | (_, Value::Array(_)) => Err(place.unsupported("a list both here and in Globals")),
        _ => Ok(()),
    }
}

/// Every queue that a function names must exist in this deployment, and its visibility timeout must be long enough.
fn check_queues(stack: &Stack) -> Result<(), StackError> {
    let top = Place::top(ROOT);
    for function in &stack.functions {
        for source in &function.queues {
            let place = top.below(&function.logical_id).below("Events");
            let queue = stack.queue(&source.queue);
            let queue = queue.ok_or_else(|| place.unknown(format_args!("queue {}", source.queue)))?;
            // AWS recommends six times the function's timeout. With less, a slow batch is delivered twice.
            let least = function.timeout * 6;
            if Duration::from_secs(queue.visibility_timeout) < least {
                return Err(place.invalid(format_args!(
                    "expected {} to hide its messages for {} s at least, found {} s",
                    source.queue,
                    least.as_secs(),
                    queue.visibility_timeout
                )));
            }
        }
    }
    for queue in &stack.queues {
        if let Some(redrive) = &queue.redrive_policy
            && stack.queue(&redrive.dead_letter_queue).is_none()
        {
            let place = top.below(&queue.logical_id).below("RedrivePolicy");
            return Err(place.unknown(format_args!("queue {}", redrive.dead_letter_queue)));
        }
    }
    Ok(())
}
