//! Whether a request may come in at a server: it has a good token where one is asked for ([`auth`](crate::auth)), and
//! its client has not asked too often ([`rate`](crate::rate)). A server that asks for neither costs nothing.

use std::{borrow::Cow, net::IpAddr, pin::pin, time::Duration};

use futures_util::FutureExt;
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderName, HeaderValue},
};

use crate::{
    auth::{Auth, Caller, Denied},
    mcp::Server,
    rate::{Client, Exceeded, Rate},
};

/// A request that came in, and what its further messages count for.
pub(crate) struct Admitted<'a> {
    client: Option<(&'a Rate, Client)>,
}

/// Why a request may not come in.
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) header: Option<(HeaderName, HeaderValue)>,
    pub(crate) message: Cow<'static, str>,
}

/// Lets a request in, before its body is read. `address` finds out whom it comes from.
pub(crate) async fn admit<'a>(
    server: Server<'a>,
    headers: &HeaderMap,
    address: impl FnOnce() -> IpAddr,
) -> Result<Admitted<'a>, Refusal> {
    let rate = server.rate();
    let client = match server.auth() {
        None if rate.is_none() => return Ok(Admitted { client: None }),
        None => Client::at(address()),
        Some(auth) => Client::Caller(authenticate_within(rate, auth, headers, address).await?),
    };
    if let Some(rate) = rate {
        rate.take(client).map_err(exceeded)?;
    }
    Ok(Admitted { client: rate.map(|rate| (rate, client)) })
}

impl Admitted<'_> {
    /// Counts the messages of a batch, of which the first is counted already.
    pub(crate) fn count(&self, messages: impl FnOnce() -> usize) -> Result<(), Refusal> {
        self.client.map_or(Ok(()), |(rate, client)| rate.take_rest(client, messages()).map_err(exceeded))
    }
}

/// Who asks. A token that is not good counts for the address, and so does one for as long as it waits for keys:
/// otherwise made-up ones could wait in any number.
async fn authenticate_within(
    rate: Option<&Rate>,
    auth: &Auth,
    headers: &HeaderMap,
    address: impl FnOnce() -> IpAddr,
) -> Result<Caller, Refusal> {
    let mut checking = pin!(authenticate(auth, headers));
    let at_once = checking.as_mut().now_or_never();
    let Some(rate) = rate else {
        let checked = match at_once {
            Some(checked) => checked,
            None => checking.await,
        };
        return checked.map_err(|denied| deny(auth, &denied));
    };
    match at_once {
        Some(Ok(caller)) => Ok(caller),
        Some(Err(denied)) => {
            rate.take(Client::at(address())).map_err(exceeded)?;
            Err(deny(auth, &denied))
        }
        None => {
            let address = Client::at(address());
            rate.take(address).map_err(exceeded)?;
            let caller = checking.await.map_err(|denied| deny(auth, &denied))?;
            rate.give_back(address);
            Ok(caller)
        }
    }
}

async fn authenticate(auth: &Auth, headers: &HeaderMap) -> Result<Caller, Denied> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Err(Denied::NoToken) };
    if values.next().is_some() {
        return Err(Denied::Malformed);
    }
    let value = value.to_str().map_err(|_| Denied::Malformed)?;
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    match token.trim_matches(' ') {
        _ if !scheme.eq_ignore_ascii_case("bearer") => Err(Denied::NoToken),
        "" => Err(Denied::Malformed),
        token => auth.check(token).await,
    }
}

fn deny(auth: &Auth, denied: &Denied) -> Refusal {
    let (status, message) = match denied {
        Denied::NoToken => (StatusCode::UNAUTHORIZED, "a bearer token is needed: `Authorization: Bearer …`".into()),
        Denied::Malformed => (StatusCode::BAD_REQUEST, "`Authorization` must hold one bearer token".into()),
        Denied::Invalid(reason) => (StatusCode::UNAUTHORIZED, Cow::Borrowed(*reason)),
        Denied::Scope => (StatusCode::FORBIDDEN, "the token lacks a scope that this server asks for".into()),
        Denied::Unavailable(wait) => {
            let message = "the authorization server cannot be reached, so no token can be checked";
            return try_again(StatusCode::SERVICE_UNAVAILABLE, *wait, message);
        }
    };
    // It holds names and addresses that were checked when they were read.
    let challenge = HeaderValue::try_from(auth.challenge(denied)).unwrap_or(HeaderValue::from_static("Bearer"));
    Refusal { status, header: Some((header::WWW_AUTHENTICATE, challenge)), message }
}

fn exceeded(exceeded: Exceeded) -> Refusal {
    match exceeded {
        Exceeded::Wait(wait) => try_again(StatusCode::TOO_MANY_REQUESTS, wait, "too many requests"),
        Exceeded::Burst(burst) => Refusal {
            status: StatusCode::BAD_REQUEST,
            header: None,
            message: format!("the batch has more messages than this server takes at once, which is {burst}").into(),
        },
    }
}

/// To come again after a time, in whole seconds.
fn try_again(status: StatusCode, wait: Duration, message: &'static str) -> Refusal {
    let seconds = wait.as_millis().div_ceil(1000).max(1) as u64;
    let message = format!("{message}; try again in {seconds} s").into();
    Refusal { status, header: Some((header::RETRY_AFTER, seconds.into())), message }
}
