//! RFC 6570 URI templates up to level 3.
