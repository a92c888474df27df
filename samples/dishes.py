"""What lies in the bowls: ingredients, and the dishes made of them.

An ingredient is a function (canvas, x, y, r, rng) that paints one piece, where r is the radius of
the *dish*, so that a bean stays a bean in a small picture and in a large one.
"""

import numpy as np

from painter import blob, box, curl, jitter, linen, noise, paper, placed, ramp, rgb, slate, steam, strand
from painter import vessel, wood


# Ingredients


def lump(color, size=0.13, gloss=0.45, aspect=0.8, rough=0.10, wobble=0.22):
    """Meat, potato, bean: anything roundish."""

    def paint(c, x, y, r, rng):
        c.piece(
            blob(x, y, r * size * rng.uniform(0.8, 1.2), rng, wobble, aspect, rng.uniform(0, 6.3)),
            jitter(rgb(color), rng, 0.045),
            r * size * 0.36,
            gloss,
            0.5,
            rough=rough,
        )

    return paint


def bar(color, length=0.3, width=0.08, gloss=0.4, corner=0.45, rough=0.05):
    """Rice cakes, carrot sticks, radish slabs: anything oblong."""

    def paint(c, x, y, r, rng):
        c.piece(
            box(x, y, r * length * rng.uniform(0.85, 1.1), r * width, rng.uniform(0, 3.2), corner),
            jitter(rgb(color), rng, 0.03),
            max(r * width * 0.30, 1.2),
            gloss,
            0.5,
            rough=rough,
        )

    return paint


def thread(color, length=0.6, width=0.035, gloss=0.35, bend=1.3):
    """Noodles, sprouts, spinach, shreds."""

    def paint(c, x, y, r, rng):
        path = curl(x, y, r * length * rng.uniform(0.7, 1.2), rng, bend)
        c.piece(
            strand(path, max(r * width, 1.6)),
            jitter(rgb(color), rng, 0.04),
            max(r * width * 0.4, 1),
            gloss,
            0.45,
        )

    return paint


def ring(color, size=0.055, inner=0.55, heart=None):
    """A slice of scallion, chilli or lotus stem, open in the middle."""

    def paint(c, x, y, r, rng):
        turn, aspect, radius = rng.uniform(0, 6.3), rng.uniform(0.75, 1), r * size * rng.uniform(0.8, 1.2)
        if heart:
            c.piece(blob(x, y, radius * inner * 1.1, rng, 0.05, aspect, turn), rgb(heart), 1.2, 0.2, 0)
        c.piece(
            blob(x, y, radius, rng, 0.06, aspect, turn),
            jitter(rgb(color), rng, 0.05),
            max(radius * 0.25, 1),
            0.45,
            0.4,
            hole=blob(x, y, radius * inner, rng, 0.06, aspect, turn),
        )

    return paint


def sesame(c, x, y, r, rng):
    c.piece(
        blob(x, y, max(r * 0.017, 1.3), rng, 0.08, 0.6, rng.uniform(0, 6.3), 12),
        jitter(rgb("#f0dfb4"), rng, 0.04),
        1,
        0.3,
        0.5,
    )


scallion = ring("#5da33c", 0.052, 0.55)
red_chilli = ring("#c8261a", 0.060, 0.62, "#e8a05a")
green_chilli = ring("#3f8f35", 0.058, 0.62, "#cfe0a0")


def leaf(color, size=0.2, gloss=0.2, vein="#c9d8a0"):
    """A pointed leaf with a rib."""

    def paint(c, x, y, r, rng):
        turn, length = rng.uniform(0, 6.3), r * size * rng.uniform(0.8, 1.2)
        t = np.linspace(-1, 1, 12)
        half = (1 - t**2) ** 0.8 * length * 0.5 * (1 + 0.08 * np.cos(t * 30))
        outline = np.concatenate([np.stack([t * length, half], 1), np.stack([t * length, -half], 1)[::-1]])
        c.piece(
            placed(outline, x, y, turn), jitter(rgb(color), rng, 0.04), length * 0.16, gloss, 0.4, rough=0.12
        )
        rib = placed(np.stack([t[:-1] * length, 0 * t[:-1]], 1), x, y, turn)
        c.piece(strand(rib, max(length * 0.06, 1)), rgb(vein), 1, 0.1, 0, alpha=0.6)

    return paint


