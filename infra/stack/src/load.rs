//! Walks the root template and the stacks it nests, and gathers their resources.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use crate::{
    Api, Bucket, Function, Queue, Secret, Stack, Table,
    error::{Place, StackError},
    evaluate::{Scope, Unresolved, Value},
    fields::Fields,
    model::NOT_CARRIED_OUT,
    text::{Part, Text},
    yaml::Node,
};

const ROOT: &str = "template.yaml";

/// Where the template files are.
pub(crate) enum Source {
    Folder(PathBuf),
    /// Inside the program.
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
    let mut gathered = Gathered::default();
    let parameters = parameters
        .into_iter()
        .map(|(name, value)| (name, Value::Text(Text::literal(value))))
        .collect();
    let name = Text::of(Part::Pseudo("AWS::StackName".to_owned()));
    read_template(source, ROOT, parameters, name, &mut gathered)?;
    let Gathered {
        tables,
        queues,
        buckets,
        keys,
        secrets,
        functions,
        api,
        ..
    } = gathered;
    let api = api.ok_or_else(|| StackError::Missing {
        place: Place::top(ROOT).below("Resources").below("an API"),
    })?;
    let stack = Stack {
        tables,
        queues,
        buckets,
        keys,
        secrets,
        functions,
        api,
    };
    check_queues(&stack)?;
    Ok(stack)
}

#[derive(Default)]
struct Gathered {
    logical_ids: BTreeSet<String>,
    tables: Vec<Table>,
    queues: Vec<Queue>,
    buckets: Vec<Bucket>,
    keys: Vec<String>,
    secrets: Vec<Secret>,
    functions: Vec<Function>,
    api: Option<Api>,
}

/// A resource as written, under a condition that holds.
struct Resource {
    logical_id: String,
    kind: String,
    node: Node,
    place: Place,
}

/// Reads one template and the ones below it, and gives its outputs.
fn read_template(
    source: &Source,
    file: &str,
    given: BTreeMap<String, Value>,
    stack_name: Text,
    gathered: &mut Gathered,
) -> Result<BTreeMap<String, Value>, StackError> {
    let template = Node::parse(file, &source.read(file)?)?;
    let place = Place::top(file);
    for (section, _) in Node::entries(Some(&template), &place)? {
        let known = [
            "AWSTemplateFormatVersion",
            "Transform",
            "Description",
            "Parameters",
            "Conditions",
            "Globals",
            "Resources",
            "Outputs",
        ];
        if !known.contains(&section.as_str()) {
            return Err(StackError::Unsupported {
                place,
                what: format!("the section {section}"),
            });
        }
    }
    let mut scope = Scope {
        parameters: parameters(&template, given, &place)?,
        place,
        stack_name,
        conditions: BTreeMap::new(),
        resources: Vec::new(),
        nested: BTreeMap::new(),
    };
    read_conditions(&template, &mut scope)?;
    let resources = resources(&template, &scope)?;
    scope.resources = resources.iter().map(|resource| resource.logical_id.clone()).collect();
    let (nested, plain): (Vec<_>, Vec<_>) = resources
        .into_iter()
        .partition(|resource| resource.kind == "AWS::CloudFormation::Stack");
    scope.nested = nested
        .iter()
        .map(|resource| (resource.logical_id.clone(), None))
        .collect();
    read_nested(source, nested, &mut scope, gathered)?;
    let globals = function_globals(&template, &scope)?;
    for resource in plain {
        read_resource(resource, &scope, &globals, gathered)?;
    }
    outputs(&template, &scope)
}

fn parameters(
    template: &Node,
    mut given: BTreeMap<String, Value>,
    place: &Place,
) -> Result<BTreeMap<String, Value>, StackError> {
    let place = place.below("Parameters");
    let mut parameters = BTreeMap::new();
    for (name, declaration) in Node::entries(template.get("Parameters"), &place)? {
        let place = place.below(&name);
        let default = declaration
            .get("Default")
            .map(|default| default.scalar(&place))
            .transpose()?;
        let default = default.map(|text| Value::Text(Text::literal(text)));
        let Some(value) = given.remove(&name).or(default) else {
            return Err(StackError::Missing { place });
        };
        check_allowed(&declaration, &value, &place)?;
        parameters.insert(name, value);
    }
    match given.into_keys().next() {
        None => Ok(parameters),
        Some(name) => Err(StackError::Unknown { place, name }),
    }
}

