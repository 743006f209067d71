//! Charts as SVG: lines over a linear or a logarithmic axis.
//!
//! What enters: series of points, names and units. What leaves: a picture that follows the reader's dark or light theme
//! and needs nothing else. The same points give the same bytes.

use std::fmt::Write as _;

/// The most series of a chart: as many colours can be distinguished.
pub const SERIES_MAX: usize = 8;

/// The most points that are drawn of a series: of more in a column the least and the greatest are.
const COLUMNS: usize = 640;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 34.0;
const PLOT_HEIGHT: f64 = 230.0;
/// Below the axis: numbers and the axis's name.
const AXIS_HEIGHT: f64 = 42.0;
const LEGEND_LINE: f64 = 18.0;
const LEGEND_COLUMNS: usize = 4;

/// Colours that people with any colour vision distinguish (Okabe and Ito), on light and on dark ground.
const COLOURS: [(&str, &str); SERIES_MAX] = [
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#e69f00"),
    ("#009e73", "#2fd3a3"),
    ("#b0417f", "#e49ac4"),
    ("#7a5f00", "#f0e442"),
    ("#444444", "#dddddd"),
    ("#5b3fa8", "#b39ddb"),
    ("#8c2d04", "#fc8d59"),
];

/// A chart.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The name of the horizontal axis.
    pub x: String,
    /// The name of the vertical axis.
    pub y: String,
    /// Whether the horizontal axis is logarithmic: points at or before 0 are left out.
    pub is_logarithmic: bool,
    /// The end of the vertical axis, where it is not to follow from the points.
    pub y_max: Option<f64>,
    /// Moments that are marked: begin and end.
    pub marks: Vec<(f64, f64)>,
    /// The lines, at most [`SERIES_MAX`]; more are left out.
    pub series: Vec<Series>,
}

/// A line of a chart.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its points, by `x`.
    pub points: Vec<(f64, f64)>,
    /// For each point, half of the interval that is drawn around it; none without.
    pub half_widths: Vec<f64>,
}

/// The scale of an axis.
struct Scale {
    from: f64,
    to: f64,
    is_logarithmic: bool,
    /// Where it begins and ends in the picture.
    pixels: (f64, f64),
}

impl Scale {
    fn place(&self, value: f64) -> f64 {
        let part = match self.is_logarithmic {
            true => (log2(value) - log2(self.from)) / (log2(self.to) - log2(self.from)),
            false => (value - self.from) / (self.to - self.from),
        };
        self.pixels.0 + part * (self.pixels.1 - self.pixels.0)
    }

    /// Round values within it: about six, or the powers of ten.
    fn ticks(&self) -> Vec<f64> {
        if self.is_logarithmic {
            let is_within = |power: &f64| *power >= self.from * 0.999_999 && *power <= self.to * 1.000_001;
            return powers().filter(is_within).collect();
        }
        let step = round_step((self.to - self.from) / 6.0);
        let first = (self.from / step).ceil();
        (0..20)
            .map(|index| (first + f64::from(index)) * step)
            .take_while(|tick| *tick <= self.to + step / 1e6)
            .collect()
    }
}

/// The least of 1, 2 and 5 times a power of ten that is not below.
fn round_step(least: f64) -> f64 {
    let steps = powers().flat_map(|power| [1.0, 2.0, 5.0].map(|factor| factor * power));
    steps.into_iter().find(|step| *step >= least).unwrap_or(f64::MAX)
}

/// Powers of ten, each the nearest number to it.
fn powers() -> impl Iterator<Item = f64> {
    (-12..=30).filter_map(|exponent| format!("1e{exponent}").parse().ok())
}

/// The binary logarithm by the four basic operations, which are the same on every machine.
fn log2(value: f64) -> f64 {
    sim::random::ln(value) / std::f64::consts::LN_2
}

