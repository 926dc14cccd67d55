//! A small register of fictitious taxpayers, so that look-ups find entries; `load_register` replaces it.

use ecf_stack::Provisioned;
use ecf_store::{Clients, Register, register::NewRegister};
use ecf_taxauth::{BulkFile, Columns};
use jiff::Timestamp;

const FILE: &str = include_str!("register.txt");

/// Loads the fictitious register, unless a register exists.
pub(crate) async fn seed(
    clients: &Clients,
    provisioned: &Provisioned,
    now: Timestamp,
) -> Result<(), ecf_runtime::Error> {
    let register = Register::new(clients.s3.clone(), provisioned.bucket_name());
    if register.edition(now).await?.is_some() {
        return Ok(());
    }
    let mut new = NewRegister::default();
    for taxpayer in BulkFile::new(FILE.as_bytes(), Columns::default()) {
        new.add(&taxpayer?.ok_or("a line of the made-up register is no taxpayer")?);
    }
    register.replace(new, ecf_store::fiscal_day(now), now).await?;
    Ok(())
}
