/// Where people look in a picture: how much each place of a small version of it stands out.
///
/// Four maps are added: edges; colours that differ from the picture's own, as far as these are even or
/// run in one direction; saturated colours; and the tones of skin, which baked, fried and stewed dishes
/// share. Each counts by how far a place is above the rest, and for more the rarer that is, so that a
/// pattern all over the picture counts for nothing. (After Itti, Koch and Niebur 1998 and Achanta et al.
/// 2009.)
struct Attention {
  /// Pixels along the longer side of the small version.
  static let side = 160

  /// Bytes of a whole picture that may be held to be looked at before a part of it is taken; what
  /// takes more is decoded twice.
  static let mostBytes = 48 << 20

  /// Every how many-th row and column of a picture is enough for a small version.
  static func step(for size: PixelSize) -> Int {
    max(max(size.width, size.height) / (side * 3), 1)
  }

  /// How much people look at each place; nowhere below 0.
  let map: Plane

  /// Looks at a small picture of 8 bits that stands upright: `rgb`, `rgba` or `bgrx`.
  init(_ picture: Bitmap) {
    let colours = Opponents(picture)
    let longer = max(picture.width, picture.height)
    let gradients = colours.planes.squaredGradient
    var differences = colours.planes.averaged(max(longer / 80, 1))
    differences.combine(colours.planes.trend) { ($0 - $1) * ($0 - $1) }
    let features = colours.planes.values.indices.map { place -> SIMD4<Float> in
      let colour = colours.planes.values[place]
      let (light, redness, yellowness, skin) = (colour.x, colour.y, colour.z, colour.w)
      let (gradient, difference) = (gradients.values[place], differences.values[place])
      return SIMD4(
        (gradient.x + gradient.y + gradient.z).squareRoot(),
        (difference.x + difference.y + difference.z).squareRoot(),
        // Dark pixels have no colour that anybody sees.
        (redness * redness + yellowness * yellowness).squareRoot() * min(light * 3, 1),
        skin
      )
    }
    /// How far places are above the rest. What each is divided by at least, so that faint differences stay
    /// faint, and how much it counts.
    func standingOut(_ features: [SIMD4<Float>], least: SIMD4<Float>, weight: SIMD4<Float>)
      -> Plane
    {
      var planes = FourPlanes(width: picture.width, height: picture.height, values: features)
        .averaged(max(longer / 40, 1), times: 2)
      let highest = planes.nearlyHighest
      let top = highest.replacing(with: least, where: highest .< least)
      planes.replace { value in
        let share = value / top
        return share.replacing(with: 1, where: share .> 1)
      }
      let trend = planes.trend
      let rarity = (1 - trend.mean) * (1 - trend.mean) * weight
      planes.combine(trend) { value, even in
        let above = value - even
        return above.replacing(with: 0, where: above .< 0) * rarity
      }
      return planes.sum
    }
    var map = standingOut(
      features,
      least: SIMD4(0.1, 0.12, 0.18, 0.35),
      weight: SIMD4(1, 1, 0.6, 0.8)
    )
    if let alpha = colours.alpha {
      let opacity = alpha.values.map { SIMD4($0, 0, 0, 0) }
      map.add(standingOut(opacity, least: .one, weight: SIMD4(0.8, 0, 0, 0)))
    }
    // Nobody looks at what is clear.
    if let alpha = colours.alpha { map = map.combined(alpha) { $0 * $1 } }
    self.map = map
  }

