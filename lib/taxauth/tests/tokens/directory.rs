//! The directory's cache, against a double that lists one taxpayer and counts queries.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ecf_taxauth::{Directory, DirectoryError, Known, Session, TaxAuthError, Wanted};
use jiff::SignedDuration;

use crate::double::{Double, Play};
use crate::world::{ENVIRONMENT, Refused, World, authority_answering};

const LISTED: &str = "101672919";
const UNLISTED: &str = "131880681";

struct Listing {
    world: World,
    directory: Directory,
    questions: Arc<AtomicUsize>,
    is_away: Arc<AtomicBool>,
    double: Double,
}

impl Listing {
    async fn start() -> Self {
        let world = World::new().await;
        let questions = Arc::new(AtomicUsize::new(0));
        let is_away = Arc::new(AtomicBool::new(false));
        let (counted, away) = (Arc::clone(&questions), Arc::clone(&is_away));
        let double = authority_answering(&world, &Refused::default(), move |seen| {
            counted.fetch_add(1, Ordering::SeqCst);
            if away.load(Ordering::SeqCst) {
                Play::new(503, "")
            } else if seen.request.ends_with(LISTED) {
                let entry = r#"{"nombre":"COMPRADORA","rnc":"101672919","urlRecepcion":"https://x.example/"}"#;
                Play::new(200, entry)
            } else {
                Play::new(200, "")
            }
        })
        .await;
        Self {
            directory: Directory::new(world.table.clone()),
            world,
            questions,
            is_away,
            double,
        }
    }

    async fn ask(&self, rnc: &str, wanted: Wanted) -> Result<Known, DirectoryError> {
        let tokens = self.world.process(&self.double.base);
        let session: Session<'_> = tokens.session(ENVIRONMENT, &self.world.identity);
        let now = self.world.clock.now();
        self.directory
            .look_up(&session, &rnc.parse().unwrap(), wanted, now)
            .await
    }

    fn questions(&self) -> usize {
        self.questions.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn an_entry_is_believed_for_six_hours_and_an_absence_for_one() {
    let listing = Listing::start().await;
    for (hours, listed, unlisted) in [(0, 1, 1), (1, 1, 2), (4, 1, 3), (1, 2, 4)] {
        listing.world.advance(SignedDuration::from_hours(hours));
        let before = listing.questions();
        let known = listing.ask(LISTED, Wanted::Cached).await.unwrap();
        assert_eq!(
            known.listing.entry.unwrap().url_recepcion.as_deref(),
            Some("https://x.example")
        );
        let known = listing.ask(UNLISTED, Wanted::Cached).await.unwrap();
        assert_eq!(known.listing.entry, None);
        let asked = listing.questions() - before;
        assert_eq!(listing.questions(), listed + unlisted, "after {hours} h more: {asked}");
    }
}

#[tokio::test]
async fn who_does_not_believe_an_entry_has_it_asked_again_but_not_in_a_storm() {
    let listing = Listing::start().await;
    listing.ask(LISTED, Wanted::Cached).await.unwrap();
    for (seconds, questions) in [(0, 1), (59, 1), (1, 2), (0, 2)] {
        listing.world.advance(SignedDuration::from_secs(seconds));
        listing.ask(LISTED, Wanted::Fresh).await.unwrap();
        assert_eq!(listing.questions(), questions);
    }
}

#[tokio::test]
async fn an_old_entry_is_better_than_none_while_the_authority_is_away_and_says_why() {
    let listing = Listing::start().await;
    listing.ask(LISTED, Wanted::Cached).await.unwrap();
    listing.is_away.store(true, Ordering::SeqCst);
    listing.world.advance(SignedDuration::from_hours(48));
    let known = listing.ask(LISTED, Wanted::Cached).await.unwrap();
    assert!(known.listing.entry.is_some());
    assert!(matches!(
        known.problem,
        Some(TaxAuthError::Unavailable { status: 503, .. })
    ));
    let nothing = listing.ask(UNLISTED, Wanted::Cached).await;
    assert!(matches!(nothing, Err(DirectoryError::Authority(_))), "{nothing:?}");
    // After a week the entry is too old to send a receipt there.
    listing.world.advance(SignedDuration::from_hours(6 * 24));
    assert!(listing.ask(LISTED, Wanted::Cached).await.is_err());
}
