use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use ecf::{Encf, Fecha};
use ecf_store::numbers::{CallerTake, NewRange, NextNumber, Numbering, RangeChanged, RangeChanges, RangeOpened};

use crate::support::{App, T31, app, encf, noon, table_name};

fn today() -> Fecha {
    "27-11-2026".parse().unwrap()
}

fn range(start: u64, end: u64) -> NewRange {
    NewRange {
        ecf_type: T31,
        start,
        end,
        valid_until: None,
        numbering: Some(Numbering::Service),
        created_at: noon(),
    }
}

async fn open(app: &App, new: NewRange) {
    assert_eq!(app.table.open_range(&app.scope, new).await.unwrap(), RangeOpened::New);
}

async fn take(app: &App) -> NextNumber {
    app.table
        .take_next_number(&app.scope, T31, today(), noon())
        .await
        .unwrap()
}

async fn taken(app: &App) -> Encf {
    match take(app).await {
        NextNumber::Taken { encf, .. } => encf,
        other => panic!("no number: {other:?}"),
    }
}

#[tokio::test]
async fn numbers_come_in_order_and_end_with_the_last_range() {
    let app = app("in order").await;
    assert_eq!(take(&app).await, NextNumber::NoRange);
    open(&app, range(1, 2)).await;
    open(
        &app,
        NewRange {
            valid_until: Some("31-12-2028".parse().unwrap()),
            ..range(10, 10)
        },
    )
    .await;
    assert_eq!(taken(&app).await, encf("E310000000001"));
    assert_eq!(taken(&app).await, encf("E310000000002"));
    let last = NextNumber::Taken {
        encf: encf("E310000000010"),
        valid_until: Some("31-12-2028".parse().unwrap()),
    };
    assert_eq!(take(&app).await, last);
    assert_eq!(take(&app).await, NextNumber::Exhausted);
    let ranges = app.table.ranges(&app.scope, None).await.unwrap();
    assert_eq!(
        ranges.iter().map(|range| (range.start, range.next)).collect::<Vec<_>>(),
        [(1, 3), (10, 11)]
    );
    assert_eq!(ranges[0].last_taken_at, Some(noon()));
    for scope in app.foreign_scopes() {
        assert_eq!(
            app.table.take_next_number(&scope, T31, today(), noon()).await.unwrap(),
            NextNumber::NoRange
        );
    }
}

#[tokio::test]
async fn an_expired_range_is_skipped_and_an_expired_rest_is_told() {
    let app = app("expired").await;
    open(
        &app,
        NewRange {
            valid_until: Some("26-11-2026".parse().unwrap()),
            ..range(1, 9)
        },
    )
    .await;
    assert_eq!(take(&app).await, NextNumber::Expired);
    open(
        &app,
        NewRange {
            valid_until: Some(today()),
            ..range(10, 10)
        },
    )
    .await;
    assert_eq!(taken(&app).await, encf("E310000000010"));
}

#[tokio::test]
async fn ranges_of_one_type_never_overlap_even_when_opened_at_once() {
    let app = app("overlap").await;
    open(&app, range(10, 20)).await;
    for (start, end) in [(1, 10), (20, 30), (12, 13), (1, 99)] {
        let outcome = app.table.open_range(&app.scope, range(start, end)).await.unwrap();
        let RangeOpened::Overlaps(existing) = outcome else {
            panic!("{start} to {end} was opened")
        };
        assert_eq!((existing.start, existing.end), (10, 20));
    }
    let rivals = (0..6).map(|place| {
        let (table, scope) = (app.table.clone(), app.scope);
        tokio::spawn(async move { table.open_range(&scope, range(100 + place, 200)).await.unwrap() })
    });
    let mut opened = 0;
    for rival in rivals.collect::<Vec<_>>() {
        opened += usize::from(rival.await.unwrap() == RangeOpened::New);
    }
    assert_eq!(opened, 1);
    assert_eq!(app.table.ranges(&app.scope, Some(T31)).await.unwrap().len(), 2);
}

