//! The members of `params` that any method looks at, found in one pass and not yet looked into.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::era::Rejection;
use crate::jsonrpc::{self, Error, INVALID_REQUEST, present};

/// URIs that one subscription may name: each is looked up, and may be rendered, at each change.
const MAX_SUBSCRIBED: usize = 1000;

/// `params` of a request.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params<'a> {
    #[serde(borrow, default, deserialize_with = "present", rename = "_meta")]
    raw_meta: Option<&'a RawValue>,
    #[serde(skip)]
    pub(super) meta: Option<Meta<'a>>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) uri: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    cursor: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) level: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) protocol_version: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    notifications: Option<&'a RawValue>,
}

/// `_meta` of a request of 2026-07-28.
#[derive(Clone, Copy, Default, Deserialize)]
pub(super) struct Meta<'a> {
    #[serde(borrow, default, deserialize_with = "present", rename = "io.modelcontextprotocol/protocolVersion")]
    pub(super) protocol_version: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present", rename = "io.modelcontextprotocol/clientCapabilities")]
    pub(super) client_capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present", rename = "io.modelcontextprotocol/clientInfo")]
    pub(super) client_info: Option<&'a RawValue>,
    /// Of W3C's Trace Context, without a prefix by SEP-414.
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) traceparent: Option<&'a RawValue>,
}

/// `SubscriptionFilter`: what a client wants to be told.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Notifications {
    #[serde(default, rename = "toolsListChanged")]
    _tools_list_changed: bool,
    #[serde(default, rename = "promptsListChanged")]
    _prompts_list_changed: bool,
    #[serde(default)]
    pub(super) resources_list_changed: bool,
    #[serde(default)]
    pub(super) resource_subscriptions: Vec<String>,
}

impl<'a> Params<'a> {
    /// Finds the members. A `_meta` that is not an object counts as none.
    pub(super) fn parse(params: Option<&'a RawValue>) -> Result<Self, Rejection> {
        // A member that stands there twice, which a proxy may read in another way than this program.
        let twice = |error| Rejection::bad_request(INVALID_REQUEST, format!("Invalid Request: params: {error}"));
        let Some(params) = params else { return Ok(Self::default()) };
        let mut params: Self = serde_json::from_str(params.get()).map_err(twice)?;
        if let Some(meta) = params.raw_meta.filter(|meta| jsonrpc::is_object(meta)) {
            params.meta = Some(serde_json::from_str(meta.get()).map_err(twice)?);
        }
        Ok(params)
    }

    pub(super) fn uri(&self) -> Result<Cow<'a, str>, Error> {
        let uri = self.uri.and_then(jsonrpc::string);
        uri.ok_or_else(|| Error::invalid_params("Invalid params: `uri` is not a string"))
    }

    /// What is asked for by `subscriptions/listen`.
    pub(super) fn notifications(&self) -> Result<Notifications, Error> {
        let notifications = self.notifications.filter(|notifications| jsonrpc::is_object(notifications));
        let notifications =
            notifications.ok_or_else(|| Error::invalid_params("Invalid params: `notifications` is not an object"))?;
        let notifications: Notifications = serde_json::from_str(notifications.get())
            .map_err(|error| Error::invalid_params(format!("Invalid params: notifications: {error}")))?;
        if notifications.resource_subscriptions.len() > MAX_SUBSCRIBED {
            let message = "Invalid params: notifications: `resourceSubscriptions` has more than 1000 URIs";
            return Err(Error::invalid_params(message));
        }
        Ok(notifications)
    }

    /// `null` is the same as no cursor.
    pub(super) fn cursor(&self) -> Result<Option<Cow<'a, str>>, Error> {
        let Some(cursor) = self.cursor.filter(|cursor| cursor.get() != "null") else { return Ok(None) };
        let cursor = jsonrpc::string(cursor);
        cursor.map(Some).ok_or_else(|| Error::invalid_params("Invalid params: `cursor` is not a string"))
    }
}

impl Meta<'_> {
    /// True if a client of 2026-07-28 wrote it, however badly.
    pub(super) fn claims_modern(&self) -> bool {
        self.protocol_version.is_some() || self.client_capabilities.is_some() || self.client_info.is_some()
    }
}
