//! The functions of the template, each mounted with its environment from the template. A new function is one line here.

use std::sync::Arc;

use axum::Router;
use ecf_runtime::env::Env;
use ecf_runtime::{Clock, Error, SqsBatchResponse, SqsEvent, process_batch};
use ecf_store::Clients;
use futures::future::BoxFuture;

/// A worker: takes a batch, returns the failed messages.
pub type QueueFunction = Arc<dyn Fn(SqsEvent) -> BoxFuture<'static, SqsBatchResponse> + Send + Sync>;
/// A function that a timer triggers.
pub type TimedFunction = Arc<dyn Fn() -> BoxFuture<'static, Result<(), Error>> + Send + Sync>;

/// A function that is invoked directly.
pub type InvokedFunction = Arc<dyn Fn(serde_json::Value) -> BoxFuture<'static, serde_json::Value> + Send + Sync>;

/// A function by its trigger.
pub enum Mounted {
    Invoked(InvokedFunction),
    Http(Router),
    Queue(QueueFunction),
    Timed(TimedFunction),
}

/// Builds the function with this name.
///
/// # Errors
///
/// When a variable is missing, or no crate has this name.
pub fn mount(name: &str, env: &Env, clients: &Clients, clock: Clock) -> Result<Mounted, Error> {
    Ok(match name {
        "approvals" => Mounted::Http(approvals::router(approvals::App::from_env(env, clients, clock)?)),
        "audit-export" => Mounted::Http(audit_export::router(audit_export::App::from_env(env, clients, clock)?)),
        "certification" => Mounted::Http(certification::router(certification::App::from_env(
            env, clients, clock,
        )?)),
        "certificates" => Mounted::Http(certificates::router(certificates::App::from_env(env, clients, clock)?)),
        "company" => Mounted::Http(company::router(company::App::from_env(env, clients, clock)?)),
        "directory" => Mounted::Http(directory::router(directory::App::from_env(env, clients, clock)?)),
        "documents" => Mounted::Http(documents::router(documents::App::from_env(env, clients, clock)?)),
        "inbox" => Mounted::Http(inbox::router(inbox::App::from_env(env, clients, clock)?)),
        "issuing" => Mounted::Http(issuing::router(issuing::App::from_env(env, clients, clock)?)),
        "pages" => Mounted::Http(pages::router()),
        "reception" => Mounted::Http(reception::router(reception::App::from_env(env, clients, clock)?)),
        "signup" => Mounted::Http(signup::router(signup::App::from_env(env, clients, clock)?)),
        "status" => Mounted::Http(status::router(status::App::from_env(env, clients, clock)?)),
        "webhooks" => Mounted::Http(webhooks::router(webhooks::App::from_env(env, clients, clock)?)),
        "issuing-worker" => {
            let app = Arc::new(issuing::App::from_env(env, clients, clock)?);
            Mounted::Queue(Arc::new(move |event| {
                let app = app.clone();
                Box::pin(async move {
                    let resend = |job, after| app.resend(job, after);
                    process_batch(event, |job, message| issuing::handle(&app, job, message), resend).await
                })
            }))
        }
        "submission-worker" => {
            let app = Arc::new(submission_worker::App::from_env(env, clients, clock)?);
            Mounted::Queue(Arc::new(move |event| {
                let app = app.clone();
                Box::pin(async move {
                    let resend = |job, after| app.resend(job, after);
                    process_batch(
                        event,
                        |job, message| submission_worker::handle(&app, job, message),
                        resend,
                    )
                    .await
                })
            }))
        }
        "webhook-worker" => {
            let app = Arc::new(webhook_worker::App::from_env(env, clients, clock)?);
            Mounted::Queue(Arc::new(move |event| {
                let app = app.clone();
                Box::pin(async move {
                    let resend = |job, after| app.resend(job, after);
                    process_batch(event, |job, message| webhook_worker::handle(&app, job, message), resend).await
                })
            }))
        }
        "exchange-worker" => {
            let app = Arc::new(exchange_worker::App::from_env(env, clients, clock)?);
            Mounted::Queue(Arc::new(move |event| {
                let app = app.clone();
                Box::pin(async move {
                    let resend = |job, after| app.resend(job, after);
                    process_batch(
                        event,
                        |job, message| exchange_worker::handle(&app, job, message),
                        resend,
                    )
                    .await
                })
            }))
        }
        "certification-worker" => {
            let worker = Arc::new(certification::Worker::from_env(env, clients, clock)?);
            Mounted::Queue(Arc::new(move |event| {
                let worker = worker.clone();
                Box::pin(async move {
                    let resend = |job, after| worker.resend(job, after);
                    process_batch(
                        event,
                        |job, message| certification::handle(&worker, job, message),
                        resend,
                    )
                    .await
                })
            }))
        }
        "housekeeping" => {
            let app = Arc::new(housekeeping::App::from_env(env, clients, clock)?);
            Mounted::Timed(Arc::new(move || {
                let app = app.clone();
                Box::pin(async move { housekeeping::run(&app).await.map_err(Error::from) })
            }))
        }
        "operator" => {
            let app = Arc::new(operator::App::from_env(env, clients, clock)?);
            Mounted::Invoked(Arc::new(move |command| {
                let app = app.clone();
                Box::pin(async move { operator::handle(&app, command).await })
            }))
        }
        unknown => {
            return Err(format!("the template has a function `{unknown}` that the local system does not mount").into());
        }
    })
}