  /// The point that a window of a picture of the size `whole` is best drawn to.
  ///
  /// The middle of the best place for it, or, where that is at an edge, of what is to be seen there.
  /// The middle of the picture where nothing stands out.
  func focus(in whole: PixelSize, window: PixelSize) -> Focus {
    let middle = Focus(.centre, in: whole)
    // Of pictures with something to see the highest place has 0.5 and more; of gradients and of noise
    // 0.2 at most.
    guard let highest = map.values.max(), highest >= 0.3 else { return middle }
    let isAcross = window.width < whole.width
    let share =
      isAcross
      ? Double(window.width) / Double(whole.width) : Double(window.height) / Double(whole.height)
    let spare = 1 - share
    let cuts = map.cuts(isAcross: isAcross, above: highest * Self.leastCut)
    guard
      let place = Self.place(on: isAcross ? map.columns : map.rows, cuts: cuts, share: share)
    else { return middle }
    let seen = map.centre(
      columns: isAcross ? place * spare...place * spare + share : 0...1,
      rows: isAcross ? 0...1 : place * spare...place * spare + share
    )
    func along(_ seen: Double) -> Double {
      if place <= 0 { return min(seen, share / 2) }
      if place >= 1 { return max(seen, 1 - share / 2) }
      return place * spare + share / 2
    }
    return Focus(
      x: (isAcross ? along(seen.x) : seen.x) * Double(whole.width),
      y: (isAcross ? seen.y : along(seen.y)) * Double(whole.height)
    )
  }

  /// The share of the highest place from which on it matters that a window's edge runs through a thing: below it lies what
  /// is all over a picture, and is cut wherever the edge is.
  private static let leastCut: Float = 0.3

  /// Where a window lies best that takes up a share of a side.
  ///
  /// What lies in the middle of the window counts for more, so that it comes to lie there. Of places that show nearly as
  /// much as the best, it is one whose edges run through little.
  ///
  /// - Parameters:
  ///   - profile: How much is to be seen along the side.
  ///   - cuts: The shares of what stands out that an edge runs through, before each part of the profile and behind the
  ///     last; empty where nothing does.
  ///   - share: The share of the side that the window takes up.
  /// - Returns: From 0, at the side's beginning, to 1, at its end; nil where the middle is as good.
  static func place(on profile: [Float], cuts: [Float] = [], share: Double) -> Double? {
    let length = Double(profile.count) * share
    let spare = Double(profile.count) - length
    // Half a pixel of the small version each; an even number, so that the middle is one of them.
    let steps = max(Int(spare), 1) * 2
    func shown(_ step: Int) -> Double {
      let start = spare * Double(step) / Double(steps)
      let first = Int(start)
      let last = min(Int((start + length).rounded(.up)), profile.count)
      let seen = (first..<max(first, last)).reduce(0.0) { sum, index in
        let left = max(Double(index), start)
        let covered = min(Double(index + 1), start + length) - left
        let away = (Double(index) + 0.5 - start) / length * 2 - 1
        return sum + Double(profile[index]) * max(covered, 0) * (1 - 0.3 * away * away)
      }
      let aside = Double(step) / Double(steps) * 2 - 1
      return seen * (1 - 0.03 * aside * aside)
    }
    func cut(_ place: Double) -> Double {
      let index = Int(place)
      guard index + 1 < cuts.count else { return 0 }
      let part = place - Double(index)
      return Double(cuts[index]) * (1 - part) + Double(cuts[index + 1]) * part
    }
    let (all, middle) = (profile.reduce(0) { $0 + Double($1) }, steps / 2)
    let seen = (0...steps).map(shown)
    guard let most = seen.max(), most > 0 else { return nil }
    // Edges through a thing as wide as a tenth of the window cost half as much as the thing is worth, but what they spare
    // is never worth more than a twentieth of what is to be seen.
    let least = (most >= seen[middle] * 1.03 ? most : seen[middle]) * 0.95
    let worths = (0...steps).map { step -> Double in
      guard seen[step] >= least else { return -.infinity }
      let start = spare * Double(step) / Double(steps)
      let edges = cut(start) + cut(start + length)
      return seen[step] - 0.05 * length * all * edges
    }
    guard let best = worths.firstIndex(of: worths.max() ?? 0),
      worths[best] >= worths[middle] * 1.03
    else { return nil }
    return Double(best) / Double(steps)
  }
}