def cabbage(c, x, y, r, rng):
    """A cut of kimchi: white rib, frilled red leaf."""
    turn, length, width = rng.uniform(0, 6.3), r * rng.uniform(0.26, 0.40), r * rng.uniform(0.16, 0.24)
    t = np.linspace(-1, 1, 18)
    frill = width * (0.62 + 0.25 * (t > 0) + 0.10 * np.sin(t * 15 + rng.uniform(0, 6)))
    outline = np.concatenate([np.stack([t * length, frill], 1), np.stack([t * length, -frill], 1)[::-1]])
    c.piece(placed(outline, x, y, turn), jitter(rgb("#b8371c"), rng, 0.05), r * 0.035, 0.5, 0.5, rough=0.3)
    rib = np.concatenate(
        [
            np.stack([t * length * 0.9, width * 0.42 * (1 - 0.4 * t)], 1),
            np.stack([t * length * 0.9, -width * 0.42 * (1 - 0.4 * t)], 1)[::-1],
        ]
    )
    c.piece(placed(rib, x, y, turn), jitter(rgb("#eab985"), rng, 0.05), r * 0.04, 0.55, 0.15, rough=0.35)


def tofu(c, x, y, r, rng):
    c.piece(
        box(x, y, r * 0.30, r * 0.24, rng.uniform(0, 3.2), 0.16),
        jitter(rgb("#f6ead0"), rng, 0.02),
        r * 0.03,
        0.2,
        0.5,
        rough=0.04,
    )


def egg(c, x, y, r, rng, soft=False):
    """A fried egg, or half a boiled one."""
    size = r * (0.34 if soft else 0.24)
    c.piece(blob(x, y, size, rng, 0.16 if soft else 0.03, 0.95), rgb("#fbf6ea"), size * 0.14, 0.3, 0.5)
    c.piece(blob(x + size * 0.05, y, size * 0.47, rng, 0.04), rgb("#f0a01e"), size * 0.22, 0.8, 0.3)


def mushroom(c, x, y, r, rng):
    turn, size = rng.uniform(0, 6.3), r * 0.12
    c.piece(
        placed(box(0, size * 0.7, size * 0.6, size * 1.3), x, y, turn), rgb("#e8d6b4"), size * 0.15, 0.2, 0.4
    )
    cap = np.linspace(np.pi, 2 * np.pi, 16)
    outline = np.stack([np.cos(cap) * size, np.sin(cap) * size * 0.9 + size * 0.25], 1)
    c.piece(placed(outline, x, y, turn), jitter(rgb("#8a5a36"), rng, 0.05), size * 0.25, 0.35, 0.4)


def shrimp(c, x, y, r, rng):
    turn = rng.uniform(0, 6.3)
    bow = np.linspace(0.3, 4.2, 14)
    size = r * 0.12
    path = placed(np.stack([np.cos(bow) * size, np.sin(bow) * size], 1), x, y, turn)
    c.piece(strand(path, size * 0.75), rgb("#f08a5c"), size * 0.22, 0.5, 0.45)
    for k in range(2, 12, 2):
        c.piece(
            blob(*path[k], size * 0.26, rng, 0.02, 0.4, bow[k] + turn), rgb("#fbd9c0"), 1.2, 0.2, 0, alpha=0.7
        )


def clam(c, x, y, r, rng):
    turn, size = rng.uniform(0, 6.3), r * 0.19
    tone = jitter(rgb("#8c7d6b"), rng, 0.06)
    fan = np.linspace(-2.5, 2.5, 22)
    for k, scale in enumerate((1, 0.86, 0.72, 0.58, 0.44)):
        outline = np.stack([np.sin(fan) * size * scale, -np.cos(fan) * size * 0.8 * scale], 1)
        c.piece(
            placed(outline, x, y, turn),
            tone * (0.85 + 0.3 * (k % 2)),
            size * 0.10,
            0.35,
            0.45 if k == 0 else 0.25,
        )
    c.piece(blob(x, y, size * 0.3, rng, 0.2), rgb("#eeb06c"), size * 0.12, 0.6, 0.3)


def anchovy(c, x, y, r, rng):
    turn, length = rng.uniform(0, 6.3), r * rng.uniform(0.20, 0.27)
    path = curl(x, y, length, rng, 0.5, turn, 10)
    c.piece(strand(path, r * 0.05), jitter(rgb("#a5794a"), rng, 0.05), r * 0.018, 0.6, 0.5)
    c.piece(strand(path[1:-1] + (0, -r * 0.006), r * 0.018), rgb("#dcc7a2"), 1, 0.6, 0, alpha=0.7)
    c.piece(blob(*path[0], r * 0.028, rng), rgb("#6b4a2a"), r * 0.012, 0.5, 0.2)


