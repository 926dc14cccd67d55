//! Records the AWS calls of each function in tests and in the local system, for a comparison with the function's role
//! in the template.
//!
//! Recording is off unless the variable `AWS_CALLS_FOLDER` names a folder. Then [`clients_of`] returns clients that
//! pass each outgoing request to a recorder. Each kind of request becomes one line of this process's file in the
//! folder: function, IAM action, resource, and the part of the key that policies can select. `infra/checks/policies`
//! compares the files with the roles. Start reading at [`demands`](demand::demands).

mod demand;
mod log;

use aws_config::SdkConfig;
use aws_smithy_runtime_api::{
    box_error::BoxError,
    client::{
        interceptors::{
            Intercept, SharedInterceptor,
            context::{BeforeDeserializationInterceptorContextRef, BeforeTransmitInterceptorContextRef},
        },
        orchestrator::Metadata,
        runtime_components::RuntimeComponents,
    },
};
use aws_smithy_types::config_bag::{ConfigBag, Storable, StoreReplace};
use ecf_store::Clients;

use crate::demand::{Demand, Request, demands, missed};

/// The clients for this function: `clients` itself, or recording clients if recording is on.
pub fn clients_of(function: &str, clients: &Clients, config: &SdkConfig) -> Clients {
    match recorder_of(function) {
        Some(recorder) => Clients::watched(config, &[recorder]),
        None => clients.clone(),
    }
}

/// The recorder for a function's requests; `None` if recording is off.
pub fn recorder_of(function: &str) -> Option<SharedInterceptor> {
    log::is_wanted().then(|| {
        SharedInterceptor::new(Recorder {
            function: function.to_owned(),
        })
    })
}

#[derive(Debug)]
struct Recorder {
    function: String,
}

impl Intercept for Recorder {
    fn name(&self) -> &'static str {
        "Recorder"
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let request = request(context.request(), cfg);
        for demand in demands(&request) {
            log::write(&self.function, &demand);
        }
        let when_missed = WhenMissed(missed(&request));
        cfg.interceptor_state().store_put(when_missed);
        Ok(())
    }

    fn read_before_deserialization(
        &self,
        context: &BeforeDeserializationInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if context.response().status().as_u16() == 404
            && let Some(WhenMissed(Some(demand))) = cfg.load::<WhenMissed>()
        {
            log::write(&self.function, demand);
        }
        Ok(())
    }
}

/// The additional permission that this request requires if the object is missing. It is carried to the response, which
/// does not repeat the request.
#[derive(Debug)]
struct WhenMissed(Option<Demand>);

impl Storable for WhenMissed {
    type Storer = StoreReplace<Self>;
}

fn request<'r>(
    request: &'r aws_smithy_runtime_api::client::orchestrator::HttpRequest,
    cfg: &'r ConfigBag,
) -> Request<'r> {
    let metadata = cfg.load::<Metadata>().expect("every operation says its name");
    Request {
        service: metadata.service(),
        operation: metadata.name(),
        uri: request.uri(),
        body: request.body().bytes().unwrap_or_default(),
        locks: request.headers().get("x-amz-object-lock-mode").is_some(),
    }
}
