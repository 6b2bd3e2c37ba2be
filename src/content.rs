//! The content that this binary was built from.

use std::borrow::Cow;

use bytes::Bytes;
use mcpress_catalog::{Alias, Catalog, Partial, Resource, Server, Source, Span, Template};

include!(concat!(env!("OUT_DIR"), "/content.rs"));