def lotus(c, x, y, r, rng):
    """A slice of lotus root."""
    size, turn = r * 0.24, rng.uniform(0, 6.3)
    c.piece(
        blob(x, y, size, rng, 0.06), jitter(rgb("#9c5f2c"), rng, 0.04), size * 0.16, 0.65, 0.5, rough=0.10
    )
    for k in range(8):
        reach = 0 if k == 7 else size * 0.56
        at = turn + k * 2 * np.pi / 7
        c.piece(
            blob(
                x + np.cos(at) * reach,
                y + np.sin(at) * reach,
                size * (0.13 if k == 7 else 0.16),
                rng,
                0.08,
                0.8,
                at,
            ),
            rgb("#4a2810"),
            1.5,
            0,
            0.25,
        )


def dumpling(c, x, y, r, rng):
    """A half moon, pleated along its round edge, browned where it lay in the pan."""
    turn, size = rng.normal(0, 0.35), r * 0.36
    bow = np.linspace(np.pi, 2 * np.pi, 18)
    edge = np.stack([np.cos(bow) * size, np.sin(bow) * size * 0.80], 1)
    outline = np.concatenate(
        [edge, [[size * 0.80, size * 0.16], [0, size * 0.26], [-size * 0.80, size * 0.16]]]
    )
    c.piece(placed(outline, x, y, turn), jitter(rgb("#ecd3a0"), rng, 0.02), size * 0.12, 0.3, 0.55)
    body = np.concatenate(
        [edge * 0.78, [[size * 0.66, size * 0.12], [0, size * 0.22], [-size * 0.66, size * 0.12]]]
    )
    c.piece(placed(body, x, y, turn), jitter(rgb("#f0d8a8"), rng, 0.02), size * 0.22, 0.45, 0.30, rough=0.05)
    c.piece(
        blob(*placed(np.array([[0, -size * 0.06]]), x, y, turn)[0], size * 0.52, rng, 0.25, 0.40, turn),
        rgb("#b9702c"),
        size * 0.16,
        0.1,
        0,
        alpha=0.55,
        rough=0.2,
    )
    for k in range(2, 17, 2):
        pleat = edge[k] * np.array([[0.98], [0.88], [0.76]])
        c.piece(strand(placed(pleat, x, y, turn), size * 0.06), rgb("#caa468"), 1.2, 0.2, 0.3)


def cucumber(c, x, y, r, rng):
    size, aspect, turn = r * 0.15, rng.uniform(0.7, 1), rng.uniform(0, 6.3)
    c.piece(blob(x, y, size, rng, 0.03, aspect, turn), rgb("#3f7f35"), size * 0.12, 0.4, 0.45)
    c.piece(
        blob(x, y, size * 0.86, rng, 0.03, aspect, turn),
        jitter(rgb("#cfe0a0"), rng, 0.03),
        size * 0.12,
        0.35,
        0,
    )
    for k in range(6):
        at = turn + k * 1.05
        c.piece(
            blob(
                x + np.cos(at) * size * 0.4,
                y + np.sin(at) * size * 0.4 * aspect,
                size * 0.09,
                rng,
                0.05,
                0.5,
                at,
            ),
            rgb("#eef0c8"),
            1,
            0.3,
            0.1,
        )


def roll(c, x, y, r, rng, outer="#f4cf5e", inner="#e0ab38", bits=("#e06a2c", "#4f9a3c")):
    """A slice of rolled omelette."""
    size = r * 0.37
    c.piece(
        box(x, y, size * 1.7, size * 2.1, rng.normal(0, 0.06), 0.42),
        rgb(outer),
        size * 0.14,
        0.3,
        0.5,
        rough=0.06,
    )
    turn = np.linspace(0.6, 13.5, 60)
    spiral = np.stack(
        [np.cos(turn) * turn / 13.5 * size * 0.66, np.sin(turn) * turn / 13.5 * size * 0.86], 1
    ) + (x, y)
    c.piece(strand(spiral, max(size * 0.07, 1.2)), rgb(inner), 1.2, 0.1, 0.1)
    for _ in range(16):
        at, reach = rng.uniform(0, 6.3), rng.uniform(0.1, 0.8)
        c.piece(
            blob(x + np.cos(at) * reach * size * 0.7, y + np.sin(at) * reach * size * 0.9, size * 0.07, rng),
            rgb(bits[rng.integers(2)]),
            1.2,
            0.3,
            0.2,
        )


