// A search function for Calipers in Rust: a program that answers JSON lines. In a project use
// serde_json for reading and writing; this file needs the standard library only.
//   rustc -O search.rs
//   calipers retrieve cmd:./search questions.csv -k 2 --check
use std::collections::HashSet;
use std::io::{stdin, stdout, BufRead, Write};

const DOCUMENTS: [(&str, &str); 4] = [
    ("account", "Forgot your password? Follow the link where you sign in."),
    ("contact", "Write to us, or call on weekdays from 9 to 5."),
    ("refunds", "Send the item back within 30 days and you get your money back."),
    ("shipping", "Delivery abroad takes one to two weeks."),
];

fn words(text: &str) -> HashSet<String> {
    text.to_lowercase()
        .split(|one: char| !one.is_ascii_lowercase())
        .map(String::from)
        .filter(|one| !one.is_empty())
        .collect()
}

/// The k best documents, the best first. Put a call of your own search here.
fn search(query: &str, k: usize) -> Vec<(&'static str, usize)> {
    let asked = words(query);
    let score = |text| words(text).intersection(&asked).count();
    let mut found: Vec<_> = DOCUMENTS.iter().map(|(id, text)| (*id, score(text))).collect();
    found.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
    found.truncate(k);
    found
}

/// The text behind a name, as in {"id":"q1","query":"When?","k":2}; the id comes first.
fn text_in(line: &str, name: &str) -> String {
    let start = line.find(&format!("\"{name}\":")).expect("a text") + name.len() + 3;
    let mut letters = line[start..].trim_start().chars().skip(1);
    let mut text = String::new();
    while let Some(one) = letters.next() {
        match one {
            '"' => break,
            '\\' => match letters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('u') => {
                    let code: String = letters.by_ref().take(4).collect();
                    text.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
                }
                other => text.extend(other),
            },
            _ => text.push(one),
        }
    }
    text
}

/// A text as JSON.
fn quoted(text: &str) -> String {
    let mut json = String::from("\"");
    for one in text.chars() {
        match one {
            '"' | '\\' => json.extend(['\\', one]),
            control if control < ' ' => json += &format!("\\u{:04x}", control as u32),
            other => json.push(other),
        }
    }
    json + "\""
}

fn number_in(line: &str) -> usize {
    let digits = line[line.rfind("\"k\":").expect("a k") + 4..].trim_start();
    let end = digits.find(|one: char| !one.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().expect("a number")
}

fn main() {
    for line in stdin().lock().lines() {
        let line = line.expect("a line of UTF-8");
        let id = quoted(&text_in(&line, "id"));
        let results: Vec<String> = search(&text_in(&line, "query"), number_in(&line))
            .iter()
            .map(|(id, score)| format!(r#"{{"id":"{id}","score":{score}}}"#))
            .collect();
        println!(r#"{{"id":{id},"retrieved":[{}]}}"#, results.join(","));
        stdout().flush().expect("a reader");
    }
}
