//! Aligned columns.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

/// Rows of text under a header, two spaces between columns. `align` holds one letter per column: `l` or `r`
/// (missing letters mean left).
pub fn table(header: &[String], rows: &[Vec<String>], align: &str) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let aligned = |cells: &[String]| -> Vec<Cell> {
        let letters = align.chars().chain(std::iter::repeat('l'));
        cells
            .iter()
            .zip(letters)
            .map(|(text, letter)| {
                Cell::new(text).set_alignment(if letter == 'r' { CellAlignment::Right } else { CellAlignment::Left })
            })
            .collect()
    };
    if !header.is_empty() {
        table.set_header(aligned(header));
    }
    for row in rows {
        table.add_row(aligned(row));
    }
    let columns = table.column_count();
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if index + 1 == columns { 0 } else { 2 }));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|&cell| cell.to_owned()).collect()
    }

    #[test]
    fn columns_align_and_lines_have_no_trailing_space() {
        let text = table(&row(&["op", "ms"]), &[row(&["rms_norm", "1.5"]), row(&["é", "10.25"])], "lr");
        assert_eq!(text, "op           ms\nrms_norm    1.5\né         10.25");
        assert_eq!(table(&[], &[], ""), "");
    }
}