/// A number with a prefix of the SI: `1.5k`.
pub fn si(value: f64) -> String {
    let (factor, prefix) = match value.abs() {
        size if size >= 1e12 => (1e12, "T"),
        size if size >= 1e9 => (1e9, "G"),
        size if size >= 1e6 => (1e6, "M"),
        size if size >= 1e3 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let text = format!("{:.3}", value / factor);
    format!("{}{prefix}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A text within XML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Chart {
    /// The picture. `scope` separates its styles from those of other pictures in the same document.
    pub fn svg(&self, scope: &str) -> String {
        let series = &self.series[..self.series.len().min(SERIES_MAX)];
        let legend_lines = series.len().div_ceil(LEGEND_COLUMNS) as f64;
        let height = TOP + PLOT_HEIGHT + AXIS_HEIGHT + legend_lines * LEGEND_LINE + 4.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" class=\"{scope}\" role=\"img\" \
             aria-label=\"{}\">\n",
            escaped(&self.title)
        );
        svg += &style(scope, series.len());
        let _ = writeln!(svg, "<rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\"/>");
        let _ = writeln!(svg, "<text class=\"title\" x=\"{LEFT}\" y=\"20\">{}</text>", escaped(&self.title));
        let (x, y) = self.scales(series);
        self.marked(&mut svg, &x);
        axes(&mut svg, &x, &y);
        let below = TOP + PLOT_HEIGHT + 34.0;
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        let _ = writeln!(svg, "<text x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\">{}</text>", escaped(&self.x));
        let (left, centre) = (14.0, TOP + PLOT_HEIGHT / 2.0);
        let _ = writeln!(
            svg,
            "<text transform=\"translate({left} {centre}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escaped(&self.y)
        );
        for (number, series) in series.iter().enumerate() {
            line(&mut svg, number, &series.points, &x, &y);
            intervals(&mut svg, number, series, (&x, &y));
            legend(&mut svg, number, &series.name);
        }
        svg + "</svg>\n"
    }

    fn scales(&self, series: &[Series]) -> (Scale, Scale) {
        let points = || series.iter().flat_map(|series| &series.points);
        let xs = || points().map(|(x, _)| *x).filter(|x| !self.is_logarithmic || *x > 0.0);
        let (least, greatest) = (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max));
        let (from, to) = match (least < greatest, self.is_logarithmic) {
            (true, false) => (least.min(0.0).max(least - (greatest - least)), greatest),
            (true, true) => (least, greatest),
            (false, _) if least == greatest => (least * 0.9, least * 1.1 + f64::MIN_POSITIVE),
            _ => (0.1, 1.0),
        };
        let ends = |series: &Series| {
            let half_widths = series.half_widths.iter().copied().chain(std::iter::repeat(0.0));
            let ends = series.points.iter().zip(half_widths).map(|((_, y), half)| y + finite(half));
            ends.fold(0.0, f64::max)
        };
        let highest = self.y_max.unwrap_or_else(|| series.iter().map(ends).fold(0.0, f64::max));
        let top = if highest > 0.0 { highest * if self.y_max.is_some() { 1.0 } else { 1.05 } } else { 1.0 };
        let x = Scale { from, to, is_logarithmic: self.is_logarithmic, pixels: (LEFT, WIDTH - RIGHT) };
        let y = Scale { from: 0.0, to: top, is_logarithmic: false, pixels: (TOP + PLOT_HEIGHT, TOP) };
        (x, y)
    }

    fn marked(&self, svg: &mut String, x: &Scale) {
        for &(from, to) in &self.marks {
            let [from, to] = [from, to].map(|at| x.place(at.clamp(x.from, x.to)));
            let width = (to - from).max(1.0);
            let _ = writeln!(
                svg,
                "<rect class=\"mark\" x=\"{from:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{PLOT_HEIGHT}\"/>"
            );
        }
    }
}

/// An interval of a single sample is infinite, and not drawn.
fn finite(half_width: f64) -> f64 {
    if half_width.is_finite() { half_width } else { 0.0 }
}

/// A bar for the interval of each point.
fn intervals(svg: &mut String, number: usize, series: &Series, (x, y): (&Scale, &Scale)) {
    for ((at, value), half) in series.points.iter().zip(&series.half_widths) {
        let half = finite(*half);
        if half > 0.0 && (!x.is_logarithmic || *at > 0.0) {
            let [low, high] = [value - half, value + half].map(|end| y.place(end.clamp(y.from, y.to)));
            let _ = writeln!(svg, "<path class=\"s{number}\" d=\"M{:.1} {low:.1}V{high:.1}\"/>", x.place(*at));
        }
    }
}

/// Colours of the themes.
fn style(scope: &str, series: usize) -> String {
    let lines = |is_dark: bool| -> String {
        let colour = |(light, dark): (&'static str, &'static str)| if is_dark { dark } else { light };
        let rule = |(number, pair)| format!(".{scope} .s{number}{{stroke:{}}}", colour(pair));
        COLOURS.into_iter().enumerate().take(series).map(rule).collect()
    };
    format!(
        "<style>.{scope}{{font:12px system-ui,sans-serif}}.{scope} text{{fill:#333}}.{scope} .title{{font-weight:600}}\
         .{scope} .ground{{fill:#fff}}.{scope} .grid{{stroke:#ddd;stroke-width:.7}}.{scope} .mark{{fill:#d33;opacity:.15}}\
         .{scope} path{{fill:none;stroke-width:1.6;stroke-linejoin:round}}{}\n\
         @media(prefers-color-scheme:dark){{.{scope} text{{fill:#ccc}}.{scope} .ground{{fill:#16181d}}\
         .{scope} .grid{{stroke:#3a3f4a}}{}}}</style>\n",
        lines(false),
        lines(true)
    )
}

