use aws_sdk_s3::primitives::{ByteStream, DateTime};
use aws_sdk_s3::types::{ObjectLockLegalHold, ObjectLockLegalHoldStatus, ObjectLockMode};

use super::{BUCKET, code, create_bucket, get, put};
use crate::stack::Stack;

#[tokio::test]
async fn versions_stay_until_each_is_deleted() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client, true).await;
    let first = put(&client, "a", "one").await.unwrap();
    let second = put(&client, "a", "two").await.unwrap();
    assert_eq!(get(&client, "a", None).await, "two");
    assert_eq!(get(&client, "a", Some(&first)).await, "one");

    let delete = || client.delete_object().bucket(BUCKET).key("a");
    let deleted = delete().send().await.unwrap();
    assert_eq!(deleted.delete_marker(), Some(true));
    let marker = deleted.version_id.unwrap();
    let read = client.get_object().bucket(BUCKET).key("a").send().await;
    assert!(read.unwrap_err().into_service_error().is_no_such_key());
    assert_eq!(get(&client, "a", Some(&second)).await, "two");

    let listed = client.list_object_versions().bucket(BUCKET).send().await.unwrap();
    let versions: Vec<_> = listed
        .versions()
        .iter()
        .map(|version| (version.version_id().unwrap(), version.is_latest().unwrap()))
        .collect();
    assert_eq!(versions, [(second.as_str(), false), (first.as_str(), false)]);
    let markers = listed.delete_markers();
    assert_eq!(markers.len(), 1);
    assert_eq!(markers[0].is_latest(), Some(true));

    delete().version_id(&marker).send().await.unwrap();
    assert_eq!(get(&client, "a", None).await, "two");
    delete().version_id(&second).send().await.unwrap();
    assert_eq!(get(&client, "a", None).await, "one");
    let error = client.delete_bucket().bucket(BUCKET).send().await;
    assert_eq!(code(&error.unwrap_err()), "BucketNotEmpty");
    delete().version_id(&first).send().await.unwrap();
    client.delete_bucket().bucket(BUCKET).send().await.unwrap();
}

#[tokio::test]
async fn lists_go_page_by_page_and_group_by_delimiter() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client, true).await;
    for key in ["a/1", "a/2", "b/1", "b/2", "c", "d/1"] {
        put(&client, key, "old").await;
        put(&client, key, key).await;
    }
    let gone = client.delete_object().bucket(BUCKET).key("b/1").send();
    gone.await.unwrap();

    let mut found = Vec::new();
    let mut token = None;
    for _page in 0..10 {
        let page = client
            .list_objects_v2()
            .bucket(BUCKET)
            .delimiter("/")
            .max_keys(1)
            .set_continuation_token(token.take())
            .send()
            .await
            .unwrap();
        assert_eq!(page.key_count(), Some(1));
        let prefixes = page.common_prefixes().iter().map(|p| p.prefix().unwrap());
        let keys = page.contents().iter().map(|object| object.key().unwrap());
        found.extend(prefixes.chain(keys).map(str::to_owned));
        token = page.next_continuation_token;
        if token.is_none() {
            break;
        }
    }
    assert_eq!(found, ["a/", "b/", "c", "d/"]);

    let keys = async |prefix: &str, after: &str| {
        let page = client
            .list_objects_v2()
            .bucket(BUCKET)
            .prefix(prefix)
            .start_after(after)
            .send()
            .await
            .unwrap();
        let keys: Vec<String> = page
            .contents()
            .iter()
            .map(|object| object.key().unwrap().to_owned())
            .collect();
        keys
    };
    assert_eq!(keys("b/", "").await, ["b/2"]);
    assert_eq!(keys("", "a/1").await, ["a/2", "b/2", "c", "d/1"]);

    let mut versions = 0;
    let (mut key, mut version) = (None, None);
    for _page in 0..20 {
        let page = client
            .list_object_versions()
            .bucket(BUCKET)
            .max_keys(2)
            .set_key_marker(key.take())
            .set_version_id_marker(version.take())
            .send()
            .await
            .unwrap();
        versions += page.versions().len() + page.delete_markers().len();
        if page.is_truncated() != Some(true) {
            break;
        }
        (key, version) = (page.next_key_marker, page.next_version_id_marker);
    }
    assert_eq!(versions, 13);
}

#[tokio::test]
async fn a_locked_version_cannot_be_deleted() {
    let stack = Stack::start().await;
    let client = stack.s3();
    client
        .create_bucket()
        .bucket(BUCKET)
        .object_lock_enabled_for_bucket(true)
        .send()
        .await
        .unwrap();
    let write = async |mode: ObjectLockMode| {
        let written = client
            .put_object()
            .bucket(BUCKET)
            .key("a")
            .object_lock_mode(mode)
            .object_lock_retain_until_date(DateTime::from_secs(4_100_000_000))
            .body(ByteStream::from_static(b"kept"))
            .send()
            .await
            .unwrap();
        written.version_id.unwrap()
    };
    let delete = |version: &str| client.delete_object().bucket(BUCKET).key("a").version_id(version);
    let compliance = write(ObjectLockMode::Compliance).await;
    let governance = write(ObjectLockMode::Governance).await;
    let error = delete(&compliance).bypass_governance_retention(true);
    assert_eq!(code(&error.send().await.unwrap_err()), "AccessDenied");
    let error = delete(&governance).send().await.unwrap_err();
    assert_eq!(code(&error), "AccessDenied");
    let retention = client
        .get_object_retention()
        .bucket(BUCKET)
        .key("a")
        .version_id(&compliance)
        .send()
        .await
        .unwrap()
        .retention
        .unwrap();
    assert_eq!(retention.mode().unwrap().as_str(), "COMPLIANCE");
    assert_eq!(retention.retain_until_date().unwrap().secs(), 4_100_000_000);

    let hold = async |status: ObjectLockLegalHoldStatus| {
        client
            .put_object_legal_hold()
            .bucket(BUCKET)
            .key("a")
            .version_id(&governance)
            .legal_hold(ObjectLockLegalHold::builder().status(status).build())
            .send()
            .await
            .unwrap();
    };
    hold(ObjectLockLegalHoldStatus::On).await;
    let bypassing = || delete(&governance).bypass_governance_retention(true).send();
    assert_eq!(code(&bypassing().await.unwrap_err()), "AccessDenied");
    hold(ObjectLockLegalHoldStatus::Off).await;
    bypassing().await.unwrap();
    // A delete marker is no deletion.
    let marker = client.delete_object().bucket(BUCKET).key("a").send().await;
    assert_eq!(marker.unwrap().delete_marker(), Some(true));
    assert_eq!(get(&client, "a", Some(&compliance)).await, "kept");
}

#[tokio::test]
async fn a_bucket_without_object_lock_refuses_locks() {
    let stack = Stack::start().await;
    let client = stack.s3();
    create_bucket(&client, true).await;
    let error = client
        .put_object()
        .bucket(BUCKET)
        .key("a")
        .object_lock_mode(ObjectLockMode::Governance)
        .object_lock_retain_until_date(DateTime::from_secs(4_100_000_000))
        .body(ByteStream::from_static(b"x"))
        .send()
        .await
        .unwrap_err();
    assert_eq!(code(&error), "InvalidRequest");
}
