//! The whole service in one process, as the template describes it.
//!
//! [`Local::start`] reads `template.yaml` and its nested stacks, provisions their resources on the embedded AWS
//! services, and mounts every function with its environment from the template. It also runs the parts of AWS around the
//! functions: the API gateway ([`front`]), the event source mappings ([`pollers`]) and the scheduler ([`timers`]). The
//! tax authority is the simulator, on the same port.

mod authority;
mod certify;
mod check_reception;
mod demo;
mod folder;
mod front;
mod invocations;
mod lapse;
mod mounted;
mod operating;
mod options;
mod pollers;
mod ready;
mod register;
mod routes;
mod start;
mod timers;

pub use authority::{CERTIFICATE_PIN, certificate};
pub use certify::{certify, data_test};
pub use check_reception::check_reception;
pub use demo::Demo;
pub use invocations::Invocations;
pub use mounted::{InvokedFunction, Mounted, QueueFunction, TimedFunction, mount};
pub use operating::{Arguments as OperatorArguments, operate, operator};
pub use options::{Arguments, Certify, CheckReception, Command, RunOptions};
pub use ready::variables;
pub use start::{Local, StartError};
