//! What each function asks of AWS while the tests and the local system run it, written down to be held against its role in the template.
//!
//! Nothing happens unless the variable `AWS_CALLS_FOLDER` names a folder. Then [`clients_of`] gives a function clients that see each of its requests
//! on its way out, and each kind of request becomes one line of this process's file in the folder: function, IAM action, resource, and the part of
//! the key that policies speak of. `infra/checks/policies` compares. Start at [`demands`](demand::demands).

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

/// Clients for this function: those given, unless what functions ask for is to be written down.
pub fn clients_of(function: &str, clients: &Clients, config: &SdkConfig) -> Clients {
    match recorder_of(function) {
        Some(recorder) => Clients::watched(config, &[recorder]),
        None => clients.clone(),
    }
}

/// What sees a function's requests; nothing unless they are to be written down.
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

/// What the request needs besides if there is no such object, carried along: its answer does not say what was asked.
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
