//! XML documents in requests: as the body itself, as a file of a form, or as base64 in JSON.

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use ecf_api::{
    ApiError, BODY_LIMIT_BYTES, FieldError, Fields, Form, FormFile, FromFields, FromForm, ValidForm, ValidJson,
};
use ecf_language::say;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use utoipa::ToSchema;

/// The document as JSON.
#[derive(ToSchema)]
pub(crate) struct XmlRequest {
    /// The document's bytes as Base64.
    #[schema(value_type = String, min_length = 1)]
    xml_base64: Vec<u8>,
    /// The name of its file.
    #[schema(min_length = 1, max_length = 255)]
    file_name: Option<String>,
}

impl FromFields for XmlRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        let xml_base64 = fields.base64("xml_base64").required();
        let file_name = fields.text("file_name").length(1..=255).optional();
        Some(Self {
            xml_base64: xml_base64?,
            file_name,
        })
    }
}

/// The document as a file of a form.
#[derive(ToSchema)]
pub(crate) struct XmlForm {
    #[schema(value_type = String, format = Binary)]
    xml: FormFile,
}

impl FromForm for XmlForm {
    fn read(form: &mut Form) -> Option<Self> {
        let xml = form.file("xml")?;
        Some(Self { xml })
    }
}

/// A document, byte for byte, not empty.
#[derive(Debug)]
pub(crate) struct XmlBody {
    pub(crate) bytes: Bytes,
    pub(crate) file_name: Option<String>,
}

impl<S: Send + Sync> FromRequest<S> for XmlBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let content_type = request
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
        let (body, place) = match essence.trim().to_ascii_lowercase().as_str() {
            "multipart/form-data" => {
                let ValidForm(XmlForm { xml }) = ValidForm::from_request(request, state).await?;
                let (bytes, file_name) = (xml.bytes, xml.name);
                (Self { bytes, file_name }, vec!["body", "xml"])
            }
            "application/json" => {
                let ValidJson(json) = ValidJson::<XmlRequest>::from_request(request, state).await?;
                let (bytes, file_name) = (json.xml_base64.into(), json.file_name);
                (Self { bytes, file_name }, vec!["body", "xml_base64"])
            }
            "" | "application/xml" | "text/xml" | "application/octet-stream" => {
                let bytes = Bytes::from_request(request, state).await.map_err(unread)?;
                (Self { bytes, file_name: None }, vec!["body"])
            }
            _ => {
                return Err(ApiError::unsupported_media_type(
                    "application/xml, multipart/form-data with a file `xml`, or application/json with `xml_base64`",
                ));
            }
        };
        if body.bytes.is_empty() {
            let error = FieldError::new(
                place,
                "missing",
                say!("the document is empty", "el documento está vacío"),
            );
            return Err(ApiError::validation(vec![error]));
        }
        Ok(body)
    }
}

fn unread(rejection: axum::extract::rejection::BytesRejection) -> ApiError {
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::payload_too_large(BODY_LIMIT_BYTES),
        _ => ApiError::bad_request(
            "incomplete_body",
            say!("the body did not arrive whole", "el cuerpo no llegó completo"),
        ),
    }
}