#[tokio::test]
async fn opening_the_same_range_again_finds_it() {
    let app = app("same range").await;
    open(&app, range(10, 20)).await;
    let again = app.table.open_range(&app.scope, range(10, 20)).await.unwrap();
    assert!(matches!(again, RangeOpened::Already(range) if range.start == 10));
    let other = NewRange {
        valid_until: Some(today()),
        ..range(10, 20)
    };
    let other = app.table.open_range(&app.scope, other).await.unwrap();
    assert!(matches!(other, RangeOpened::Overlaps(_)));
}

#[tokio::test]
async fn a_range_grows_into_free_numbers_only_and_never_shrinks() {
    let app = app("change").await;
    open(&app, range(10, 20)).await;
    open(&app, range(31, 40)).await;
    let change = async |end, valid_until: Option<&str>| {
        let changes = RangeChanges {
            active: None,
            end: Some(end),
            valid_until: valid_until.map(|day| day.parse().unwrap()),
        };
        let id = "31-10".parse().unwrap();
        app.table.change_range(&app.scope, id, changes, noon()).await.unwrap()
    };
    assert!(matches!(change(19, None).await, RangeChanged::WouldShrink(range) if range.end == 20));
    assert!(matches!(change(31, None).await, RangeChanged::Overlaps(range) if range.start == 31));
    let RangeChanged::Now(changed) = change(30, Some("31-12-2027")).await else {
        panic!("not changed")
    };
    assert_eq!(
        (changed.end, changed.valid_until),
        (30, Some("31-12-2027".parse().unwrap()))
    );
    // A range that overlaps the new end is rejected.
    assert!(matches!(
        app.table.open_range(&app.scope, range(30, 30)).await.unwrap(),
        RangeOpened::Overlaps(_)
    ));
    for scope in app.foreign_scopes() {
        let id = "31-10".parse().unwrap();
        let changed = app
            .table
            .change_range(&scope, id, RangeChanges::default(), noon())
            .await;
        assert_eq!(changed.unwrap(), RangeChanged::Missing);
    }
}