fn check_allowed(declaration: &Node, value: &Value, place: &Place) -> Result<(), StackError> {
    let Some(allowed) = declaration.get("AllowedValues") else {
        return Ok(());
    };
    let allowed: Vec<&str> = allowed
        .list(place)?
        .iter()
        .map(|item| item.scalar(place))
        .collect::<Result<_, _>>()?;
    let found = match value {
        Value::Text(text) => text.to_string(),
        _ => "no text".to_owned(),
    };
    if allowed.contains(&found.as_str()) {
        return Ok(());
    }
    Err(StackError::Invalid {
        place: place.clone(),
        expected: format!("one of {}", allowed.join(", ")),
        found,
    })
}

/// Conditions may use ones that are defined above them.
fn read_conditions(template: &Node, scope: &mut Scope) -> Result<(), StackError> {
    let place = scope.place.below("Conditions");
    for (name, definition) in Node::entries(template.get("Conditions"), &place)? {
        let place = place.below(&name);
        let holds = scope
            .condition(&definition, &place)
            .map_err(|unresolved| settle(unresolved, &place))?;
        scope.conditions.insert(name, holds);
    }
    Ok(())
}

fn resources(template: &Node, scope: &Scope) -> Result<Vec<Resource>, StackError> {
    let section = scope.place.below("Resources");
    let mut resources = Vec::new();
    for (logical_id, node) in Node::entries(template.get("Resources"), &section)? {
        let place = scope.place.below(&logical_id);
        for (attribute, _) in Node::entries(Some(&node), &place)? {
            let known = [
                "Type",
                "Properties",
                "Metadata",
                "Condition",
                "DependsOn",
                "DeletionPolicy",
                "UpdateReplacePolicy",
            ];
            if !known.contains(&attribute.as_str()) {
                return Err(StackError::Unsupported {
                    place,
                    what: format!("the attribute {attribute}"),
                });
            }
        }
        if let Some(condition) = node.get("Condition")
            && !scope.named_condition(condition.scalar(&place)?, &place.below("Condition"))?
        {
            continue;
        }
        let kind = node.get("Type").ok_or_else(|| StackError::Missing {
            place: place.below("Type"),
        })?;
        let kind = kind.scalar(&place)?.to_owned();
        resources.push(Resource {
            logical_id,
            kind,
            node,
            place,
        });
    }
    Ok(resources)
}

/// Reads nested stacks, each when the outputs that its parameters need are there.
fn read_nested(
    source: &Source,
    mut waiting: Vec<Resource>,
    scope: &mut Scope,
    gathered: &mut Gathered,
) -> Result<(), StackError> {
    let mut later = Vec::new();
    while !waiting.is_empty() {
        let before = waiting.len();
        for resource in waiting {
            match properties(&resource, scope) {
                Ok(properties) => {
                    let outputs = read_nested_stack(source, &resource, properties, scope, gathered)?;
                    scope.nested.insert(resource.logical_id, Some(outputs));
                }
                Err(Unresolved::Nested(_)) => later.push(resource),
                Err(Unresolved::Error(error)) => return Err(error),
            }
        }
        if later.len() == before {
            return Err(StackError::Cycle {
                place: later.swap_remove(0).place,
            });
        }
        waiting = std::mem::take(&mut later);
    }
    Ok(())
}

fn read_nested_stack(
    source: &Source,
    resource: &Resource,
    mut properties: Fields,
    scope: &Scope,
    gathered: &mut Gathered,
) -> Result<BTreeMap<String, Value>, StackError> {
    let file = properties.literal("TemplateURL")?;
    let parameters = match properties.optional_fields("Parameters")? {
        Some(parameters) => parameters.all_texts()?,
        None => BTreeMap::new(),
    };
    properties.finish()?;
    let parameters = parameters
        .into_iter()
        .map(|(name, text)| (name, Value::Text(text)))
        .collect();
    let mut stack_name = scope.stack_name.clone();
    stack_name.push(Part::Literal(format!("-{}", resource.logical_id)));
    read_template(source, &file, parameters, stack_name, gathered)
}

fn properties(resource: &Resource, scope: &Scope) -> Result<Fields, Unresolved> {
    let place = resource.place.below("Properties");
    let entries = match resource.node.get("Properties") {
        None => BTreeMap::new(),
        Some(node) => match scope.value(node, &place)? {
            Some(Value::Map(entries)) => entries,
            _ => return Err(node.unexpected("a map", &place).into()),
        },
    };
    Ok(Fields::new(place, entries))
}

