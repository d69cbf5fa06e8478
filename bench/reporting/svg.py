"""Plots as SVG, by the standard library alone: bars in groups, lines, bands. Colours follow the reader's light or dark page."""

import html
import math

WIDTH, HEIGHT = 760, 380
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 46, 58
COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#7f7f7f", "#b8a800"]
STYLE = """<style>
svg { background: #ffffff; font: 13px sans-serif; }
text { fill: #222222; } .axis { stroke: #444444; fill: none; } .grid { stroke: #dddddd; } .mark { stroke: #222222; fill: none; }
@media (prefers-color-scheme: dark) {
svg { background: #16181c; } text { fill: #dddddd; } .axis { stroke: #bbbbbb; } .grid { stroke: #3a3d42; } .mark { stroke: #eeeeee; }
}
</style>"""


def number(value):
    return "%g" % float("%.3g" % value)


def ticks(low, high, most=6):
    """Round numbers from low to high."""
    step = 10 ** math.floor(math.log10((high - low) / most or 1))
    for factor in (1, 2, 5, 10):
        if (high - low) / (step * factor) <= most:
            step *= factor
            break
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, int(math.floor(high / step + 1e-9)) + 1)]


def log_ticks(low, high):
    found = [m * 10.0 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1) for m in (1, 2, 5)]
    found = [t for t in found if low * 0.999 <= t <= high * 1.001]
    return found if len(found) <= 9 else [t for t in found if abs(math.log10(t) - round(math.log10(t))) < 1e-9]


class Picture:
    def __init__(self, title, width=WIDTH, height=HEIGHT):
        self.title, self.width, self.height, self.parts = title, width, height, []
        self.text(width / 2, 18, title, "middle", "font-weight='bold'")

    def text(self, x, y, text, anchor="start", more=""):
        self.parts.append("<text x='%.1f' y='%.1f' text-anchor='%s' %s>%s</text>" % (x, y, anchor, more, html.escape(text)))

    def line(self, x1, y1, x2, y2, kind, more=""):
        self.parts.append("<line class='%s' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' %s/>" % (kind, x1, y1, x2, y2, more))

    def box(self, x, y, width, height, colour):
        self.parts.append("<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='%s'/>" % (x, y, width, height, colour))

    def path(self, points, colour, more=""):
        self.parts.append("<polyline points='%s' fill='none' stroke='%s' stroke-width='2' %s/>" %
                          (" ".join("%.1f,%.1f" % point for point in points), colour, more))

    def svg(self):
        return "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' role='img'>\n<title>%s</title>\n%s\n%s\n</svg>\n" % (
            self.width, self.height, html.escape(self.title), STYLE, "\n".join(self.parts))


class Axes:
    """A field of a picture with scales at its left and lower edge."""

    def __init__(self, picture, x, y, xlabel="", ylabel="", xlog=False, ylog=False, top=TOP, bottom=BOTTOM, xticks=True):
        self.picture, self.x, self.y, self.xlog, self.ylog = picture, x, y, xlog, ylog
        self.left, self.right = LEFT, picture.width - RIGHT
        self.top, self.bottom = top, picture.height - bottom
        for value in log_ticks(*y) if ylog else ticks(*y):
            at = self.at_y(value)
            picture.line(self.left, at, self.right, at, "grid")
            picture.text(self.left - 6, at + 4, number(value), "end")
        if xticks:
            for value in log_ticks(*x) if xlog else ticks(*x):
                at = self.at_x(value)
                picture.line(at, self.bottom, at, self.bottom + 4, "axis")
                picture.text(at, self.bottom + 18, number(value), "middle")
        picture.line(self.left, self.top, self.left, self.bottom, "axis")
        picture.line(self.left, self.bottom, self.right, self.bottom, "axis")
        if xlabel:
            picture.text((self.left + self.right) / 2, self.bottom + 36, xlabel, "middle")
        if ylabel:
            middle = (self.top + self.bottom) / 2
            picture.text(16, middle, ylabel, "middle", "transform='rotate(-90 16 %.1f)'" % middle)

    @staticmethod
    def part(value, span, log):
        low, high = span
        if log:
            return (math.log10(value) - math.log10(low)) / (math.log10(high) - math.log10(low))
        return (value - low) / (high - low)

    def at_x(self, value):
        return self.left + (self.right - self.left) * self.part(value, self.x, self.xlog)

    def at_y(self, value):
        return self.bottom - (self.bottom - self.top) * self.part(value, self.y, self.ylog)


