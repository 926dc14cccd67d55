//! The steps that [`decide`](ecf::sending::decide) asks for. Each does one thing and reports what happened; none decides what
//! comes next, and none calls another.

pub(crate) mod announce;
pub(crate) mod claim;
pub(crate) mod gates;
pub(crate) mod load;
pub(crate) mod look_up;
pub(crate) mod lost;
pub(crate) mod note;
pub(crate) mod poll;
pub(crate) mod record;
pub(crate) mod submit;
pub(crate) mod token;
