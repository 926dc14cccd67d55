//! The register of taxpayers, loaded from files of several kinds.

use std::io::Write as _;

use aws_sdk_s3::primitives::ByteStream;
use ecf_store::{Register, register::RegisterAnswer};
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;

use crate::{World, refusal};

const LINES: &str = "131880681|PANADERIA LA ESPIGA SRL|LA ESPIGA|PANADERIA| | | | |12/02/2019|ACTIVO|NORMAL\n\
    00100000001|ANA PRUEBA||SERVICIOS| | | | |01/01/2010|SUSPENDIDO|RST\n";

fn zipped(name: &str, text: &str) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive.start_file(name, SimpleFileOptions::default()).unwrap();
    archive.write_all(text.as_bytes()).unwrap();
    archive.finish().unwrap().into_inner()
}

async fn load(world: &World, bytes: Vec<u8>, mut arguments: Value) -> Value {
    let put = world
        .stack
        .clients()
        .s3
        .put_object()
        .bucket(world.stack.provisioned().bucket_name());
    put.key("register/incoming/file")
        .body(ByteStream::from(bytes))
        .send()
        .await
        .unwrap();
    arguments["source"] = json!({ "object": "file" });
    world.run("load_register", arguments).await
}

#[tokio::test]
async fn a_text_and_an_archive_of_it_are_the_same_register() {
    let world = World::start().await;
    assert_eq!(world.run("show_register", json!({})).await, json!({ "register": null }));
    for bytes in [LINES.as_bytes().to_vec(), zipped("TMP/DGII_RNC.TXT", LINES)] {
        let loaded = load(&world, bytes, json!({ "as_of": "2026-11-26" })).await;
        let expected = json!({
            "register": { "as_of": "2026-11-26", "loaded_at": "2026-11-27T16:00:00Z", "taxpayers": 2, "shards": 1 },
            "unreadable_lines": 0,
        });
        assert_eq!(loaded, expected);
        let register = Register::new(
            world.stack.clients().s3.clone(),
            world.stack.provisioned().bucket_name(),
        );
        let found = register
            .taxpayer(&"00100000001".parse().unwrap(), world.stack.clock().now())
            .await
            .unwrap();
        let RegisterAnswer::Found(found) = found else {
            panic!("{found:?}")
        };
        assert_eq!(found.taxpayer.estado.as_deref(), Some("SUSPENDIDO"));
    }
    let shown = world.run("show_register", json!({})).await;
    assert_eq!(shown["register"]["taxpayers"], 2, "{shown}");
}

#[tokio::test]
async fn a_file_that_is_no_register_leaves_the_one_that_is_there() {
    let world = World::start().await;
    load(&world, LINES.as_bytes().to_vec(), json!({})).await;
    for bytes in [
        Vec::new(),
        b"<html>Mantenimiento</html>".to_vec(),
        format!("{LINES}{}", "ESTO NO\n").into_bytes(),
        zipped("leame.pdf", LINES),
        b"PK\x03\x04 broken".to_vec(),
    ] {
        let refused = load(&world, bytes, json!({})).await;
        assert_eq!(refusal(&refused), "bad_file", "{refused}");
    }
    let missing = world
        .run("load_register", json!({ "source": { "object": "other" } }))
        .await;
    assert_eq!(refusal(&missing), "not_found");
    assert_eq!(world.run("show_register", json!({})).await["register"]["taxpayers"], 2);
    // An operator who knows the file may allow a higher percentage.
    let loaded = load(
        &world,
        format!("{LINES}ESTO NO\n").into_bytes(),
        json!({ "most_unreadable_percent": 50 }),
    )
    .await;
    assert_eq!(loaded["unreadable_lines"], 1, "{loaded}");
}
