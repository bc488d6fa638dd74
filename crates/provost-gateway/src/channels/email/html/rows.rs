//! The cells of a row stand beside each other: what was read cell by cell becomes the lines that a reader sees.

use super::{HISTORY, SIGNATURE, SIGNATURE_END};

/// Joins the cells that begin at these lines, line by line. A row that holds the head of another mail or a
/// signature is there for the layout.
pub(super) fn join(lines: &mut Vec<String>, cells: &[usize]) {
    let Some(row) = cells.first().filter(|start| **start <= lines.len()) else {
        return;
    };
    let read = lines.split_off(*row);
    if read.iter().any(|line| is_mark(line)) {
        lines.extend(read);
        return;
    }
    let begins = cells.iter().map(|cell| cell - row);
    let ends = begins.clone().skip(1).chain([read.len()]);
    let columns: Vec<Vec<&String>> = begins
        .zip(ends)
        .map(|(from, to)| {
            let cell = read.get(from..to).unwrap_or_default().iter();
            cell.filter(|line| !line.trim().is_empty()).collect()
        })
        .collect();
    let longest = columns.iter().map(Vec::len).max().unwrap_or_default();
    for at in 0..longest {
        let beside = columns.iter().filter_map(|column| column.get(at));
        let line: Vec<&str> = beside.map(|part| part.as_str()).collect();
        lines.push(line.join(" "));
    }
}

/// The lines of what floats, from this one on, as the line that what follows stands beside.
pub(super) fn taken_back(lines: &mut Vec<String>, begins: usize, begun: &str) -> String {
    if begins > lines.len() || lines.iter().skip(begins).any(|line| is_mark(line)) {
        return begun.to_owned();
    }
    let mut floating = lines.split_off(begins);
    floating.push(begun.to_owned());
    floating.retain(|line| !line.trim().is_empty());
    floating.join(" ")
}

fn is_mark(line: &str) -> bool {
    [HISTORY, SIGNATURE, SIGNATURE_END].contains(&line)
}
