//! tmp
mod content;
fn main() {
    println!("{:?}", content::CATALOG.servers.len());
}