def sprout(c, x, y, r, rng):
    path = curl(x, y, r * 0.5, rng, 1.5)
    c.piece(strand(path, r * 0.032), jitter(rgb("#f2ead2"), rng, 0.02), r * 0.013, 0.45, 0.45)
    c.piece(
        blob(*path[-1], r * 0.045, rng, 0.05, 0.7, rng.uniform(0, 6)),
        jitter(rgb("#e6bb3c"), rng, 0.04),
        r * 0.018,
        0.4,
        0.4,
    )


# Ways of filling a vessel


def strew(c, region, rng, count, *kinds, spread=0.92):
    """Strews pieces over the region, kinds in turn."""
    for k, (x, y) in enumerate(region.spots(count, rng, spread)):
        kinds[k % len(kinds)](c, x, y, region.r, rng)


def sprinkle(c, region, rng, count, *kinds, spread=0.85):
    """Drops garnish by chance."""
    for k in range(count):
        reach, turn = np.sqrt(rng.uniform(0, 1)) * spread, rng.uniform(0, 6.3)
        kinds[k % len(kinds)](
            c,
            region.x + np.cos(turn) * reach * region.rx,
            region.y + np.sin(turn) * reach * region.ry,
            region.r,
            rng,
        )


def broth(c, region, color, rng, oil=40, cloudy=0.10, fat="#f3a24a"):
    """Fills the vessel with liquid; drops of fat catch the light."""
    gx, gy = c.grid()
    d = np.hypot((gx - region.x) / region.rx, (gy - region.y) / region.ry)
    mask = 1 - ramp(0.985, 1.01, d)
    tone = rgb(color) * (1 + cloudy * noise(c.width, c.height, region.r * 0.5, rng, 4)[..., None])
    tone = tone * (1 - 0.35 * ramp(0.75, 1.02, d))[..., None]
    facing = (gx - region.x) / region.rx * -0.6 + (gy - region.y) / region.ry * -0.8
    tone = tone * (1 - 0.14 * facing)[..., None]
    c.lay(mask, np.clip(tone, 0, 1))
    for _ in range(oil):
        reach, turn = np.sqrt(rng.uniform(0, 1)) * 0.95, rng.uniform(0, 6.3)
        size = region.r * rng.uniform(0.008, 0.04)
        c.piece(
            blob(
                region.x + np.cos(turn) * reach * region.rx,
                region.y + np.sin(turn) * reach * region.ry,
                max(size, 1.2),
                rng,
                0.08,
            ),
            rgb(fat),
            1.2,
            0.6,
            0.1,
            alpha=0.45,
        )


def mound(c, region, color, rng):
    """A shaded heap under strewn food, so that no plate shows between."""
    c.piece(
        blob(region.x, region.y, region.rx * 0.93, rng, 0.05, region.ry / region.rx, points=40),
        rgb(color),
        region.r * 0.12,
        0.1,
        0.5,
        rough=0.2,
    )


def stew(color, *kinds, count=22, oil=45, garnish=(scallion, red_chilli), fat="#f3a24a"):
    def fill(c, region, rng):
        broth(c, region, color, rng, oil, fat=fat)
        strew(c, region, rng, count, *kinds, spread=0.82)
        gx, gy = c.grid()
        d = np.hypot((gx - region.x) / region.rx, (gy - region.y) / region.ry)
        # Broth laps over the pieces, here more and there less.
        lap = (
            (1 - ramp(0.97, 1.0, d)) * ramp(0.1, 0.6, noise(c.width, c.height, region.r * 0.3, rng, 3)) * 0.45
        )
        c.lay(lap, rgb(color))
        sprinkle(c, region, rng, 16, *garnish, spread=0.75)

    return fill


