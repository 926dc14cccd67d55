//! P12 files that sign-ups stored.

use ecf::Environment;
use ecf_store::{CertificateFile, CompanyId, Scope};
use ecf_testkit::{Fault, P12_PIN, test_p12};
use housekeeping::run;
use jiff::SignedDuration;

use crate::world::World;

/// The P12 of a sign-up that never completed its company.
async fn unclaimed(world: &World) -> Scope {
    let scope = Scope {
        company: CompanyId::from_random([7; 20]),
        environment: Environment::TesteCF,
    };
    stored(world, &scope).await;
    scope
}

async fn stored(world: &World, scope: &Scope) {
    world
        .stack
        .table()
        .record_unclaimed_p12(scope, world.now())
        .await
        .unwrap();
    let vault = world.stack.vault();
    vault
        .store_certificate(&scope.company, &CertificateFile::verbatim(test_p12(), P12_PIN))
        .await
        .unwrap();
}

async fn is_there(world: &World, scope: &Scope) -> bool {
    let held = world.stack.vault().certificate(&scope.company).await;
    held.is_ok_and(|held| held.is_some())
}

#[tokio::test]
async fn a_p12_whose_company_never_came_to_be_is_discarded_after_an_hour() {
    let world = World::start().await;
    let orphan = unclaimed(&world).await;
    world.advance(SignedDuration::from_mins(59));
    run(&world.app).await.unwrap();
    assert!(is_there(&world, &orphan).await);

    world.advance(SignedDuration::from_mins(1));
    run(&world.app).await.unwrap();
    assert!(!is_there(&world, &orphan).await);
    assert!(!world.stack.table().drop_unclaimed_p12(&orphan).await.unwrap());
}

#[tokio::test]
async fn a_p12_whose_company_is_there_stays() {
    let world = World::start().await;
    let scope = world.company.scope;
    stored(&world, &scope).await;
    world.advance(SignedDuration::from_hours(1));
    run(&world.app).await.unwrap();
    assert!(is_there(&world, &scope).await);
    assert!(!world.stack.table().drop_unclaimed_p12(&scope).await.unwrap());
}

#[tokio::test]
async fn what_fails_on_the_way_is_done_at_a_later_run() {
    for (operation, fault) in [
        ("DeleteSecret", Fault::NotSent),
        ("DeleteSecret", Fault::AnswerLost),
        ("DeleteItem", Fault::NotSent),
        ("DeleteItem", Fault::AnswerLost),
    ] {
        let world = World::start().await;
        let orphan = unclaimed(&world).await;
        world.advance(SignedDuration::from_hours(1));
        world.stack.calls().inject(operation, 1, fault);
        assert!(run(&world.app).await.is_err(), "{operation}");
        world.advance(SignedDuration::from_hours(1));
        run(&world.app).await.unwrap();
        assert!(!is_there(&world, &orphan).await, "{operation}");
        assert!(
            !world.stack.table().drop_unclaimed_p12(&orphan).await.unwrap(),
            "{operation}"
        );
    }
}