def legend(picture, names, y):
    """In the middle of a line of its own."""
    widths = [26 + 7.2 * len(name) for name in names]
    x = (picture.width - sum(widths)) / 2
    for i, name in enumerate(names):
        picture.box(x, y - 9, 10, 10, COLOURS[i % len(COLOURS)])
        picture.text(x + 14, y, name)
        x += widths[i]


def bars(title, ylabel, groups, names, values):
    """values[group][name]: (middle, least, most), or None. Bars of a group stand side by side, thin lines go from least to most."""
    picture = Picture(title)
    most = max((v[2] for row in values for v in row if v), default=1)
    axes = Axes(picture, (0, len(groups)), (0, most * 1.08), "", ylabel, xticks=False)
    for g, group in enumerate(groups):
        width = (axes.at_x(1) - axes.at_x(0)) * 0.86 / len(names)
        left = axes.at_x(g + 0.07)
        for n, value in enumerate(values[g]):
            if not value:
                continue
            x, y = left + n * width, axes.at_y(value[0])
            picture.box(x + 1, y, width - 2, axes.bottom - y, COLOURS[n % len(COLOURS)])
            if value[2] > value[1]:
                picture.line(x + width / 2, axes.at_y(value[1]), x + width / 2, axes.at_y(value[2]), "mark")
            picture.text(x + width / 2, min(y, axes.at_y(value[2])) - 4, number(value[0]), "middle", "font-size='10'" if len(names) * len(groups) > 8 else "")
        picture.text(axes.at_x(g + 0.5), axes.bottom + 18, group, "middle")
    legend(picture, names, picture.height - 12)
    return picture.svg()


def lines(title, xlabel, ylabel, series, xlog=False, ylog=False, low=None):
    """series: (name, [(x, y) or (x, y, least, most)], "points" or "line" or "dashed")."""
    picture = Picture(title)
    xs = [p[0] for _, points, _ in series for p in points]
    ys = [v for _, points, _ in series for p in points for v in p[1:]]
    bottom = min(ys) if low is None else low
    y = (bottom / 1.2, max(ys) * 1.2) if ylog else (bottom, bottom + (max(ys) - bottom) * 1.08 or 1)
    x = (min(xs) / 1.15, max(xs) * 1.15) if xlog else (min(xs), max(xs) if max(xs) > min(xs) else min(xs) + 1)
    axes = Axes(picture, x, y, xlabel, ylabel, xlog, ylog, bottom=BOTTOM + 18)
    for i, (_, points, kind) in enumerate(series):
        colour = COLOURS[i % len(COLOURS)]
        if kind != "points":
            picture.path([(axes.at_x(p[0]), axes.at_y(p[1])) for p in points], colour, "stroke-dasharray='6 4'" if kind == "dashed" else "")
        for p in points if kind != "dashed" else []:
            picture.parts.append("<circle cx='%.1f' cy='%.1f' r='4' fill='%s'/>" % (axes.at_x(p[0]), axes.at_y(p[1]), colour))
            if p[2:]:
                picture.line(axes.at_x(p[0]), axes.at_y(p[2]), axes.at_x(p[0]), axes.at_y(p[3]), "mark")
    legend(picture, [name for name, _, _ in series], picture.height - 12)
    return picture.svg()


def bands(title, xlabel, times, parts, below, names, ylabels):
    """Two fields over one another. Above, from times[k] on: parts[k], a list of (low, high, n), each of which is a part of the whole
    that belongs to names[n]. Below: below[n], a list of (x, y), as lines."""
    picture = Picture(title, height=560)
    end = times[-1]
    upper = Axes(picture, (0, end), (0, 1), "", ylabels[0], top=TOP, bottom=320, xticks=False)
    for k, row in enumerate(parts):
        x, width = upper.at_x(times[k]), upper.at_x(times[k + 1]) - upper.at_x(times[k])
        for low, high, n in row:
            picture.box(x, upper.at_y(high), width + 0.4, upper.at_y(low) - upper.at_y(high), COLOURS[n % len(COLOURS)])
    most = max((y for points in below for _, y in points), default=1)
    lower = Axes(picture, (0, end), (0, most * 1.05), xlabel, ylabels[1], top=270, bottom=BOTTOM + 18)
    for n, points in enumerate(below):
        picture.path([(lower.at_x(x), lower.at_y(y)) for x, y in points], COLOURS[n % len(COLOURS)])
    legend(picture, names, picture.height - 12)
    return picture.svg()
