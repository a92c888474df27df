"""A small painter: surfaces, soft light from the upper left, and pieces that look raised.

Colours are RGB triples from 0 to 1, lengths are pixels. Every random number comes from a generator
that the caller seeds, so that one seed always paints one picture.
"""

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

LIGHT = np.array([-0.6, -0.8])  # where the light comes from, as (x, y)
FINE = 3  # masks are drawn this many times larger, then shrunk: smooth edges


def rgb(text):
    """'#c0392b' as three numbers from 0 to 1."""
    return np.array([int(text[i : i + 2], 16) for i in (1, 3, 5)], np.float32) / 255


def jitter(color, rng, amount=0.05):
    """The colour, a little lighter or darker and a little off its hue: no two pieces are alike."""
    shade = rng.normal(0, amount) + rng.normal(0, amount / 3, 3)
    return np.clip(np.asarray(color) + shade, 0, 1).astype(np.float32)


def ramp(low, high, value):
    """0 below `low`, 1 above `high`, smooth between."""
    t = np.clip((value - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def resized(values, width, height):
    return np.asarray(
        Image.fromarray(values.astype(np.float32)).resize((width, height), Image.Resampling.BICUBIC)
    )


def blurred(values, radius):
    """Gaussian blur; wide ones are done small, which nobody can see and which is far quicker."""
    height, width = values.shape
    step = max(1, int(radius // 4))
    image = Image.fromarray((np.clip(values, 0, 1) * 255).astype(np.uint8))
    if step > 1:
        image = image.resize((max(2, width // step), max(2, height // step)), Image.Resampling.BOX)
    image = image.filter(ImageFilter.GaussianBlur(radius / step))
    return resized(np.asarray(image) / 255, width, height)


def shifted(values, dx, dy):
    """Moves a mask right and down; what comes in at the edge repeats the edge."""
    height, width = values.shape
    return values[np.ix_(np.maximum(np.arange(height) - dy, 0), np.maximum(np.arange(width) - dx, 0))]


def noise(width, height, cell, rng, octaves=3, stretch=1.0):
    """Clouds around 0, about -1 to 1, whose largest lumps are `cell` pixels (times `stretch` across)."""
    total = np.zeros((height, width), np.float32)
    for octave in range(octaves):
        size = max(cell / 2**octave, 1)
        grid = rng.normal(0, 0.5, (int(height / size) + 3, int(width / (size * stretch)) + 3))
        total += resized(grid, width, height) / 1.7**octave
    return total


# Outlines: arrays of (x, y)


def blob(x, y, radius, rng, wobble=0.12, aspect=1.0, angle=0.0, points=28):
    """A roundish outline."""
    turn = np.linspace(0, 2 * np.pi, points, endpoint=False)
    reach = np.full(points, float(radius))
    for wave in (2, 3, 5):
        reach *= 1 + rng.normal(0, wobble) / wave * np.cos(wave * turn + rng.uniform(0, 6.3))
    return placed(np.stack([np.cos(turn) * reach, np.sin(turn) * reach * aspect], 1), x, y, angle)


def box(x, y, width, height, angle=0.0, corner=0.25):
    """A rectangle with round corners (`corner` is a share of the shorter side)."""
    radius = corner * min(width, height)
    outline = []
    for quarter, (sx, sy) in enumerate([(1, 1), (-1, 1), (-1, -1), (1, -1)]):
        turn = np.linspace(0, np.pi / 2, 6) + quarter * np.pi / 2
        outline.append(
            np.stack(
                [
                    sx * (width / 2 - radius) + radius * np.cos(turn),
                    sy * (height / 2 - radius) + radius * np.sin(turn),
                ],
                1,
            )
        )
    return placed(np.concatenate(outline), x, y, angle)


def strand(path, width):
    """The outline of a line with the given width; its ends taper."""
    path = np.asarray(path, float)
    along = np.gradient(path, axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-6)
    across = np.stack([-along[:, 1], along[:, 0]], 1)
    t = np.linspace(0, 1, len(path))
    half = (width / 2 * np.minimum(1, 0.35 + 5 * np.minimum(t, 1 - t)))[:, None]
    return np.concatenate([path + across * half, (path - across * half)[::-1]])


def curl(x, y, length, rng, bend=1.2, angle=None, points=14):
    """A path that wanders from (x, y) as a noodle would."""
    angle = rng.uniform(0, 6.3) if angle is None else angle
    turns = angle + np.cumsum(rng.normal(0, bend / points, points) + rng.normal(0, bend) / points)
    steps = np.stack([np.cos(turns), np.sin(turns)], 1) * length / points
    path = np.cumsum(steps, 0)
    return path - path.mean(0) + (x, y)


def placed(outline, x, y, angle=0.0):
    c, s = np.cos(angle), np.sin(angle)
    return outline @ np.array([[c, s], [-s, c]]) + (x, y)


class Canvas:
    """A picture in the making."""

    def __init__(self, width, height, rng, color=(1, 1, 1)):
        self.width, self.height, self.rng = width, height, rng
        self.pixels = np.empty((height, width, 3), np.float32)
        self.pixels[:] = color

    def grid(self):
        y, x = np.mgrid[0 : self.height, 0 : self.width].astype(np.float32)
        return x, y

    def window(self, left, top, right, bottom):
        """A part of this canvas, sharing its pixels: work there costs by the part, not by the whole."""
        part = Canvas.__new__(Canvas)
        part.rng = self.rng
        part.pixels = self.pixels[max(top, 0) : bottom, max(left, 0) : right]
        part.height, part.width = part.pixels.shape[:2]
        return part

    def lay(self, mask, color):
        """Lays a colour (or a picture) where the mask says."""
        self.pixels += mask[..., None] * (color - self.pixels)

    def shade(self, amount):
        """Darkens where `amount` is below 0, lightens where it is above."""
        amount = amount[..., None]
        self.pixels = np.where(
            amount < 0,
            self.pixels * (1 + np.maximum(amount, -1)),
            self.pixels + (1 - self.pixels) * np.minimum(amount, 1),
        )

    def piece(self, outline, color, bevel=4.0, gloss=0.3, shadow=0.4, hole=None, rough=0.0, alpha=1.0):
        """Lays one raised piece: its shadow first, then its body lit from the upper left."""
        outline = np.asarray(outline, float)
        pad = int(bevel * 2.5) + 3
        left, top = np.maximum(np.floor(outline.min(0)).astype(int) - pad, 0)
        right, bottom = np.minimum(np.ceil(outline.max(0)).astype(int) + pad, (self.width, self.height))
        width, height = int(right - left), int(bottom - top)
        if width < 3 or height < 3:
            return
        drawing = Image.new("L", (width * FINE, height * FINE))
        pen = ImageDraw.Draw(drawing)
        pen.polygon([tuple(p) for p in ((outline - (left, top)) * FINE).tolist()], fill=255)
        if hole is not None:
            pen.polygon([tuple(p) for p in ((hole - (left, top)) * FINE).tolist()], fill=0)
        mask = np.asarray(drawing.resize((width, height), Image.Resampling.BOX), np.float32) / 255

        soft = blurred(mask, bevel)
        dy, dx = np.gradient(soft * bevel * 1.6)
        light = -(dx * LIGHT[0] + dy * LIGHT[1])  # above 0 where the slope meets the light
        view = self.pixels[top:bottom, left:right]
        drop = int(max(1, bevel * 0.5))
        cast = np.zeros_like(mask)
        cast[drop:, drop:] = soft[:-drop, :-drop]
        view *= (1 - shadow * cast * (1 - mask))[..., None]

        body = np.asarray(color, np.float32) * np.ones((height, width, 1), np.float32)
        if rough:
            body = body * (1 + rough * noise(width, height, max(bevel, 3), self.rng, 2))[..., None]
        body = body * np.clip(1 + 0.95 * light, 0.35, 1.45)[..., None]
        if gloss:
            body = body + (gloss * np.clip(light * 1.7 - 0.12, 0, 1) ** 2)[..., None]
        view += (mask * alpha)[..., None] * (np.clip(body, 0, 1) - view)

    def finish(self, grain=0.012, vignette=0.22, warmth=0.02):
        """The last touch of the lens: darker corners, a warm cast, a little grain."""
        x, y = self.grid()
        away = np.hypot(x / self.width - 0.5, y / self.height - 0.5)
        self.pixels *= (1 - vignette * ramp(0.35, 0.8, away))[..., None]
        self.pixels *= np.array([1 + warmth, 1, 1 - warmth], np.float32)
        if grain:
            self.pixels += self.rng.normal(0, grain, (self.height, self.width, 1))
        return Image.fromarray((np.clip(self.pixels, 0, 1) * 255 + 0.5).astype(np.uint8))


# Surfaces


def wood(canvas, color, rng, planks=3):
    """Boards with grain, running across."""
    w, h = canvas.width, canvas.height
    grain = noise(w, h, max(h / 30, 8), rng, 4, stretch=14)
    fine = noise(w, h, 2, rng, 1, stretch=30)
    _, y = canvas.grid()
    board = np.floor(y / h * planks)
    tone = np.array([rng.normal(0, 0.035) for _ in range(planks + 1)])[board.astype(int)]
    rings = np.sin(y / max(h / 26, 7) + grain * 2.2) * 0.045
    canvas.pixels[:] = np.clip(
        rgb(color) * (1 + (grain * 0.07 + fine * 0.05 + rings + tone)[..., None] * 1.3), 0, 1
    )
    seam = np.abs((y / h * planks + 0.5) % 1 - 0.5) * h / planks
    canvas.shade(-0.45 * (1 - ramp(0.6, 2.4, seam)) * (y > 4) * (y < h - 4))


def linen(canvas, color, rng, check=None):
    """Woven cloth; `check` adds stripes of a second colour both ways."""
    x, y = canvas.grid()
    canvas.pixels[:] = rgb(color)
    if check:
        step = max(canvas.width, canvas.height) / 7
        for line in (x + y * 0.25, y - x * 0.25):
            band = ramp(0.30, 0.32, (line / step) % 1) * (1 - ramp(0.62, 0.64, (line / step) % 1))
            canvas.lay(0.28 * band, rgb(check))
    weave = np.sin(x * 2.1) * np.sin(y * 2.1) * 0.03
    slub = noise(canvas.width, canvas.height, 2, rng, 1, 12) + noise(
        canvas.width, canvas.height, 3, rng, 1, 0.2
    )
    folds = noise(canvas.width, canvas.height, max(canvas.width, 300) / 2.2, rng, 2)
    canvas.pixels *= (1 + weave + 0.022 * slub + 0.06 * folds)[..., None]


def slate(canvas, color, rng):
    """Dark, split stone."""
    w, h = canvas.width, canvas.height
    clouds = noise(w, h, max(w, h) / 3, rng, 6)
    dy, dx = np.gradient(clouds)
    canvas.pixels[:] = rgb(color)
    canvas.pixels *= (1 + 0.10 * clouds + 1.3 * (dx + dy) + 0.05 * noise(w, h, 2, rng, 1))[..., None]
    np.clip(canvas.pixels, 0, 1, out=canvas.pixels)


def paper(canvas, color, rng, fibres=70):
    """Mulberry paper with its fibres."""
    w, h = canvas.width, canvas.height
    canvas.pixels[:] = rgb(color)
    canvas.pixels *= (1 + 0.02 * noise(w, h, 40, rng, 5))[..., None]
    for _ in range(int(fibres * w * h / 160000)):
        path = curl(rng.uniform(0, w), rng.uniform(0, h), rng.uniform(14, 60), rng, 2.5)
        tone = jitter(rgb(color), rng, 0.07)
        canvas.piece(strand(path, rng.uniform(0.8, 1.7)), tone, 1, 0, 0.08, alpha=0.6)
    np.clip(canvas.pixels, 0, 1, out=canvas.pixels)


# Vessels

VESSELS = {  # colour, rim colour, rim width, wall width (shares of the radius), gloss, speckles
    "white": ("#f3efe6", "#f7f4ed", 0.045, 0.20, 0.30, 0),
    "blue": ("#eef1f0", "#4a6c9b", 0.035, 0.20, 0.30, 0),
    "celadon": ("#a9c4ae", "#8fae97", 0.040, 0.20, 0.35, 30),
    "buncheong": ("#cfc6b4", "#8d8069", 0.045, 0.20, 0.15, 140),
    "pot": ("#3b322e", "#2c2522", 0.110, 0.10, 0.22, 60),
    "brass": ("#c9a552", "#dcbc6c", 0.040, 0.16, 0.55, 0),
    "onggi": ("#6e4630", "#55341f", 0.060, 0.17, 0.35, 60),
    "black": ("#34343a", "#26262b", 0.035, 0.18, 0.40, 40),
}


class Region:
    """Where the food lies: an ellipse or a rounded rectangle inside a vessel."""

    def __init__(self, x, y, rx, ry, square=False):
        self.x, self.y, self.rx, self.ry, self.square = x, y, rx, ry, square
        self.r = min(rx, ry)

    def spots(self, count, rng, spread=1.0):
        """Points evenly strewn over the region, outer ones first so that inner ones lie on top."""
        if self.square:
            columns = max(1, round(np.sqrt(count * self.rx / self.ry)))
            rows = -(-count // columns)
            cells = [
                ((i + 0.5) / columns * 2 - 1, (j + 0.5) / rows * 2 - 1)
                for j in range(rows)
                for i in range(columns)
            ][:count]
            points = np.array(cells) + rng.normal(0, 0.10, (len(cells), 2))
        else:
            k = np.arange(count) + 0.5
            reach, turn = np.sqrt(k / count), k * 2.39996 + rng.uniform(0, 6.3)
            points = np.stack([reach * np.cos(turn), reach * np.sin(turn)], 1)[::-1]
            points = points + rng.normal(0, 0.06, points.shape)
        return points * spread * (self.rx, self.ry) + (self.x, self.y)


def vessel(canvas, x, y, radius, style, rng, aspect=1.0, square=False):
    """Sets a bowl, pot or plate on the table; returns the region that food may fill."""
    color, rim_color, rim, wall, gloss, speckles = VESSELS[style]
    rx, ry = radius, radius * aspect
    reach = int(radius * 1.35)
    left, top = max(int(x - reach), 0), max(int(y - reach), 0)
    part = canvas.window(left, top, int(x + reach) + 1, int(y + reach) + 1)
    gx, gy = part.grid()
    gx, gy = gx + left - x, gy + top - y
    if square:
        corner = ry * 0.3
        qx, qy = np.abs(gx) - rx + corner, np.abs(gy) - ry + corner
        inside = np.minimum(np.maximum(qx, qy), 0) + np.hypot(np.maximum(qx, 0), np.maximum(qy, 0)) - corner
    else:
        inside = (np.hypot(gx / rx, gy / ry) - 1) * ry
    unit = ry if square else radius
    d = inside / unit  # 0 on the edge, below 0 within
    ny, nx = np.gradient(inside)
    facing = nx * LIGHT[0] + ny * LIGHT[1]  # 1 where the outward slope meets the light

    mask = 1 - ramp(-1.0, 0.6, inside)
    for offset, soft, strength in ((0.16, 0.20, 0.50), (0.05, 0.05, 0.45)):
        cast = shifted(blurred(mask, unit * soft), int(unit * offset * 0.7), int(unit * offset * 0.9))
        part.pixels *= (1 - strength * cast * (1 - mask))[..., None]

    body = np.ones_like(part.pixels) * rgb(color)
    on_rim = ramp(-rim - 0.02, -rim + 0.005, d)
    body += on_rim[..., None] * (rgb(rim_color) - body)
    if style == "blue":  # two brushed rings and dots, as on old porcelain
        for at, width in ((-0.10, 0.010), (-0.135, 0.006)):
            body += (
                (1 - ramp(width, width + 0.02, np.abs(d - at)))[..., None] * 0.75 * (rgb("#3f5f92") - body)
            )
    if style in ("celadon", "buncheong", "onggi"):  # throwing rings
        body *= (1 + 0.025 * np.sin(d * 90 + noise(part.width, part.height, 60, rng, 2)))[..., None]
    if style == "brass":  # hammered
        body *= (1 + 0.10 * noise(part.width, part.height, unit / 9, rng, 2))[..., None]
    body *= (1 + 0.015 * noise(part.width, part.height, unit / 3, rng, 4))[..., None]
    edge = ramp(-0.028, 0.0, d)
    slope = ramp(-rim - wall, -rim - wall * 0.55, d) * (1 - ramp(-rim - 0.02, -rim + 0.01, d))
    light = 0.42 * edge * facing - 0.26 * slope * facing
    body = body * (1 + light)[..., None]
    body -= (0.10 * ramp(-rim - wall * 1.2, -rim - wall, d) * (1 - ramp(-rim - wall, -rim, d)))[..., None]
    shine = np.clip(facing, 0, 1) ** 5 * (1 - ramp(0.006, 0.022, np.abs(d + rim * 0.5)))
    glint = np.clip(-facing, 0, 1) ** 9 * (1 - ramp(0.02, 0.07, np.abs(d + rim + wall * 0.55)))
    body += (gloss * (shine * 1.1 + glint * 0.9))[..., None]
    part.lay(mask, np.clip(body, 0, 1))
    for _ in range(speckles):
        turn, at = rng.uniform(0, 6.3), rng.uniform(1 - rim - wall, 0.99)
        canvas.piece(
            blob(
                x + np.cos(turn) * rx * at,
                y + np.sin(turn) * ry * at,
                rng.uniform(0.004, 0.010) * unit + 0.4,
                rng,
            ),
            rgb(rim_color) * 0.6,
            1,
            0,
            0,
            alpha=0.6,
        )
    keep = rim + wall * 0.62
    return Region(x, y, rx - keep * unit, ry - keep * unit, square)


def steam(canvas, x, y, size, rng, strength=0.5):
    """Wisps rising from a hot dish."""
    layer = np.zeros((canvas.height, canvas.width), np.float32)
    for _ in range(4):
        base = x + rng.uniform(-0.45, 0.45) * size
        t = np.linspace(0, 1, 40)
        sway = np.sin(t * rng.uniform(4, 7) + rng.uniform(0, 6.3)) * size * 0.10 * (0.3 + t)
        path = np.stack([base + sway, y - t * size * rng.uniform(0.9, 1.35)], 1)
        image = Image.new("L", (canvas.width, canvas.height))
        outline = strand(path, size * rng.uniform(0.07, 0.15))
        ImageDraw.Draw(image).polygon([tuple(p) for p in outline.tolist()], fill=255)
        layer = np.maximum(layer, blurred(np.asarray(image) / 255, size * 0.035))
    clouds = 0.75 + 0.5 * noise(canvas.width, canvas.height, size / 4, rng, 3)
    canvas.lay(np.clip(layer * clouds, 0, 1) * strength, np.float32([1, 0.99, 0.97]))