fn axes(svg: &mut String, x: &Scale, y: &Scale) {
    let (bottom, right) = (TOP + PLOT_HEIGHT, WIDTH - RIGHT);
    for tick in y.ticks() {
        let at = y.place(tick);
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{right}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            at + 4.0,
            si(tick)
        );
    }
    for tick in x.ticks() {
        let at = x.place(tick);
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{at:.1} {bottom}v4\"/><text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 17.0,
            si(tick)
        );
    }
    let _ = writeln!(svg, "<path class=\"grid\" d=\"M{LEFT} {bottom}H{right}\"/>");
}

fn line(svg: &mut String, number: usize, points: &[(f64, f64)], x: &Scale, y: &Scale) {
    let points = points.iter().filter(|(at, _)| !x.is_logarithmic || *at > 0.0);
    let places: Vec<(f64, f64)> = points.map(|(at, value)| (x.place(*at), y.place(value.min(y.to)))).collect();
    let mut path = String::new();
    for (index, (x, y)) in thinned(&places).into_iter().enumerate() {
        let _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" });
    }
    if !path.is_empty() {
        let _ = writeln!(svg, "<path class=\"s{number}\" d=\"{path}\"/>");
    }
}

/// Of many points the extreme ones of each column.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= 2 * COLUMNS {
        return points.to_vec();
    }
    let mut thin: Vec<(f64, f64)> = Vec::new();
    for column in points.chunks(points.len().div_ceil(COLUMNS)) {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let mut pair: Vec<(f64, f64)> =
            [column.iter().min_by(by_value), column.iter().max_by(by_value)].into_iter().flatten().copied().collect();
        pair.sort_by(|a, b| a.0.total_cmp(&b.0));
        thin.extend(pair);
    }
    thin
}

fn legend(svg: &mut String, number: usize, name: &str) {
    let (column, row) = (number % LEGEND_COLUMNS, number / LEGEND_COLUMNS);
    let x = LEFT + column as f64 * (WIDTH - LEFT - RIGHT) / LEGEND_COLUMNS as f64;
    let y = TOP + PLOT_HEIGHT + AXIS_HEIGHT + row as f64 * LEGEND_LINE + 10.0;
    let _ = writeln!(
        svg,
        "<path class=\"s{number}\" d=\"M{x:.1} {:.1}h18\"/><text x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
        y - 4.0,
        x + 24.0,
        escaped(name)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(from: f64, to: f64, is_logarithmic: bool) -> Scale {
        Scale { from, to, is_logarithmic, pixels: (0.0, 100.0) }
    }

    #[test]
    fn ticks_are_round_and_within_the_axis() {
        assert_eq!(scale(0.0, 57.0, false).ticks(), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
        assert_eq!(scale(0.0, 1.0, false).ticks().len(), 6);
        let powers: Vec<String> = scale(0.5, 20_000.0, true).ticks().into_iter().map(si).collect();
        assert_eq!(powers, ["1", "10", "100", "1k", "10k"]);
        assert_eq!(scale(10.0, 1_000.0, true).place(100.0).round(), 50.0);
        assert_eq!([si(1_500.0), si(2e9), si(0.25), si(0.0)], ["1.5k", "2G", "0.25", "0"]);
    }

    #[test]
    fn a_chart_is_well_formed_whatever_its_points_are() {
        let series =
            |points: &[(f64, f64)]| Series { name: "a<b".to_owned(), points: points.to_vec(), ..Series::default() };
        for is_logarithmic in [false, true] {
            for points in [&[][..], &[(0.0, 0.0)], &[(1.0, 2.0), (2.0, 1.0)], &[(3.0, 1.0), (3.0, 2.0)]] {
                let chart = Chart {
                    title: "x & y".to_owned(),
                    is_logarithmic,
                    series: vec![series(points)],
                    ..Chart::default()
                };
                let svg = chart.svg("c");
                assert!(!svg.contains("NaN") && !svg.contains("inf") && svg.contains("a&lt;b"), "{points:?} {svg}");
                assert!(svg.contains("x &amp; y") && svg.ends_with("</svg>\n"));
            }
        }
    }

    #[test]
    fn many_points_keep_their_extremes() {
        let mut points: Vec<(f64, f64)> = (0..100_000).map(|it| (f64::from(it), 0.0)).collect();
        points[70_001].1 = 9.0;
        let thin = thinned(&points);
        assert!(thin.len() <= 2 * COLUMNS && thin.contains(&(70_001.0, 9.0)));
        assert!(thin.is_sorted_by(|a, b| a.0 <= b.0));
    }

    #[test]
    fn intervals_are_bars_around_points() {
        let series = Series {
            name: "a".to_owned(),
            points: vec![(1.0, 4.0), (2.0, 6.0)],
            half_widths: vec![2.0, f64::INFINITY],
        };
        let svg = Chart { series: vec![series], ..Chart::default() }.svg("scope");
        let bars = svg.lines().filter(|line| line.contains("class=\"s0\"") && line.contains('V'));
        assert_eq!(bars.count(), 1, "the interval of a single sample is not drawn: {svg}");
    }
}
