//! JSON, and which members it gives more than once: a parser keeps the last of them and says nothing.

use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A value that stands at `place`, and the places of members that replace one of the same name, in their order.
///
/// # Errors
/// It is no JSON.
pub(super) fn read(place: &str, json: &[u8]) -> serde_json::Result<(Value, Vec<String>)> {
    let mut twice = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let value = At { place: place.to_owned(), twice: &mut twice }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok((value, twice))
}

/// Reads the value at a place.
struct At<'t> {
    place: String,
    twice: &'t mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for At<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for At<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        let place = |index| format!("{}[{index}]", self.place);
        while let Some(item) = items.next_element_seed(At { place: place(list.len()), twice: &mut *self.twice })? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let place = if self.place.is_empty() { name.clone() } else { format!("{}.{name}", self.place) };
            let value = members.next_value_seed(At { place: place.clone(), twice: &mut *self.twice })?;
            if map.insert(name, value).is_some() && !self.twice.contains(&place) {
                self.twice.push(place);
            }
        }
        Ok(map.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_a_name_counts_and_is_named_once() {
        let json = r#"{"a": 1, "b": [{"c": 1, "c": 2}], "a": {"d": -1, "d": 1.5, "d": null}, "b ": true}"#;
        let (value, twice) = read("", json.as_bytes()).unwrap();
        assert_eq!(value, serde_json::from_str::<Value>(json).unwrap());
        assert_eq!(twice, ["b[0].c", "a.d", "a"]);
        assert_eq!(read("x", br#"{"a": 1, "a": 2}"#).unwrap().1, ["x.a"]);
        assert!(read("", b"{} {}").is_err() && read("", "[".repeat(1000).as_bytes()).is_err());
    }
}
