//! Ids in paths.

use std::str::FromStr;

use axum::{
    RequestPartsExt,
    extract::{FromRequestParts, RawPathParams},
};
use http::request::Parts;

use crate::ApiError;

/// The first parameter of the path. A malformed id is answered like an unknown one: 404.
#[derive(Debug, Clone, Copy)]
pub struct PathId<T>(pub T);

impl<T, S> FromRequestParts<S> for PathId<T>
where
    T: FromStr,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        let parameters: RawPathParams = parts.extract().await.map_err(|_| ApiError::not_found())?;
        let (_, text) = parameters.iter().next().ok_or_else(ApiError::not_found)?;
        text.parse().map(Self).map_err(|_| ApiError::not_found())
    }
}

#[cfg(test)]
mod tests {
    use axum::{Router, body::Body, routing::get};
    use http::{Request, StatusCode};
    use tower::ServiceExt;

    use super::*;

    async fn status_of(path: &str) -> StatusCode {
        let router = Router::new()
            .route(
                "/things/{id}",
                get(|PathId(id): PathId<u8>| async move { id.to_string() }),
            )
            .route(
                "/things/{id}/parts/{part}",
                get(|PathId(id): PathId<u8>| async move { id.to_string() }),
            );
        let request = Request::get(path).body(Body::empty()).unwrap();
        router.oneshot(request).await.unwrap().status()
    }

    #[tokio::test]
    async fn an_id_that_cannot_be_one_is_not_found() {
        assert_eq!(status_of("/things/7").await, StatusCode::OK);
        assert_eq!(status_of("/things/7/parts/x").await, StatusCode::OK);
        assert_eq!(status_of("/things/%37").await, StatusCode::OK);
        assert_eq!(status_of("/things/seven").await, StatusCode::NOT_FOUND);
        assert_eq!(status_of("/things/256").await, StatusCode::NOT_FOUND);
        assert_eq!(status_of("/things/%ff").await, StatusCode::NOT_FOUND);
    }
}
