//! Uploads: `multipart/form-data` with exactly one file, named `xml`, and a `Content-Length`.

use axum::{
    extract::{FromRequest, Multipart, Request, multipart::Field},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{StatusCode, header};
use serde_json::Value;

use crate::{
    answer::{Answer, Form},
    document::{Document, DocumentError},
    failure::Failure,
    verdict::Mensaje,
};

/// Length of an e-NCF plus `.xml`.
const NAME_REST: usize = 13 + 4;

/// One uploaded file.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(crate) file_name: String,
    pub(crate) bytes: Bytes,
}

impl Upload {
    /// Reads the upload from a request.
    pub(crate) async fn take(request: Request) -> Result<Self, Failure> {
        // Seen in real traffic: a chunked upload is rejected with this text.
        if !request.headers().contains_key(header::CONTENT_LENGTH) {
            return Err(Failure::refused("Multipart cannot be empty"));
        }
        let unreadable = || Failure::refused("Archivo no válido");
        let mut multipart = Multipart::from_request(request, &()).await.map_err(|_| unreadable())?;
        let mut taken = None;
        while let Some(field) = multipart.next_field().await.map_err(|_| unreadable())? {
            if taken.is_some() || !is_xml_file(&field) {
                return Err(Failure::refused("Se espera un único archivo 'xml' de tipo text/xml."));
            }
            let file_name = field.file_name().unwrap_or_default().to_owned();
            taken = Some(Self {
                file_name,
                bytes: field.bytes().await.map_err(|_| unreadable())?,
            });
        }
        taken.ok_or_else(|| Failure::refused("Multipart cannot be empty"))
    }

    /// Reads the document; a rejection carries the authority's code.
    pub(crate) fn document(&self) -> Result<Document, Mensaje> {
        Document::read(&self.bytes).map_err(|error| match error {
            DocumentError::ByteOrderMark | DocumentError::Xml(_) => Mensaje::new("001", "Archivo no válido"),
        })
    }

    /// Compares the file name with `{RNC}{eNCF}.xml`.
    pub(crate) fn check_name(&self, rnc: &str, encf: &str) -> Result<(), Mensaje> {
        let length = self.file_name.len();
        if length != 9 + NAME_REST && length != 11 + NAME_REST {
            return Err(Mensaje::new("3243", "La longitud del nombre del archivo no es válida"));
        }
        if !self.file_name.eq_ignore_ascii_case(&format!("{rnc}{encf}.xml")) {
            return Err(Mensaje::new(
                "0",
                "El nombre del archivo no corresponde al RNC y e-NCF del documento",
            ));
        }
        Ok(())
    }
}

fn is_xml_file(field: &Field<'_>) -> bool {
    let content_type = field.content_type().unwrap_or_default();
    field.name() == Some("xml")
        && field.file_name().is_some()
        && content_type
            .split(';')
            .next()
            .is_some_and(|one| one.trim().eq_ignore_ascii_case("text/xml"))
}

/// A rejected file: the reception's response without a track id.
pub(crate) fn refusal(mensaje: &Mensaje, form: Form) -> Response {
    Answer::new("RespuestaRecepcion")
        .field("trackId", Value::Null)
        .field("error", mensaje.codigo.clone())
        .field("mensaje", mensaje.valor.clone())
        .respond_with(StatusCode::BAD_REQUEST, form)
        .into_response()
}
