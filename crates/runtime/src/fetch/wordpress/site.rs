//! A site, and how it is asked: one thing at a time, or lists in pages.

use futures_util::{StreamExt, TryStreamExt, stream};
use jiff::tz::TimeZone;
use serde_json::Value;

use super::{
    super::{client::Client, error::FetchError},
    api::{Answer, Api, at},
    known::Known,
    lookup::PostType,
    root::{Root, address},
};

/// What REST gives at most in one answer.
pub(super) const PAGE: u64 = 100;

/// Requests for one list at a time.
pub(super) const AT_A_TIME: usize = 4;

/// Items that are read at most where all of a list are needed.
pub(super) const MAX_LISTED: u64 = 10_000;

/// A site, and what is known of it.
pub(super) struct Site {
    pub(super) api: Api,
    pub(super) roots: Known<Root>,
    pub(super) answers: Known<Value>,
    pub(super) types: Known<PostType>,
}

/// Parameters of a request.
pub(super) type Parameters = Vec<(String, String)>;

/// A part of a list.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) items: Vec<Value>,
    /// How many there are in all, if that is known.
    pub(super) total: Option<u64>,
    /// How many requests it took.
    pub(super) pages: usize,
}

impl Site {
    pub(super) fn new(api: Api) -> Self {
        Self { api, roots: Known::default(), answers: Known::default(), types: Known::default() }
    }

    /// Asks a route.
    pub(super) async fn get(
        &self,
        client: &Client,
        route: &str,
        parameters: &[(String, String)],
    ) -> Result<Answer, FetchError> {
        let root = self.root(client).await?;
        self.api.get(client, address(&root.url, route, parameters)).await
    }

    /// Asks for a list, from an item on, and for so many.
    pub(super) async fn list(
        &self,
        client: &Client,
        route: &str,
        parameters: &[(String, String)],
        start: u64,
        count: u64,
    ) -> Result<Listed, FetchError> {
        let page = |number: u64| {
            let mut parameters = parameters.to_vec();
            let (offset, size) = (start + number * PAGE, (count - number * PAGE).min(PAGE));
            parameters.push(("per_page".to_owned(), size.to_string()));
            if offset > 0 {
                parameters.push(("offset".to_owned(), offset.to_string()));
            }
            async move {
                let answer = self.get(client, route, &parameters).await;
                let answer = match answer {
                    Err(error) if number > 0 => {
                        let from = offset + 1;
                        return Err(at(format_args!("page {} ({from} to {})", number + 1, offset + size))(error));
                    }
                    answer => answer?,
                };
                let total = answer.total();
                match answer.json {
                    Value::Array(items) => Ok((items, total)),
                    _ => Err(FetchError::upstream(&self.api.host(), "sent JSON that is no list")),
                }
            }
        };
        if count == 0 {
            return Ok(Listed::default());
        }
        let (mut items, total) = page(0).await?;
        let mut pages = 1;
        match total {
            Some(total) => {
                let last = total.saturating_sub(start).min(count).div_ceil(PAGE);
                pages = last.max(1) as usize;
                let rest: Vec<Vec<Value>> = stream::iter(1..last)
                    .map(|number| async move { page(number).await.map(|(items, _)| items) })
                    .buffered(AT_A_TIME)
                    .try_collect()
                    .await?;
                items.extend(rest.into_iter().flatten());
            }
            // Then only an empty page says where the end is: what may not be read is missing on the others.
            None => {
                let mut found = items.len();
                while found > 0 && (pages as u64) * PAGE < count {
                    let (more, _) = page(pages as u64).await?;
                    found = more.len();
                    items.extend(more);
                    pages += 1;
                }
            }
        }
        let total = total.filter(|total| *total > 0 || start == 0);
        Ok(Listed { items, total, pages })
    }

    /// The site's time zone.
    pub(super) async fn time_zone(&self, client: &Client) -> Result<TimeZone, FetchError> {
        Ok(self.root(client).await?.time_zone.clone())
    }
}

/// A parameter.
#[expect(clippy::needless_pass_by_value, reason = "so that numbers are written as texts are")]
pub(super) fn pair(name: &str, value: impl ToString) -> (String, String) {
    (name.to_owned(), value.to_string())
}

/// Ids as REST takes them.
pub(super) fn join(ids: &[u64]) -> String {
    ids.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// The ids of a list.
pub(super) fn ids(list: &Value) -> Vec<u64> {
    list.as_array().into_iter().flatten().filter_map(|item| item["id"].as_u64()).collect()
}

/// The texts of a list.
pub(super) fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}
