//! Statistics over the figures of several runs.

/// The median: the middle figure, or the mean of the two middle ones.
pub fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        len => (sorted[(len - 1) / 2] + sorted[len / 2]) / 2.0,
    }
}

/// The quantile `part`, from 0 to 1: the figure below which this share of all figures lies.
pub fn quantile(figures: &[f64], part: f64) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = (sorted.len() as f64 * part) as usize;
    sorted.get(position.min(sorted.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

/// The minimum and the maximum.
pub fn range(figures: &[f64]) -> (f64, f64) {
    figures.iter().fold((f64::INFINITY, 0.0), |(least, greatest), &figure| (least.min(figure), greatest.max(figure)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_both_ends() {
        let figures = [3.0, 1.0, 2.0, 10.0, 4.0];
        assert_eq!(median(&figures), 3.0);
        assert_eq!(median(&figures[..4]), 2.5);
        assert_eq!(quantile(&figures, 0.99), 10.0);
        assert_eq!(quantile(&figures, 0.0), 1.0);
        assert_eq!(range(&figures), (1.0, 10.0));
        assert!(median(&[]).is_nan());
    }
}
