//! What all HTTP functions share: who calls, what came in, what goes out, and how it fails.
//!
//! A handler's signature is made of this crate's types. [`Caller`] exists only after the API key was checked.
//! [`ValidJson`], [`ValidForm`], [`ValidQuery`] and [`PathId`] hold domain types, read by [`FromFields`] with every bad field reported
//! at once. [`ApiError`] alone knows status codes. Views such as [`DocumentView`] are what several functions answer.
//! [`finish`] puts the common layers around a function's router; no router is served without it.

#![warn(clippy::float_arithmetic)]
#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test"))]

mod caller;
mod certificate;
mod download;
mod error;
mod fields;
mod form;
mod json;
mod layers;
mod path;
mod query;
mod views;
mod visitor;

pub use caller::{ApiKeySecret, Caller, Keys, NotingCaller};
pub use certificate::P12Fields;
pub use download::Download;
pub use error::{ApiError, CodedDetail, CodedError, FieldError, ValidationError};
pub use fields::{Field, Fields, FromFields, first_instant, last_instant};
pub use form::{Form, FormFile, FromForm, ValidForm};
pub use json::{ValidJson, read_body};
pub use layers::{BODY_LIMIT_BYTES, finish, other_spelling};
pub use path::PathId;
pub use query::{Cursor, DateRange, Page, ValidQuery};
pub use views::{
    ArtifactsView, BuyerAnswerView, BuyerDeliveryView, CertificateView, CompanyCertificateView, DocumentView,
    ExplanationView, FullDocumentView, Instant, ListView, ReachedStageView, SecurityCode, TaxauthArtifact,
    TaxauthResponse, TrackId, as_object,
};
pub use visitor::Visitor;
