//! `subscriptions/listen`: a subscription is acknowledged with that of what was asked for which can happen at all, which
//! is nothing where the content stays as it is. It ends with the program, or with its server.

use std::{collections::HashSet, future::pending, sync::Arc};

use futures_util::{Stream, stream};
use serde_json::{Value, json, value::RawValue};
use tokio::{
    sync::{OwnedSemaphorePermit, watch},
    task::spawn_blocking,
};

use super::{Server, Site, Status, changes, era::Rejection, params::Notifications};
use crate::{
    jsonrpc::{Error, INTERNAL_ERROR},
    outcome::Outcome,
};

/// A stream of messages.
pub(crate) struct Subscription {
    /// The notification that opens it.
    pub(crate) acknowledged: String,
    /// The response that ends it.
    pub(crate) response: String,
    /// To be held as long as it is open.
    pub(crate) permit: OwnedSemaphorePermit,
    /// What happens meanwhile.
    pub(crate) watched: Watched,
}

/// What a client will be told of.
pub(crate) struct Watched {
    /// The `_meta` by which it knows the subscription, as JSON.
    meta: String,
    slug: String,
    list: bool,
    uris: Vec<String>,
}

impl Server<'_> {
    pub(super) fn subscribe(self, id: &RawValue, wanted: Notifications) -> Result<Subscription, Rejection> {
        let shared = &self.site.shared;
        let permit = Arc::clone(&shared.subscriptions).try_acquire_owned().map_err(|_| Rejection {
            status: Status::Busy,
            error: Error::new(INTERNAL_ERROR, "too many subscriptions are open").counts_as(Outcome::Busy),
        })?;
        let mut uris = if shared.reloads { wanted.resource_subscriptions } else { Vec::new() };
        let mut seen = HashSet::new();
        uris.retain(|uri| seen.insert(uri.clone()));
        let list = shared.reloads && wanted.resources_list_changed;

        let mut notifications = json!({});
        if list {
            notifications["resourcesListChanged"] = Value::Bool(true);
        }
        if !uris.is_empty() {
            notifications["resourceSubscriptions"] = json!(uris);
        }
        let subscription = format!(r#""io.modelcontextprotocol/subscriptionId":{id}"#);
        let info = self.site.catalog.text(self.entry.brief_info);
        Ok(Subscription {
            acknowledged: format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"notifications":{notifications},"_meta":{{{subscription}}}}}}}"#
            ),
            response: format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{info},{subscription}}}}}}}"#
            ),
            permit,
            watched: Watched {
                meta: format!("{{{subscription}}}"),
                slug: self.site.catalog.text(self.entry.slug).to_owned(),
                list,
                uris,
            },
        })
    }
}

impl Watched {
    /// The notifications that each change brings, beginning with what has changed since the site that was `seen`. Who
    /// is slow to take them is told once of several changes. Ends when the server is gone, or asks
    /// for other tokens.
    pub(crate) fn news(
        self,
        seen: Arc<Site>,
        site: watch::Receiver<Arc<Site>>,
    ) -> impl Stream<Item = Vec<String>> + Send + 'static {
        stream::unfold((Arc::new(self), seen, site), |(watched, mut seen, mut site)| async move {
            loop {
                let now = Arc::clone(&site.borrow_and_update());
                let (to_tell, old, new) = (Arc::clone(&watched), Arc::clone(&seen), Arc::clone(&now));
                // It renders templates, which takes its time. One that panics ends the stream.
                let notifications = spawn_blocking(move || to_tell.compare(&old, &new)).await.ok()??;
                seen = now;
                if !notifications.is_empty() {
                    return Some((notifications, (watched, seen, site)));
                }
                if site.changed().await.is_err() {
                    // Nothing changes any more.
                    pending::<()>().await;
                }
            }
        })
    }

    /// What a client is to be told; nothing at all if there is no such server any more, or it asks for
    /// other tokens than when the stream was opened.
    fn compare(self: &Arc<Self>, old: &Arc<Site>, new: &Arc<Site>) -> Option<Vec<String>> {
        if Arc::ptr_eq(old, new) {
            return Some(Vec::new());
        }
        let (old, new) = (old.server(&self.slug)?, new.server(&self.slug)?);
        if changes::is_auth_changed(old, new) {
            return None;
        }
        let mut notifications = Vec::new();
        if self.list && changes::is_list_changed(old, new) {
            notifications.push(self.notification("list_changed", ""));
        }
        // As long as somebody else holds this, who waits for the outcome.
        let wanted = self.uris.iter().take_while(|_| Arc::strong_count(self) > 1);
        for uri in wanted.filter(|uri| changes::is_updated(old, new, uri)) {
            notifications.push(self.notification("updated", &format!(r#""uri":{},"#, json!(uri))));
        }
        Some(notifications)
    }

    fn notification(&self, name: &str, members: &str) -> String {
        let meta = &self.meta;
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/resources/{name}","params":{{{members}"_meta":{meta}}}}}"#)
    }
}
