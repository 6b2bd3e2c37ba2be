//! The content that this binary was built from.

use std::borrow::Cow;

use bytes::Bytes;
use mcpress_catalog::{Catalog, Server, Span, table::Table};

include!(concat!(env!("OUT_DIR"), "/content.rs"));