#[tokio::test]
async fn a_range_that_is_off_is_passed_over_until_it_is_on_again() {
    let app = app("off").await;
    open(&app, range(1, 9)).await;
    open(&app, range(10, 19)).await;
    let switch = async |active| {
        let changes = RangeChanges {
            active: Some(active),
            ..RangeChanges::default()
        };
        let id = "31-1".parse().unwrap();
        app.table.change_range(&app.scope, id, changes, noon()).await.unwrap()
    };
    switch(false).await;
    assert_eq!(taken(&app).await, encf("E310000000010"));
    switch(true).await;
    assert_eq!(taken(&app).await, encf("E310000000001"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_callers_at_once_get_no_number_twice_and_skip_none() {
    let app = app("32 callers").await;
    open(&app, range(1, 100)).await;
    let callers = (0..32).map(|_| {
        let (table, scope) = (app.table.clone(), app.scope);
        tokio::spawn(async move {
            let mut numbers = Vec::new();
            for _ in 0..4 {
                if let NextNumber::Taken { encf, .. } =
                    table.take_next_number(&scope, T31, today(), noon()).await.unwrap()
                {
                    numbers.push(encf.sequence());
                }
            }
            numbers
        })
    });
    let mut all = Vec::new();
    for caller in callers.collect::<Vec<_>>() {
        all.extend(caller.await.unwrap());
    }
    // 128 were requested, 100 exist.
    assert_eq!(all.len(), 100);
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), (1..=100).collect());
    assert_eq!(take(&app).await, NextNumber::Exhausted);
}

/// Puts numbers on the free list, as housekeeping does.
async fn free(app: &App, start: u64, numbers: &[u64]) {
    let key = |text: String| AttributeValue::S(text);
    app.clients
        .dynamodb
        .update_item()
        .table_name(table_name())
        .key("pk", key(format!("seq#{}#testecf", app.scope.company)))
        .key("sk", key(format!("31#{start:010}")))
        .update_expression("ADD #free :numbers")
        .expression_attribute_names("#free", "free")
        .expression_attribute_values(
            ":numbers",
            AttributeValue::Ns(numbers.iter().map(u64::to_string).collect()),
        )
        .send()
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn freed_numbers_go_first_and_each_to_one_caller() {
    let app = app("freed").await;
    open(&app, range(1, 50)).await;
    for _ in 0..20 {
        taken(&app).await;
    }
    free(&app, 1, &[3, 5, 8, 13]).await;
    let callers = (0..8).map(|_| {
        let (table, scope) = (app.table.clone(), app.scope);
        tokio::spawn(async move { table.take_next_number(&scope, T31, today(), noon()).await.unwrap() })
    });
    let mut numbers = BTreeSet::new();
    for caller in callers.collect::<Vec<_>>() {
        let NextNumber::Taken { encf, .. } = caller.await.unwrap() else {
            panic!("no number")
        };
        assert!(numbers.insert(encf.sequence()), "{encf} came twice");
    }
    assert_eq!(numbers, [3, 5, 8, 13, 21, 22, 23, 24].into());
    assert!(
        app.table.ranges(&app.scope, Some(T31)).await.unwrap()[0]
            .free
            .is_empty()
    );
}

#[tokio::test]
async fn a_freed_number_is_given_even_when_the_range_is_at_its_end() {
    let app = app("freed at the end").await;
    open(&app, range(1, 1)).await;
    taken(&app).await;
    assert_eq!(take(&app).await, NextNumber::Exhausted);
    free(&app, 1, &[1]).await;
    assert_eq!(taken(&app).await, encf("E310000000001"));
    assert_eq!(take(&app).await, NextNumber::Exhausted);
}

#[tokio::test]
async fn the_first_use_fixes_who_numbers_a_range() {
    let app = app("first use").await;
    let open_to_both = |start, end| NewRange {
        numbering: None,
        ..range(start, end)
    };
    open(&app, open_to_both(1, 9)).await;
    open(
        &app,
        NewRange {
            valid_until: Some("31-12-2028".parse().unwrap()),
            ..open_to_both(10, 19)
        },
    )
    .await;
    let claim = async |number: &str| {
        app.table
            .claim_caller_number(&app.scope, &encf(number), today(), noon())
            .await
            .unwrap()
    };
    assert_eq!(taken(&app).await, encf("E310000000001"));
    assert_eq!(claim("E310000000002").await, CallerTake::ServiceNumbered);
    for number in ["E310000000012", "E310000000011"] {
        let CallerTake::Ok(range) = claim(number).await else {
            panic!("{number} may be used")
        };
        assert_eq!(range.valid_until, Some("31-12-2028".parse().unwrap()));
        assert!(range.is_callers());
    }
    assert_eq!(claim("E310000000020").await, CallerTake::OutsideRanges);
    assert_eq!(claim("E320000000001").await, CallerTake::OutsideRanges);
    for _ in 2..=9 {
        taken(&app).await;
    }
    assert_eq!(take(&app).await, NextNumber::Exhausted);
}

#[tokio::test]
async fn only_caller_ranges_give_no_number_and_an_expired_one_takes_none() {
    let app = app("caller only").await;
    let caller = |start, end| NewRange {
        numbering: Some(Numbering::Caller),
        ..range(start, end)
    };
    open(
        &app,
        NewRange {
            valid_until: Some("26-11-2026".parse().unwrap()),
            ..caller(1, 9)
        },
    )
    .await;
    assert_eq!(take(&app).await, NextNumber::CallerNumbered);
    let outcome = app
        .table
        .claim_caller_number(&app.scope, &encf("E310000000002"), today(), noon())
        .await
        .unwrap();
    assert_eq!(
        outcome,
        CallerTake::Expired {
            valid_until: "26-11-2026".parse().unwrap()
        }
    );
}
