//! Writes text line by line, indented by the number of open braces.

/// A writer of such text.
pub(crate) trait Lines {
    /// The text so far, and the number of open braces.
    fn written_lines(&mut self) -> (&mut String, &mut usize);

    /// Writes a line, or several lines with their own indentation.
    fn line(&mut self, text: impl AsRef<str>) {
        let (lines, indent) = self.written_lines();
        lines.extend(std::iter::repeat_n("    ", *indent));
        lines.push_str(text.as_ref());
        lines.push('\n');
    }

    /// Writes a line and indents the lines after it.
    fn open(&mut self, text: impl AsRef<str>) {
        self.line(text);
        *self.written_lines().1 += 1;
    }

    /// Ends the indentation of the matching `open`, and writes a line.
    fn close(&mut self, text: impl AsRef<str>) {
        *self.written_lines().1 -= 1;
        self.line(text);
    }
}