def heap(color, count, *kinds, garnish=(sesame,), sprinkles=40, spread=0.88):
    def fill(c, region, rng):
        mound(c, region, color, rng)
        strew(c, region, rng, count, *kinds, spread=spread)
        sprinkle(c, region, rng, count // 3, *kinds, spread=0.45)
        sprinkle(c, region, rng, sprinkles, *garnish, spread=0.7)

    return fill


def rows(kind, columns, lines):
    """Slices laid out in rows."""

    def fill(c, region, rng):
        for j in range(lines):
            for i in range(columns):
                kind(
                    c,
                    region.x + ((i + 0.5) / columns * 2 - 1) * region.rx * 0.90,
                    region.y + ((j + 0.5) / lines * 2 - 1) * region.ry * 0.9,
                    region.r,
                    rng,
                )
        sprinkle(c, region, rng, 14, scallion, sesame)

    return fill


def mackerel(c, region, rng):
    leaf("#5f9a3f", 0.55)(c, region.x - region.rx * 0.55, region.y + region.ry * 0.35, region.r, rng)
    for k, dy in enumerate((-0.36, 0.36)):
        x, y, length, width = region.x, region.y + dy * region.ry, region.rx * 0.88, region.ry * 0.36
        t = np.linspace(-1, 1, 30)
        half = width * np.clip(1.02 - np.abs(t + 0.25) ** 2.2 * 0.85, 0.14, 1) + width * 0.45 * ramp(
            0.82, 1, t
        )
        turn = rng.normal(0, 0.03)
        outline = np.concatenate([np.stack([t * length, half], 1), np.stack([t * length, -half], 1)[::-1]])
        c.piece(placed(outline, x, y, turn), rgb("#b98a4e"), width * 0.35, 0.55, 0.55, rough=0.16)
        back = np.concatenate(
            [
                np.stack([t * length * 0.97, -half * 0.05 + 0 * t], 1),
                np.stack([t * length * 0.97, -half * 0.9], 1)[::-1],
            ]
        )
        c.piece(placed(back, x, y, turn), rgb("#4f4a42"), width * 0.22, 0.6, 0, rough=0.25, alpha=0.85)
        for s in np.linspace(-0.7, 0.7, 6):  # scored and charred
            cut = placed(
                np.array(
                    [
                        [s * length - width * 0.2, -width * 0.6],
                        [s * length, 0],
                        [s * length + width * 0.15, width * 0.6],
                    ]
                ),
                x,
                y,
                turn,
            )
            c.piece(strand(cut, width * 0.10), rgb("#6b3a17"), 2, 0, 0.2, alpha=0.8)
        c.piece(
            blob(*placed(np.array([[-length * 0.86, -width * 0.12]]), x, y, turn)[0], width * 0.11, rng),
            rgb("#1c1a18"),
            1.5,
            0.8,
            0,
        )
    for k in range(3):
        x = region.x + region.rx * (0.45 + 0.17 * k)
        c.piece(
            blob(x, region.y + region.ry * 0.72, region.r * 0.2, rng, 0.02),
            rgb("#f2cf3a"),
            region.r * 0.03,
            0.4,
            0.4,
        )
        c.piece(
            blob(x, region.y + region.ry * 0.72, region.r * 0.165, rng, 0.02),
            rgb("#f9e98c"),
            region.r * 0.03,
            0.4,
            0,
        )


def pancake(c, region, rng):
    c.piece(
        blob(region.x, region.y, region.rx * 0.96, rng, 0.05, points=50),
        rgb("#d79a3c"),
        region.r * 0.06,
        0.25,
        0.6,
        rough=0.28,
    )
    c.piece(
        blob(region.x, region.y, region.rx * 0.84, rng, 0.07, points=50),
        rgb("#ecc063"),
        region.r * 0.10,
        0.2,
        0,
        rough=0.24,
        alpha=0.8,
    )
    strew(c, region, rng, 46, bar("#4f8f2f", 0.5, 0.05), bar("#6fae45", 0.42, 0.045), spread=0.74)
    strew(c, region, rng, 14, shrimp, lump("#f3e4d2", 0.08), shrimp, red_chilli, spread=0.74)
    crust = noise(c.width, c.height, region.r * 0.22, rng, 3)
    gx, gy = c.grid()
    d = np.hypot(gx - region.x, gy - region.y) / region.rx
    c.lay((1 - ramp(0.85, 0.97, d)) * ramp(0.35, 0.9, crust) * 0.6, rgb("#b26a22"))


def bibimbap(c, region, rng):
    """Rice, six toppings like petals, an egg in the middle."""
    mound(c, region, "#fbf7ec", rng)
    strew(c, region, rng, 200, lump("#f7f1e4", 0.028, 0.3, 0.5, 0, 0.05), spread=0.94)
    toppings = [
        thread("#2f6b2c", 0.3, 0.03),
        thread("#e8792b", 0.32, 0.03),
        thread("#f1e7cb", 0.3, 0.03),
        lump("#7a4526", 0.055),
        thread("#8a5a36", 0.28, 0.045),
        thread("#c5db84", 0.3, 0.035),
    ]
    for k, topping in enumerate(toppings):
        for _ in range(64):
            turn, reach = k * np.pi / 3 + rng.normal(0, 0.25), rng.uniform(0.30, 0.84)
            topping(
                c,
                region.x + np.cos(turn) * reach * region.rx,
                region.y + np.sin(turn) * reach * region.ry,
                region.r,
                rng,
            )
    c.piece(
        blob(region.x, region.y - region.r * 0.02, region.r * 0.17, rng, 0.2),
        rgb("#b81f12"),
        region.r * 0.05,
        0.8,
        0.4,
    )
    egg(c, region.x, region.y, region.r * 0.95, rng, soft=True)
    sprinkle(c, region, rng, 60, sesame)


def samgyetang(c, region, rng):
    """A whole young chicken in pale broth."""
    broth(c, region, "#e9dcb6", rng, 50, 0.06, "#f4d27a")
    x, y, r = region.x, region.y, region.r
    skin = rgb("#e6c690")
    c.piece(blob(x, y, r * 0.56, rng, 0.05, 0.82), skin, r * 0.20, 0.45, 0.6, rough=0.06)
    c.piece(blob(x, y - r * 0.08, r * 0.40, rng, 0.04, 0.8), skin * 1.05, r * 0.16, 0.4, 0.15, rough=0.05)
    for side in (-1, 1):
        c.piece(
            blob(x + side * r * 0.52, y - r * 0.14, r * 0.20, rng, 0.06, 0.55, side * -1.0),
            skin * 0.97,
            r * 0.07,
            0.45,
            0.45,
            rough=0.08,
        )
        shin = np.array(
            [
                [x + side * r * 0.36, y + r * 0.10],
                [x + side * r * 0.30, y + r * 0.36],
                [x + side * r * 0.16, y + r * 0.62],
            ]
        )
        c.piece(strand(shin[1:], r * 0.10), rgb("#f0dcb4"), r * 0.035, 0.5, 0.5)
        c.piece(
            blob(x + side * r * 0.34, y + r * 0.20, r * 0.27, rng, 0.05, 0.66, 1.57 + side * 0.35),
            skin * 1.02,
            r * 0.10,
            0.5,
            0.5,
            rough=0.07,
        )
        c.piece(blob(*shin[2], r * 0.07, rng, 0.1), rgb("#f4e6c6"), r * 0.03, 0.5, 0.4)
    for dx, dy in ((-0.66, -0.46), (0.72, 0.42), (0.22, -0.74)):
        lump("#8e2a1c", 0.11, 0.7, 0.75, 0.05, 0.05)(c, x + dx * r, y + dy * r, r, rng)
    path = curl(x - r * 0.55, y + r * 0.55, r * 0.5, rng, 0.8, 0.9)
    c.piece(strand(path, r * 0.10), rgb("#d8b678"), r * 0.03, 0.3, 0.4)
    sprinkle(c, region, rng, 22, scallion)
    sprinkle(c, region, rng, 30, sesame)


beef, pork, rib = lump("#6b3a1f", 0.16, 0.5), lump("#a9451f", 0.16, 0.55), lump("#54290f", 0.24, 0.7, 0.75)
carrot = lump("#ea7a24", 0.11, 0.5, 0.85, 0.03, 0.12)
zucchini = lump("#b7cf77", 0.12, 0.4, 0.9, 0.04, 0.06)
onion = thread("#f1e2c4", 0.32, 0.055)
rice_cake = bar("#d8401f", 0.46, 0.15, 0.75, 0.5)
potato = lump("#d9a447", 0.17, 0.7, 0.85, 0.06, 0.10)

# slug: (vessel, aspect, square, table, hot, what fills it)
DISHES = {
    "dakgalbi": (
        "black",
        1,
        False,
        "walnut",
        True,
        heap(
            "#a83a18",
            46,
            lump("#c9502a", 0.15, 0.6),
            leaf("#8fb04e", 0.16),
            rice_cake,
            lump("#e58b33", 0.11),
            garnish=(sesame, scallion),
        ),
    ),
    "bulgogi": (
        "buncheong",
        1,
        False,
        "oak",
        True,
        heap("#5b3119", 60, lump("#7c4a2a", 0.17, 0.45, 0.5), beef, onion, garnish=(sesame, scallion)),
    ),
    "galbijjim": (
        "onggi",
        1,
        False,
        "cream",
        True,
        heap(
            "#4a230d",
            30,
            rib,
            lump("#7a3d18", 0.2, 0.7),
            carrot,
            rib,
            lump("#c98a3a", 0.13, 0.5),
            garnish=(sesame, scallion),
        ),
    ),
    "godeungeo": ("celadon", 0.60, True, "oak", False, mackerel),
    "tteokbokki": (
        "white",
        1,
        False,
        "check",
        True,
        heap(
            "#c02a10",
            46,
            rice_cake,
            rice_cake,
            bar("#e0a05c", 0.26, 0.16, 0.4, 0.15),
            garnish=(scallion, sesame),
        ),
    ),
    "japchae": (
        "blue",
        1,
        False,
        "paper",
        False,
        heap(
            "#6d4a28",
            150,
            thread("#9a6b3a", 0.9, 0.04, 0.6),
            thread("#86592e", 0.9, 0.04, 0.6),
            thread("#e8792b", 0.35, 0.04),
            thread("#35702d", 0.4, 0.045),
            thread("#4a2c18", 0.3, 0.06),
        ),
    ),
    "bibimbap": ("brass", 1, False, "walnut", False, bibimbap),
    "mandu": (
        "celadon",
        1,
        False,
        "slate",
        True,
        lambda c, g, rng: (strew(c, g, rng, 13, dumpling, spread=0.74), sprinkle(c, g, rng, 12, scallion)),
    ),
    "haemul-pajeon": ("buncheong", 1, False, "paper", False, pancake),
    "jeyuk-bokkeum": (
        "black",
        1,
        False,
        "oak",
        True,
        heap(
            "#8f2c12",
            56,
            pork,
            lump("#b8532a", 0.17, 0.6, 0.5),
            onion,
            leaf("#6f9a45", 0.11),
            garnish=(sesame, green_chilli),
        ),
    ),
    "kimchi-jjigae": ("pot", 1, False, "walnut", True, stew("#c0391b", cabbage, tofu, pork, count=22)),
    "doenjang-jjigae": (
        "pot",
        1,
        False,
        "cream",
        True,
        stew(
            "#a8763a",
            tofu,
            zucchini,
            potato,
            mushroom,
            clam,
            count=24,
            garnish=(scallion, red_chilli, green_chilli),
        ),
    ),
    "sundubu-jjigae": (
        "pot",
        1,
        False,
        "slate",
        True,
        lambda c, g, rng: (
            stew(
                "#c8371a",
                lump("#fbeedd", 0.2, 0.4, 0.8, 0.03),
                shrimp,
                lump("#fdf3e4", 0.24, 0.4, 0.8, 0.03),
                clam,
                count=15,
            )(c, g, rng),
            egg(c, g.x, g.y, g.r, rng, soft=True),
        ),
    ),
    "miyeokguk": (
        "blue",
        1,
        False,
        "check",
        True,
        stew(
            "#8f8a4e",
            leaf("#24421f", 0.22, 0.5, "#3a5a30"),
            beef,
            thread("#2c4a22", 0.7, 0.09, 0.5),
            count=36,
            oil=60,
            garnish=(sesame,),
            fat="#d8cf8a",
        ),
    ),
    "tteokguk": (
        "white",
        1,
        False,
        "paper",
        True,
        stew(
            "#e6dcbc",
            lump("#fbf6ea", 0.15, 0.4, 0.6, 0, 0.03),
            lump("#f6efdf", 0.15, 0.4, 0.6, 0, 0.03),
            count=34,
            oil=30,
            garnish=(bar("#f2c53a", 0.22, 0.035), bar("#2b3a22", 0.22, 0.04), scallion),
            fat="#f0dc9a",
        ),
    ),
    "samgyetang": ("pot", 1, False, "oak", True, samgyetang),
    "kongnamulguk": (
        "celadon",
        1,
        False,
        "oak",
        True,
        stew("#dfd3a4", sprout, sprout, count=70, oil=25, garnish=(scallion, red_chilli), fat="#efe0a2"),
    ),
    "yukgaejang": (
        "brass",
        1,
        False,
        "slate",
        True,
        stew(
            "#b02c12",
            thread("#6b3a1f", 0.5, 0.06),
            thread("#8a6a3a", 0.6, 0.05),
            leaf("#6f8f3f", 0.16),
            sprout,
            count=56,
            oil=70,
        ),
    ),
    "jogaetang": (
        "white",
        1,
        False,
        "slate",
        True,
        stew("#d9d8c4", clam, count=14, oil=12, garnish=(scallion, red_chilli, green_chilli), fat="#f2f0da"),
    ),
    "baechu-kimchi": (
        "white",
        1,
        False,
        "oak",
        False,
        heap("#a02c14", 40, cabbage, garnish=(sesame, scallion), sprinkles=24),
    ),
    "kkakdugi": (
        "onggi",
        1,
        False,
        "paper",
        False,
        heap(
            "#b03016",
            40,
            bar("#e0653c", 0.22, 0.20, 0.7, 0.22, 0.14),
            bar("#e87f55", 0.21, 0.19, 0.7, 0.22, 0.14),
            garnish=(scallion, sesame),
        ),
    ),
    "sigeumchi": (
        "buncheong",
        1,
        False,
        "cream",
        False,
        heap(
            "#24501f",
            110,
            leaf("#2f6b2c", 0.17, 0.35, "#6f9f55"),
            thread("#4f8f3f", 0.5, 0.055),
            thread("#3a7a33", 0.5, 0.05),
        ),
    ),
    "kongnamul": (
        "blue",
        1,
        False,
        "walnut",
        False,
        heap("#d9cfa6", 150, sprout, garnish=(sesame, scallion, red_chilli), sprinkles=30),
    ),
    "kongjaban": (
        "celadon",
        1,
        False,
        "check",
        False,
        heap("#1c1512", 150, lump("#2b1d18", 0.075, 0.9, 0.82, 0.03, 0.04), sprinkles=50),
    ),
    "myeolchi": (
        "white",
        1,
        False,
        "cream",
        False,
        heap(
            "#8a6236",
            170,
            anchovy,
            anchovy,
            lump("#c98f4a", 0.06, 0.5, 0.6),
            garnish=(sesame, green_chilli),
            sprinkles=36,
        ),
    ),
    "gyeran-mari": ("black", 0.62, True, "check", False, rows(roll, 5, 2)),
    "yeongeun": (
        "buncheong",
        1,
        False,
        "slate",
        False,
        heap("#5a3012", 20, lotus, sprinkles=50, spread=0.76),
    ),
    "oi-muchim": (
        "blue",
        1,
        False,
        "cream",
        False,
        heap("#b04a24", 44, cucumber, cucumber, onion, garnish=(sesame, red_chilli)),
    ),
    "gamja-jorim": (
        "onggi",
        1,
        False,
        "check",
        False,
        heap("#8a5a22", 34, potato, potato, carrot, garnish=(sesame, green_chilli), sprinkles=44),
    ),
}


# Tables


def table(c, kind, rng):
    """Covers the canvas with a table."""
    {
        "walnut": lambda: wood(c, "#6b4a33", rng),
        "oak": lambda: wood(c, "#c49a6c", rng),
        "cream": lambda: linen(c, "#e9e0cf", rng),
        "check": lambda: linen(c, "#e6e9ea", rng, "#7f93ad"),
        "rose": lambda: linen(c, "#d9a79a", rng),
        "slate": lambda: slate(c, "#4b5157", rng),
        "paper": lambda: paper(c, "#ebe3d2", rng),
        "sage": lambda: linen(c, "#b9c4ab", rng),
    }[kind]()


def chopsticks(c, x, y, length, angle, metal="#b9bcc0"):
    for k in (-1, 1):
        stick = placed(
            np.array(
                [[-length / 2, k * length * 0.016], [0, k * length * 0.019], [length / 2, k * length * 0.024]]
            ),
            x,
            y,
            angle,
        )
        c.piece(strand(stick, length * 0.021), rgb(metal), max(length * 0.008, 1.2), 0.6, 0.55)


def spoon(c, x, y, length, angle, metal="#b9bcc0"):
    handle = placed(np.array([[-length * 0.25, 0], [length * 0.1, 0], [length / 2, 0]]), x, y, angle)
    c.piece(strand(handle, length * 0.030), rgb(metal), max(length * 0.01, 1.2), 0.6, 0.55)
    cx, cy = placed(np.array([[-length * 0.34, 0]]), x, y, angle)[0]
    c.piece(blob(cx, cy, length * 0.125, c.rng, 0, 0.72, angle), rgb(metal), length * 0.012, 0.7, 0.55)
    c.piece(blob(cx, cy, length * 0.10, c.rng, 0, 0.70, angle), rgb(metal) * 0.82, length * 0.05, 0.1, 0)


def serve(c, slug, x, y, radius, rng, hot=None):
    """Sets one dish on the table."""
    style, aspect, square, _, steams, fill = DISHES[slug]
    region = vessel(c, x, y, radius, style, rng, aspect, square)
    edge = int(radius * 1.4)
    left, top = max(int(x) - edge, 0), max(int(y) - edge, 0)
    part = c.window(left, top, int(x) + edge, int(y) + edge)
    region.x, region.y = region.x - left, region.y - top
    fill(part, region, rng)
    if steams if hot is None else hot:
        steam(c, x, y + radius * 0.1, radius * 1.1, rng, 0.38)
