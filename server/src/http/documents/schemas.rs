//! Schemas of the types that travel, and the messages that an enum of them stands for.

use std::collections::BTreeSet;

use schemars::generate::SchemaSettings;
use schemars::transform::{RemoveRefSiblings, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value as Json};

/// Where both kinds of document keep schemas with a name.
const PLACE: &str = "/components/schemas";

/// A generator for OpenAPI, which takes the newest JSON Schema.
pub(super) fn newest() -> SchemaGenerator {
    in_components(SchemaSettings::draft2020_12())
}

/// A generator for AsyncAPI, whose schemas are of draft 7.
pub(super) fn draft_7() -> SchemaGenerator {
    in_components(SchemaSettings::draft07())
}

fn in_components(settings: SchemaSettings) -> SchemaGenerator {
    settings.for_serialize().with(|settings| settings.definitions_path = PLACE.into()).into_generator()
}

/// One type of message.
pub(super) struct Message {
    /// The value of its field `type`.
    pub(super) kind: String,
    /// What it is for.
    pub(super) summary: String,
    /// Of the whole message.
    pub(super) schema: Json,
}

/// The messages that `T` may be, in its order: one for each value of the field `type`.
pub(super) fn messages<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Vec<Message> {
    let start = schemas.subschema_for::<T>();
    let mut found = Vec::new();
    split(object(start.as_value()), schemas.definitions(), &mut found);
    found
}

/// Follows alternatives down to objects whose `type` is fixed.
fn split(schema: Map<String, Json>, named: &Map<String, Json>, found: &mut Vec<Message>) {
    let mut schema = opened(schema, named);
    if let Some(Json::Array(alternatives)) = schema.remove("oneOf").or_else(|| schema.remove("anyOf")) {
        for alternative in &alternatives {
            split(merged(opened(object(alternative), named), schema.clone()), named, found);
        }
    } else if let Some(kind) = schema["properties"]["type"]["const"].as_str().map(str::to_owned) {
        let summary = schema.remove("description");
        let summary = summary.as_ref().and_then(Json::as_str).unwrap_or_default().to_owned();
        found.push(Message { kind, summary, schema: draft_7_of(schema) });
    }
}

/// With what it refers to in place of the reference.
fn opened(mut schema: Map<String, Json>, named: &Map<String, Json>) -> Map<String, Json> {
    match schema.remove("$ref") {
        Some(Json::String(reference)) => opened(merged(schema, object(&named[name_of(&reference)])), named),
        Some(_) | None => schema,
    }
}

/// Both together: the words of `first`, and the fields of both.
fn merged(mut first: Map<String, Json>, second: Map<String, Json>) -> Map<String, Json> {
    for (key, value) in second {
        match (first.get_mut(&key), value) {
            (Some(Json::Object(fields)), Json::Object(more)) => fields.extend(more),
            (Some(Json::Array(required)), Json::Array(more)) => required.extend(more),
            (Some(_), _) => {}
            (None, value) => {
                first.insert(key, value);
            }
        }
    }
    first
}

fn draft_7_of(schema: Map<String, Json>) -> Json {
    let mut schema = Schema::from(schema);
    RemoveRefSiblings::default().transform(&mut schema);
    let mut schema = schema.to_value();
    without_null(&mut schema);
    schema
}

/// The schemas with a name that `users` name, and those that these name.
pub(super) fn named(users: &Json, mut schemas: SchemaGenerator) -> Map<String, Json> {
    let mut all = schemas.take_definitions(true);
    let mut wanted = BTreeSet::new();
    references(users, &mut wanted);
    loop {
        let before = wanted.len();
        for name in wanted.clone() {
            references(&all[&name], &mut wanted);
        }
        if wanted.len() == before {
            break;
        }
    }
    all.retain(|name, _| wanted.contains(name));
    all.values_mut().for_each(without_null);
    all
}

fn references(json: &Json, found: &mut BTreeSet<String>) {
    match json {
        Json::Object(fields) => {
            if let Some(Json::String(reference)) = fields.get("$ref") {
                found.insert(name_of(reference).to_owned());
            }
            fields.values().for_each(|value| references(value, found));
        }
        Json::Array(elements) => elements.iter().for_each(|element| references(element, found)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// A field that is not there is left out: `null` is never sent for it.
fn without_null(schema: &mut Json) {
    if let Some(Json::Array(alternatives)) = schema.get_mut("oneOf") {
        alternatives.iter_mut().for_each(without_null);
    }
    let Some(Json::Object(fields)) = schema.get_mut("properties") else { return };
    for field in fields.values_mut().filter_map(Json::as_object_mut) {
        if let Some(Json::Array(types)) = field.get_mut("type") {
            types.retain(|kind| kind != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                field.insert("type".to_owned(), only);
            }
        }
        if let Some(Json::Array(alternatives)) = field.remove("anyOf") {
            let kept = alternatives.into_iter().filter(|alternative| alternative["type"] != "null");
            field.insert("allOf".to_owned(), kept.collect());
        }
    }
}

fn object(schema: &Json) -> Map<String, Json> {
    schema.as_object().cloned().unwrap_or_default()
}

/// `Name` of `#/components/schemas/Name`.
fn name_of(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or_default()
}
