//! `subscriptions/listen`: nothing changes while the program runs, so a subscription is acknowledged, stays silent,
//! and ends with the program.

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::OwnedSemaphorePermit;

use super::{Server, Status, era::Rejection};
use crate::{
    jsonrpc::{Error, INTERNAL_ERROR},
    outcome::Outcome,
};

/// The two messages of a stream.
pub(crate) struct Subscription {
    /// The notification that opens it: of what was asked for, nothing will be announced.
    pub(crate) acknowledged: String,
    /// The response that ends it.
    pub(crate) response: String,
    /// To be held as long as it is open.
    pub(crate) permit: OwnedSemaphorePermit,
}

impl Server<'_> {
    pub(super) fn subscribe(self, id: &RawValue) -> Result<Subscription, Rejection> {
        let permit = Arc::clone(&self.site.subscriptions).try_acquire_owned().map_err(|_| Rejection {
            status: Status::Busy,
            error: Error::new(INTERNAL_ERROR, "too many subscriptions are open").counts_as(Outcome::Busy),
        })?;
        let info = self.site.catalog.text(self.entry.brief_info);
        Ok(Subscription {
            acknowledged: format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"notifications":{{}},"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
            ),
            response: format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{info},"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
            ),
            permit,
        })
    }
}
