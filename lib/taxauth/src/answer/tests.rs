//! Every form of answer that the reference lists.

use super::*;

fn read(body: &str) -> Answer {
    Answer::read(body.as_bytes())
}

fn messages(answer: &Answer) -> Vec<(Option<&str>, &str)> {
    answer
        .mensajes
        .iter()
        .map(|mensaje| (mensaje.codigo.as_deref(), mensaje.valor.as_str()))
        .collect()
}

/// A body, its form, and its messages.
type Case<'a> = (&'a str, Shape, &'a [(Option<&'a str>, &'a str)]);

#[test]
fn every_error_shape_gives_its_words() {
    let delegado = "El RNC 101 del certificado no está delegado para realizar transaciones.";
    let text = format!("\"{delegado}\"");
    let cases: &[Case<'_>] = &[
        ("", Shape::Empty, &[]),
        (delegado, Shape::Text, &[(None, delegado)]),
        (&text, Shape::Text, &[(None, delegado)]),
        (r#"{"mensaje": "no"}"#, Shape::Record, &[(None, "no")]),
        (
            r#"{"Mensaje": ["no", "nunca"]}"#,
            Shape::Record,
            &[(None, "no"), (None, "nunca")],
        ),
        (r#"{"error": "no", "mensaje": null}"#, Shape::Record, &[(None, "no")]),
        (r#""{\"error\": \"no\"}""#, Shape::Record, &[(None, "no")]),
        (
            r#"{"mensajes":[{"valor":"no","codigo":0}]}"#,
            Shape::Record,
            &[(Some("0"), "no")],
        ),
        (
            r#"{"mensajes":[{"valor":"no","codigo":"614"}]}"#,
            Shape::Record,
            &[(Some("614"), "no")],
        ),
        (
            r#"{"mensajes":{"valor":"no","codigo":614}}"#,
            Shape::Record,
            &[(Some("614"), "no")],
        ),
        (
            r#"{"mensajes":["no","nunca"]}"#,
            Shape::Record,
            &[(None, "no"), (None, "nunca")],
        ),
        (r#"{"mensajes":"no"}"#, Shape::Record, &[(None, "no")]),
        (r#"["no"]"#, Shape::Record, &[(None, "no")]),
        (
            r#"[{"codigo":3243,"valor":"no"}]"#,
            Shape::Record,
            &[(Some("3243"), "no")],
        ),
        (
            r#"{"codigo":3243,"valor":"no"}"#,
            Shape::Record,
            &[(Some("3243"), "no")],
        ),
        (r#"{"mensajes":[{"valor":"","codigo":0}]}"#, Shape::Record, &[]),
        (
            r#"{"type":"about:blank","title":"One or more errors","status":400,"errors":{"xml":["required","bad"]}}"#,
            Shape::ProblemDetails,
            &[(None, "One or more errors"), (None, "required"), (None, "bad")],
        ),
        (
            "<html><head><title>Error</title></head></html>",
            Shape::Html,
            &[(None, "Error")],
        ),
        ("<html><body></body></html>", Shape::Html, &[]),
        (
            "<Respuesta><mensajes><codigo>1</codigo><valor>a</valor></mensajes><mensajes><valor>b</valor></mensajes>\
             <estado>x</estado></Respuesta>",
            Shape::Record,
            &[(Some("1"), "a"), (None, "b")],
        ),
        (
            "<R><estado>x</estado><mensajes><Mensaje><codigo>1</codigo><valor>a</valor></Mensaje>\
             <Mensaje><valor>b</valor></Mensaje></mensajes></R>",
            Shape::Record,
            &[(Some("1"), "a"), (None, "b")],
        ),
        ("<string>no</string>", Shape::Text, &[(None, "no")]),
    ];
    for (body, shape, expected) in cases {
        let answer = read(body);
        assert_eq!(answer.shape, *shape, "{body}");
        assert_eq!(messages(&answer), *expected, "{body}");
    }
}

#[test]
fn a_verdict_is_read_whatever_its_spelling() {
    let cases = [
        r#"{"trackId":"t","codigo":2,"estado":"Rechazado","eNCF":"E31","secuenciaUtilizada":false}"#,
        r#"{"TrackId":"t","Codigo":"2","Estado":"Rechazado","encf":"E31","secuenciautilizada":"False"}"#,
        r#"[{"track_id":"t","código":2,"estado":"Rechazado","secuenciaUtilizada":0}]"#,
        "<RespuestaConsultaTrackId><trackId>t</trackId><codigo>2</codigo><estado>Rechazado</estado>\
         <secuenciaUtilizada>false</secuenciaUtilizada></RespuestaConsultaTrackId>",
    ];
    for body in cases {
        let answer = read(body);
        assert_eq!(answer.track_id.as_deref(), Some("t"), "{body}");
        assert_eq!(answer.codigo_number(), Some(2), "{body}");
        assert_eq!(answer.estado.as_deref(), Some("Rechazado"), "{body}");
        assert_eq!(answer.secuencia_utilizada, Some(false), "{body}");
    }
}

#[test]
fn the_code_for_a_used_number_is_found_wherever_it_stands() {
    assert!(read(r#"{"codigo":"1209","estado":"x"}"#).says_already_used());
    assert!(read(r#"{"mensajes":[{"codigo":0,"valor":"a"},{"codigo":"01209","valor":"b"}]}"#).says_already_used());
    assert!(!read(r#"{"mensajes":[{"codigo":12090,"valor":"1209"}]}"#).says_already_used());
}

#[test]
fn the_first_code_that_says_something_is_the_error_code() {
    let answer = read(r#"{"codigo":2,"mensajes":[{"codigo":0,"valor":"a"},{"codigo":614,"valor":"b"}]}"#);
    assert_eq!(answer.error_code(), Some("614"));
    assert_eq!(answer.words().as_deref(), Some("a; b"));
    assert_eq!(read(r#"{"codigo":2,"estado":"Rechazado"}"#).error_code(), Some("2"));
    assert_eq!(
        read(r#"{"codigo":2,"estado":"Rechazado"}"#).words().as_deref(),
        Some("Rechazado")
    );
}

#[test]
fn a_json_object_is_kept_as_it_came_without_its_blanks() {
    let answer = read("{ \"b\" : 1.10,\r\n  \"a\\\"\\\\\" : \" x \\\" y \" , \"c\":[ 1 , 2 ] }");
    assert_eq!(answer.to_json(), r#"{"b":1.10,"a\"\\":" x \" y ","c":[1,2]}"#);
}

#[test]
fn what_is_no_json_object_becomes_one() {
    assert_eq!(read("no").to_json(), r#"{"mensajes":[{"valor":"no"}],"texto":"no"}"#);
    assert_eq!(
        read("<R><codigo>2</codigo><estado>Rechazado</estado></R>").to_json(),
        r#"{"codigo":"2","estado":"Rechazado","mensajes":[],"texto":"<R><codigo>2</codigo><estado>Rechazado</estado></R>"}"#
    );
    for body in ["{broken", "[1]", "\"x\"", ""] {
        let json = read(body).to_json();
        assert!(
            serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&json).is_ok(),
            "{json}"
        );
    }
}

#[test]
fn a_huge_answer_is_cut_at_a_character_and_still_becomes_an_object() {
    let answer = read(&format!("{{\"mensaje\":\"{}\"}}", "ñ".repeat(MAX_RAW_BYTES)));
    assert!(answer.raw.len() <= MAX_RAW_BYTES && answer.raw.len() > MAX_RAW_BYTES - 4);
    assert!(answer.to_json().starts_with("{\"mensajes\":"));
}

#[test]
fn no_bytes_make_the_reader_fail() {
    let seeds: [&[u8]; 6] = [
        b"{\"a\":[\"b\"]}",
        b"<a><b>c</b></a>",
        b"\"{\\\"a\\\":1}\"",
        b"<html><title>x</title>",
        b"[[[[",
        b"\xff\xfe{",
    ];
    for seed in seeds {
        for at in 0..seed.len() {
            for byte in [0, b'<', b'>', b'"', b'\\', b'{', b'&', 0xc3, 0xff] {
                let mut bytes = seed.to_vec();
                bytes[at] = byte;
                let answer = Answer::read(&bytes);
                assert!(serde_json::from_str::<serde_json::Value>(&answer.to_json()).is_ok());
                let _ = Answer::read(&bytes[..at]);
            }
        }
    }
}

#[test]
fn a_number_beyond_all_bounds_is_kept_as_text() {
    let answer = Answer::read(br#"{"estado":"Aceptado","codigo":901E600}"#);
    let kept: serde_json::Value = serde_json::from_str(&answer.to_json()).unwrap();
    assert_eq!(kept["texto"], r#"{"estado":"Aceptado","codigo":901E600}"#);
}

#[test]
fn c14_both_shapes_of_a_refused_seed_are_read() {
    for body in [
        r#""Tipo de certificado no admitido""#,
        r#"{"mensaje":"Tipo de certificado no admitido."}"#,
        r#"{"mensaje":"La semilla no es válida","errores":["Tipo de certificado no admitido"]}"#,
    ] {
        assert!(
            Answer::read(body.as_bytes()).refuses_the_kind_of_certificate(),
            "{body}"
        );
    }
    let other = r#""El RNC 1 del certificado no está delegado para realizar transaciones.""#;
    assert!(!Answer::read(other.as_bytes()).refuses_the_kind_of_certificate());
    let errors = r#"{"mensaje":"La estructura del archivo XML no es válida","errores":["Falta valor",{"mensaje":"Falta fecha","codigo":7}]}"#;
    let answer = Answer::read(errors.as_bytes());
    assert_eq!(
        answer.words().as_deref(),
        Some("La estructura del archivo XML no es válida; Falta valor; Falta fecha")
    );
}
