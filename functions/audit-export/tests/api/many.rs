//! Many receipts.

use std::time::Instant;

use futures::{StreamExt as _, stream};

use crate::{Api, Archive};

impl Api {
    async fn receipts(&self, from: usize, count: usize) {
        let receipts = stream::iter(from..from + count).map(async |place| {
            self.receipt(&format!("E32{place:010}")).await;
        });
        receipts.buffered(8).collect::<Vec<()>>().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stdout, reason = "what it measures is for people to read")]
async fn a_thousand_receipts_are_all_there() {
    let api = Api::start().await;
    api.receipts(1, 1_000).await;
    let began = Instant::now();
    let answer = api.get("").await;
    assert_eq!(answer.status, 200);
    println!(
        "1,000 receipts: {} KB in {:?}",
        answer.bytes.len() / 1024,
        began.elapsed()
    );
    let archive = Archive::read(&answer.bytes);
    assert_eq!(archive.manifest["receipts"], 1_000);
    for (end, count) in [("001.xml", 1), (".pdf", 1_000), ("-rfce.xml", 1_000)] {
        assert_eq!(
            archive.names().iter().filter(|name| name.ends_with(end)).count(),
            count,
            "{end}"
        );
    }
    assert_eq!(archive.index().lines().count(), 1_001);
}
