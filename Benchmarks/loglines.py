"""Lines over counts, both axes by powers of ten: a panel each, as SVG that is read in the light and in the dark."""
import math

COLOURS = (("#1f6fb2", "#6db3f2"), ("#b4632d", "#e09a66"), ("#6b7a3a", "#aebc78"))
STYLE = """<style>text{font:13px system-ui,sans-serif;fill:#1d2126}.f{fill:#5d6670}.g{stroke:#c9cfd6}
path{fill:none;stroke-width:2}%s
@media(prefers-color-scheme:dark){text{fill:#e8e6e1}.f{fill:#9aa4ae}.g{stroke:#3c444d}%s}</style>""" % tuple(
    "".join(f".l{place}{{stroke:{pair[shade]}}}" for place, pair in enumerate(COLOURS)) for shade in (0, 1))


def plot(label, panels):
    """Draws panels.

    label: what the picture shows, for those who do not see it.
    panels: of each its title, the least and greatest power of ten of its values, and by name its values by count;
        at most three names, the same counts for all.
    """
    parts = []
    for panel, (title, low, high, lines) in enumerate(panels):
        counts = list(next(iter(lines.values())))
        left, top, width, height = 60 + panel * 360, 40, 260, 220
        across = lambda count: left + width * counts.index(count) / max(len(counts) - 1, 1)
        parts.append(f'<text x="{left}" y="{top - 16}" font-weight="600">{title}</text>')
        for power in range(low, high + 1):
            y = top + height * (high - power) / (high - low)
            parts.append(f'<line class="g" x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}"/>'
                         f'<text class="f" x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{10 ** power:g}</text>')
        for count in counts:
            parts.append(f'<text class="f" x="{across(count):.1f}" y="{top + height + 20}" text-anchor="middle">'
                         f'{count:,}</text>')
        ends = []
        for place, (name, values) in enumerate(lines.items()):
            points = [(across(count), top + height * (high - math.log10(max(value, 10 ** low))) / (high - low))
                      for count, value in values.items()]
            parts.append(f'<path class="l{place}" d="M' + " L".join(f"{x:.1f} {y:.1f}" for x, y in points) + '"/>')
            ends.append((points[-1][1], name))
        # Names keep a line's height between them, whatever the lines do.
        ends.sort()
        last = -99.0
        for y, name in ends:
            last = max(y, last + 15)
            parts.append(f'<text x="{left + width + 6}" y="{last + 4:.1f}">{name}</text>')
    # Room for eight letters behind a panel, and for what the longest name has more behind the last.
    whole = 20 + 360 * len(panels) + 8 * max(0, max(map(len, lines)) - 8)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} 300" role="img" '
            f'aria-label="{label}">{STYLE}{"".join(parts)}</svg>\n')
