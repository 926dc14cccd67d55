//! What belongs to no single operation.

use serde_json::{Value, json};

/// What the document is about.
pub(super) const DESCRIPTION: &str = "Issues electronic fiscal receipts (e-CF) of the Dominican Republic, submits them to the tax authority and reports their verdict.

Some paths have a second spelling, which is as stable as the first and answers the same: `/api/v1/eCF/…` for `/api/v1/ecf/…`, and `/api/v1/dgii/…` for `/api/v1/taxauth/…`.

A query parameter or a field of a body that an operation does not declare is refused with 422 (`extra_forbidden`), as is a parameter that is empty or comes twice. JSON bodies are UTF-8; any body may have `Content-Encoding: gzip` or `deflate`.

`Accept-Language` chooses the language of sentences (`msg`, `message`, warnings, explanations): Spanish (`es`, `es-DO`), or English, which is the default. `Content-Language` says which one an answer has. `code`, `type`, `loc` and `ctx` are the same in both.

Generators of clients: some stop at the `webhooks` section; `/openapi/public-v1.json?webhooks=false` is this document without it.";

/// What a key is, and what the words mean that each operation lists under `security`.
pub(super) const API_KEY: &str = "A key belongs to one company and one environment, and has a scope: `read` reads; `issue` also issues, withdraws, annuls, acknowledges and answers; `full` does everything. Each operation lists the scope that it needs; another key is refused with 403 `scope_insufficient`.

`highest_environment`: the operation changes what holds for the whole company, production included (certificate, settings, prints). It needs a key of the highest environment of which the company has a working key; another is refused with 403 `highest_environment_required`.";

/// The groups of the operations, in the order in which a newcomer meets them. Generated clients name modules after them, so they are ASCII.
pub(super) fn tags() -> Value {
    let tag = |(name, description): (&str, &str)| match name {
        "Buzon" => json!({ "name": name, "x-displayName": "Buzón", "description": description }),
        _ => json!({ "name": name, "description": description }),
    };
    [
        ("Registro", "Una empresa se registra y recibe su primera clave. Hasta que se verifica solo emite en TesteCF."),
        ("Certificacion", "Las pruebas de datos: corridas con los libros de la DGII, y los intentos en CerteCF."),
        ("Certificados", "El archivo P12 con que se firma. Los anteriores se conservan como historial."),
        ("Comprobantes", "Emitir, consultar y retirar e-CF. `idempotency_key` decide: la misma clave siempre responde con el mismo comprobante."),
        ("Documentos", "Los comprobantes emitidos con filtros, y sus archivos byte por byte."),
        ("Webhooks", "Avisos firmados a su sistema, repetidos durante 24 horas hasta que se aceptan."),
        ("Secuencias", "Los rangos de e-NCF, numerados por el servicio o por quien llama."),
        ("Buzon", "Los e-CF recibidos de otros emisores, con su acuse firmado."),
        ("Aprobaciones", "Aprobar o rechazar lo recibido, lo que dicen los compradores, y los números que se anulan."),
        ("Empresa", "El perfil, el resumen y las claves de API. Una clave vale para una empresa y un ambiente."),
        ("Herramientas", "Verificar un XML firmado, examinar un P12, firmar un formulario de la Oficina Virtual."),
        ("Autoridad tributaria", "El estado de los servicios de la autoridad, su directorio y su registro de contribuyentes."),
        ("Avisos", "Lo que el operador tiene que decir a las empresas."),
        ("Servicio", "La salud del servicio y este contrato."),
    ]
    .map(tag)
    .into()
}

/// What the gateway may say as well as a handler.
const OVERLOAD: [&str; 2] = ["429", "503"];

/// What any operation may answer: no handler declares it, because layers in front of the handlers and the gateway say it.
pub(super) fn add_answers(document: &mut Value) {
    let coded = json!({ "$ref": "#/components/schemas/CodedError" });
    document["components"]["headers"] = json!({
        "ContentLanguage": {
            "description": "The language of the sentences in the answer, by `Accept-Language`; absent where there are none.",
            "schema": { "type": "string", "enum": ["en", "es"] },
        },
    });
    let error = |description: &str, schema: Value| {
        json!({
            "description": description,
            "headers": { "Content-Language": { "$ref": "#/components/headers/ContentLanguage" } },
            "content": { "application/json": { "schema": schema } },
        })
    };
    document["components"]["responses"] = json!({
        "TooLarge": error("The body is beyond 4 MB, before or after it is inflated", json!({ "anyOf": [coded, { "$ref": "#/components/schemas/GatewayError" }] })),
        "UnsupportedMediaType": error("The body is of another content type, or in another encoding than gzip and deflate", coded.clone()),
        "Forbidden": error("The key may not do this: its scope, or its environment, is not enough", coded.clone()),
        "TooManyRequests": error("The rate limit of the key, or of the whole service, is exceeded; `Retry-After` says when to retry", json!({ "anyOf": [coded, { "$ref": "#/components/schemas/GatewayError" }] })),
        "Error": error(
            "Any other error: `detail` is an object with `code` and `message`, the list of bad fields, or a sentence of the gateway",
            json!({ "anyOf": [coded, { "$ref": "#/components/schemas/ValidationError" }, { "$ref": "#/components/schemas/GatewayError" }] }),
        ),
    });
    document["components"]["schemas"]["GatewayError"] = json!({
        "type": "object", "required": ["detail"], "properties": { "detail": { "type": "string" } },
        "description": "The gateway's own answer: before a function is called, or when the function did not answer in time.",
    });
    let general = |name: &str| json!({ "$ref": format!("#/components/responses/{name}") });
    for operation in super::operations(document) {
        let has_body = operation.get("requestBody").is_some();
        let needs = operation["security"][0]["api_key"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let (has_key, is_for_every_key) = (!needs.is_empty(), needs == [json!("read")]);
        let Some(responses) = operation["responses"].as_object_mut() else {
            continue;
        };
        for status in OVERLOAD {
            let answer = responses.get_mut(status);
            if let Some(schema) = answer.and_then(|answer| answer.pointer_mut("/content/application~1json/schema")) {
                let own = schema.take();
                *schema = json!({ "anyOf": [own, { "$ref": "#/components/schemas/GatewayError" }] });
            }
        }
        let with_body = [("413", "TooLarge"), ("415", "UnsupportedMediaType")];
        let with_key = [
            ("403", "Forbidden", has_key && !is_for_every_key),
            ("429", "TooManyRequests", has_key),
        ];
        let with_key = with_key
            .into_iter()
            .filter_map(|(status, name, applies)| applies.then_some((status, name)));
        let with_body = with_body.into_iter().filter(|_| has_body);
        for (status, name) in with_body.chain(with_key).chain([("default", "Error")]) {
            responses.entry(status).or_insert_with(|| general(name));
        }
    }
}

/// Names the other spelling of a path at each operation that has one.
pub(super) fn add_spellings(document: &mut Value) {
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    for (path, methods) in paths {
        let Some(other) = ecf_api::other_spelling(path) else {
            continue;
        };
        for operation in methods
            .as_object_mut()
            .into_iter()
            .flat_map(|methods| methods.values_mut())
        {
            let description = operation["description"].as_str().unwrap_or_default();
            operation["description"] = json!(format!("{description}\n\nAlso served at `{other}`."));
        }
    }
}
