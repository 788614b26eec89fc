//! docs/tour.md, executed: its files are written, its commands run, and what it shows must be in their output.

use super::support::{Fixture, POPCORN, text};

const TOUR: &str = include_str!("../../docs/tour.md");

enum Block {
    File { path: String, body: String },
    Commands(Vec<(String, Vec<String>)>),
}

/// The fenced blocks of the page, in order.
fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if let Some((_, path)) = info.split_once(" file=") {
            found.push(Block::File { path: path.to_owned(), body: body.join("\n") + "\n" });
        } else if info == "console" {
            let mut commands: Vec<(String, Vec<String>)> = Vec::new();
            for line in body {
                match (line.strip_prefix("$ "), commands.last_mut()) {
                    (Some(command), _) => commands.push((command.to_owned(), Vec::new())),
                    (None, Some((_, shown))) => shown.push(line.to_owned()),
                    (None, None) => panic!("a console block starts with a command: {line}"),
                }
            }
            found.push(Block::Commands(commands));
        }
    }
    found
}

#[test]
fn the_tour_works_as_written() {
    let fixture = Fixture::new();
    let folder = tempfile::tempdir().unwrap();
    let bin = std::path::Path::new(POPCORN).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut ran = 0;
    for block in blocks(TOUR) {
        match block {
            Block::File { path, body } => {
                let path = folder.path().join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, body).unwrap();
            }
            Block::Commands(commands) => {
                for (command, shown) in commands {
                    let output = std::process::Command::new("bash")
                        .args(["-c", &command])
                        .current_dir(folder.path())
                        .env("PATH", &path)
                        .env("POPCORN_CACHE_DIR", fixture.cache())
                        .env("NO_COLOR", "1")
                        .output()
                        .unwrap();
                    let said = text(&output.stdout) + &text(&output.stderr);
                    let expected = command.split_once("# exit ").map_or("0", |(_, code)| code);
                    let code = output.status.code().unwrap().to_string();
                    assert!(expected == "any" || expected == code, "`{command}` ended with {code}: {said}");
                    for line in shown {
                        assert!(said.contains(&line), "`{command}` does not show {line:?}: {said}");
                    }
                    ran += 1;
                }
            }
        }
    }
    assert!(ran >= 10, "the tour has {ran} commands");
}
