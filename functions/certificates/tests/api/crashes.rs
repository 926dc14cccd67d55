//! The state after a call to AWS fails midway.

use ecf_testkit::{Fault, P12_PIN, test_p12};
use jiff::SignedDuration;
use sha2::{Digest as _, Sha256};

use crate::{Api, id_of, p12_of};

#[tokio::test]
async fn whatever_fails_between_secret_and_profile_the_same_upload_completes_it() {
    for (operation, fault) in [
        ("GetSecretValue", Fault::NotSent),
        ("PutSecretValue", Fault::NotSent),
        ("PutSecretValue", Fault::AnswerLost),
        ("TransactWriteItems", Fault::NotSent),
        ("TransactWriteItems", Fault::AnswerLost),
    ] {
        let api = Api::start().await;
        let first = api.upload(test_p12(), P12_PIN).await.expect(201);
        api.stack.clock().advance(SignedDuration::from_mins(1));
        // The company's own certificate, so that the write of the profile claims the RNC too.
        let renewed = p12_of("IDCDO-130000001", "2026-11-01", "2028-11-01");
        api.stack.calls().inject(operation, 1, fault);
        let answer = api.upload(&renewed, P12_PIN).await;
        assert_eq!(answer.expect(503)["detail"]["code"], "unavailable", "{operation}");
        assert_eq!(api.stack.calls().faults_to_come(), 0);

        let held = api.stack.vault().certificate(&api.company.scope.company).await.unwrap();
        let held = held.unwrap().file.uploaded_sha256;
        assert!(
            [test_p12(), &renewed]
                .iter()
                .any(|p12| held[..] == Sha256::digest(p12)[..]),
            "a certificate is there all the time"
        );

        let second = api.upload(&renewed, P12_PIN).await.expect(201);
        let listed = api.listed().await;
        assert_eq!(listed, [(id_of(&second), true), (id_of(&first), false)], "{operation}");
        let profile = api.stack.table().company(&api.company.scope.company).await.unwrap();
        assert!(profile.unwrap().verified);
    }
}
