//! Texts that are written line by line, each as far to the right as braces are open.

/// What writes such a text.
pub(crate) trait Lines {
    /// The text so far, and how many braces are open.
    fn written_lines(&mut self) -> (&mut String, &mut usize);

    /// A line, or several that bring their own spaces.
    fn line(&mut self, text: impl AsRef<str>) {
        let (lines, indent) = self.written_lines();
        lines.extend(std::iter::repeat_n("    ", *indent));
        lines.push_str(text.as_ref());
        lines.push('\n');
    }

    /// A line after which others stand further to the right.
    fn open(&mut self, text: impl AsRef<str>) {
        self.line(text);
        *self.written_lines().1 += 1;
    }

    /// The line that ends what `open` began.
    fn close(&mut self, text: impl AsRef<str>) {
        *self.written_lines().1 -= 1;
        self.line(text);
    }
}