fn read_resource(
    resource: Resource,
    scope: &Scope,
    globals: &BTreeMap<String, Value>,
    gathered: &mut Gathered,
) -> Result<(), StackError> {
    let Resource {
        logical_id,
        kind,
        node,
        place,
    } = &resource;
    if !gathered.logical_ids.insert(logical_id.clone()) {
        return Err(StackError::Duplicate {
            place: place.clone(),
            name: logical_id.clone(),
        });
    }
    let properties = properties(&resource, scope).map_err(|unresolved| settle(unresolved, place))?;
    match kind.as_str() {
        "AWS::DynamoDB::Table" => gathered.tables.push(Table::read(logical_id, properties)?),
        "AWS::SQS::Queue" => gathered.queues.push(Queue::read(logical_id, properties)?),
        "AWS::S3::Bucket" => gathered.buckets.push(Bucket::read(logical_id, properties)?),
        "AWS::KMS::Key" => gathered.keys.push(logical_id.clone()),
        "AWS::SecretsManager::Secret" => gathered.secrets.push(Secret::read(logical_id, properties)?),
        "AWS::Serverless::Function" => {
            let properties = properties.over(globals)?;
            gathered
                .functions
                .push(Function::read(logical_id, binary(node, place)?, properties)?);
        }
        "AWS::Serverless::Api" => {
            if gathered.api.replace(Api::read(logical_id, properties)?).is_some() {
                return Err(StackError::Unsupported {
                    place: place.clone(),
                    what: "a second API".to_owned(),
                });
            }
        }
        other if NOT_CARRIED_OUT.contains(&other) => {}
        other => {
            return Err(StackError::Unsupported {
                place: place.clone(),
                what: format!("the resource type {other}"),
            });
        }
    }
    Ok(())
}

/// The program that `sam build` puts into a function.
fn binary(node: &Node, place: &Place) -> Result<String, StackError> {
    let place = place.below("Metadata.BuildProperties.Binary");
    let binary = node
        .get("Metadata")
        .and_then(|metadata| metadata.get("BuildProperties")?.get("Binary"));
    binary
        .ok_or_else(|| StackError::Missing { place: place.clone() })?
        .scalar(&place)
        .map(str::to_owned)
}

fn function_globals(template: &Node, scope: &Scope) -> Result<BTreeMap<String, Value>, StackError> {
    let place = scope.place.below("Globals");
    let Some(globals) = template.get("Globals") else {
        return Ok(BTreeMap::new());
    };
    let globals = scope
        .value(globals, &place)
        .map_err(|unresolved| settle(unresolved, &place))?;
    let Some(Value::Map(entries)) = globals else {
        return Ok(BTreeMap::new());
    };
    let mut globals = Fields::new(place, entries);
    let function = globals.optional_fields("Function")?;
    globals.finish()?;
    Ok(function.map(Fields::into_entries).unwrap_or_default())
}

fn outputs(template: &Node, scope: &Scope) -> Result<BTreeMap<String, Value>, StackError> {
    let place = scope.place.below("Outputs");
    let mut outputs = BTreeMap::new();
    for (name, declaration) in Node::entries(template.get("Outputs"), &place)? {
        let place = place.below(&name);
        let node = declaration.get("Value").ok_or_else(|| StackError::Missing {
            place: place.below("Value"),
        })?;
        let text = scope
            .text(node, &place)
            .map_err(|unresolved| settle(unresolved, &place))?;
        outputs.insert(name, Value::Text(text));
    }
    Ok(outputs)
}

/// Where nothing can be waited for any more, a missing output is an error.
fn settle(unresolved: Unresolved, place: &Place) -> StackError {
    match unresolved {
        Unresolved::Error(error) => error,
        Unresolved::Nested(name) => StackError::Unknown {
            place: place.clone(),
            name: format!("output of {name} yet"),
        },
    }
}

/// Queues that are named must be queues of this deployment, and hide a message long enough.
fn check_queues(stack: &Stack) -> Result<(), StackError> {
    for function in &stack.functions {
        for source in &function.queues {
            let place = Place::top(ROOT).below(&function.logical_id).below("Events");
            let Some(queue) = stack.queue(&source.queue) else {
                return Err(StackError::Unknown {
                    place,
                    name: format!("queue {}", source.queue),
                });
            };
            // AWS's own advice; with less, a slow batch is delivered twice.
            let least = function.timeout * 6;
            if queue.visibility_timeout < least {
                let expected = format!(
                    "{} to hide its messages for {} s at least",
                    source.queue,
                    least.as_secs()
                );
                let found = format!("{} s", queue.visibility_timeout.as_secs());
                return Err(StackError::Invalid { place, expected, found });
            }
        }
    }
    for queue in &stack.queues {
        if let Some(redrive) = &queue.redrive
            && stack.queue(&redrive.dead_letter_queue).is_none()
        {
            let place = Place::top(ROOT).below(&queue.logical_id).below("RedrivePolicy");
            return Err(StackError::Unknown {
                place,
                name: format!("queue {}", redrive.dead_letter_queue),
            });
        }
    }
    Ok(())
}
