//! The HTTP layer that all functions share: authentication, requests, responses and errors.
//!
//! A handler's signature consists of this crate's types. A [`Caller`] exists only after the API key was validated.
//! [`ValidJson`], [`ValidForm`], [`ValidQuery`] and [`PathId`] hold domain types, read by [`FromFields`] with all field
//! errors reported at once. Only [`ApiError`] knows status codes. Views such as [`DocumentView`] are responses that
//! several functions share. [`finish`] adds the common layers to a function's router; every router is served with them.

#![warn(clippy::float_arithmetic)]
#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test"))]

mod caller;
mod certificate;
mod download;
mod error;
mod fields;
mod form;
mod json;
mod language;
mod layers;
mod path;
mod query;
mod views;
mod visitor;
mod wait;

pub use caller::{ApiKeySecret, Caller, Keys, RecordingCaller};
pub use certificate::P12Fields;
pub use download::Download;
pub use error::{ApiError, CodedDetail, CodedError, FieldError, ValidationError};
pub use fields::{Field, Fields, FromFields, first_instant, last_instant};
pub use form::{Form, FormFile, FromForm, ValidForm};
pub use json::{ValidJson, read_body};
pub use language::Spoken;
pub use layers::{BODY_LIMIT_BYTES, finish, other_spelling};
pub use path::PathId;
pub use query::{Cursor, DateRange, IssuedRange, Page, ValidQuery};
pub use views::{
    ArtifactsView, BuyerAnswerView, BuyerDeliveryView, CertificateView, CompanyCertificateView, DocumentView,
    ExplanationView, FullDocumentView, Instant, ListView, ReachedStageView, SecurityCode, TaxauthArtifact,
    TaxauthResponse, TrackId, as_object, error_message,
};
pub use visitor::Visitor;
pub use wait::Wait;
