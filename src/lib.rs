//! mcpress
