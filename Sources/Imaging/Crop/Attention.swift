import Base

/// A saliency map of a small picture: for each place, a number that says how much the place stands out.
///
/// A place is salient if it stands out. With the gravity `attention`, ``Crop`` keeps the most salient part of a
/// picture. The part that is kept is called the window below.
///
/// The map is the sum of four features: edges; colours that differ from the mean colour of the picture and its linear
/// gradient; saturated colours; and the tones of skin, which baked, fried and stewed dishes also have. The score of a
/// place is the amount by which it exceeds the linear trend of a feature over the picture. A feature that is rare in
/// the picture counts more, so a pattern all over the picture counts for nothing. (After Itti, Koch and Niebur 1998 and
/// Achanta et al. 2009.)
struct Attention {
  /// The length of the small picture's longer side, in pixels.
  static let side = 160

  /// A decoded picture of more bytes than this is not held as a whole: some of its rows and columns are skipped.
  static let mostBytes = 48 << 20

  /// The distance between the rows and columns that are kept of a picture: 3 keeps every third row and column.
  static func step(for size: PixelSize) -> Int {
    max(max(size.width, size.height) / (side * 3), 1)
  }

  /// The saliency of each place, which is at least 0.
  let map: Plane

  /// Computes the map of a small, upright picture of 8 bits: `rgb`, `rgba` or `bgrx`.
  init(_ picture: Bitmap) {
    let (colours, alpha) = picture.opponents
    let longer = max(picture.width, picture.height)
    let gradients = colours.squaredGradient
    var differences = colours.averaged(max(longer / 80, 1))
    differences.combine(colours.trend) { ($0 - $1) * ($0 - $1) }
    let features = colours.values.indices.map { place -> SIMD4<Float> in
      let colour = colours.values[place]
      let (gradient, difference) = (gradients.values[place], differences.values[place])
      return SIMD4(
        (gradient.x + gradient.y + gradient.z).squareRoot(),
        (difference.x + difference.y + difference.z).squareRoot(),
        // The colour of a dark pixel is hardly visible.
        (colour.y * colour.y + colour.z * colour.z).squareRoot() * min(colour.x * 3, 1),
        colour.w
      )
    }
    /// The sum of the features; each counts by how far a place exceeds the linear trend of the feature.
    ///
    /// Each feature is divided by its 99th percentile, or by its value in `least` if that is higher, so that faint
    /// differences stay faint. `weight` has the weight of each feature in the sum.
    func standingOut(_ features: [SIMD4<Float>], least: SIMD4<Float>, weight: SIMD4<Float>)
      -> Plane
    {
      var planes = FourPlanes(width: picture.width, height: picture.height, values: features)
        .averaged(max(longer / 40, 1), times: 2)
      let highest = planes.nearlyHighest
      let top = highest.replacing(with: least, where: highest .< least)
      planes = planes.map { value in
        let share = value / top
        return share.replacing(with: 1, where: share .> 1)
      }
      let trend = planes.trend
      let rarity = (1 - trend.mean) * (1 - trend.mean) * weight
      planes.combine(trend) { value, even in
        let above = value - even
        return above.replacing(with: 0, where: above .< 0) * rarity
      }
      return planes.map { $0.x + $0.y + $0.z + $0.w }
    }
    var map = standingOut(
      features,
      least: SIMD4(0.1, 0.12, 0.18, 0.35),
      weight: SIMD4(1, 1, 0.6, 0.8)
    )
    if let alpha {
      let opacity = alpha.map { SIMD4($0, 0, 0, 0) }.values
      let edges = standingOut(opacity, least: .one, weight: SIMD4(0.8, 0, 0, 0))
      // Transparent places have no saliency.
      for place in map.values.indices {
        map.values[place] = (map.values[place] + edges.values[place]) * alpha.values[place]
      }
    }
    self.map = map
  }

  /// The best point around which to place a window in a picture of the size `whole`.
  ///
  /// If the best window is at an edge of the picture, this is the middle of the salient area in that window. Otherwise,
  /// it is the middle of the best window. If nothing stands out, it is the middle of the picture.
  func focus(in whole: PixelSize, window: PixelSize) -> Focus {
    let middle = Focus(.centre, in: whole)
    // In pictures with a subject, the highest value is at least 0.5. In gradients and noise, it is at most 0.2.
    guard let highest = map.values.max(), highest >= 0.3 else { return middle }
    let isAcross = window.width < whole.width
    let (length, all) = isAcross ? (window.width, whole.width) : (window.height, whole.height)
    let share = Double(length) / Double(all)
    let spare = 1 - share
    let cuts = map.cuts(isAcross: isAcross, above: highest * Self.leastCut)
    guard let place = Self.place(on: map.sums(isAcross: isAcross), cuts: cuts, share: share)
    else { return middle }
    let shown = place * spare...place * spare + share
    let seen = map.centre(columns: isAcross ? shown : 0...1, rows: isAcross ? 0...1 : shown)
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

  /// The edge of a window should not cut through places with at least this share of the picture's highest saliency.
  ///
  /// Lower saliency is found all over a picture, so every edge would cut through it.
  private static let leastCut: Float = 0.3

  /// The best position of a window along one side of a picture, if the window takes up `share` of that side.
  ///
  /// Saliency in the middle of the window counts more, so that salient places end up there. Among windows that show
  /// nearly as much as the best one, this prefers a window whose edges cut through little.
  ///
  /// - Parameters:
  ///   - profile: The saliency of each column or row along the side.
  ///   - cuts: For an edge before each element of `profile`, and for one after the last, the share of the salient area
  ///     that the edge cuts through. Empty if edges do not matter.
  ///   - share: The length of the window as a share of the side.
  /// - Returns: The position, from 0 at the beginning of the side to 1 at its end; nil if a window in the middle is as
  ///   good.
  static func place(on profile: [Float], cuts: [Float] = [], share: Double) -> Double? {
    let length = Double(profile.count) * share
    let spare = Double(profile.count) - length
    // The positions to try are half a pixel of the small picture apart. Their number is odd, so that one of them is the
    // middle.
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
    // If an edge cuts through an object that is a tenth as wide as the window, the window loses half of that object's
    // value. Only windows that show at least 95 % as much as the best window are considered. The middle window counts
    // as the best if it is nearly as good.
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

extension Bitmap {
  /// A small version of a picture with 8 bits, in `rgb`, `rgba` or `bgrx`.
  ///
  /// This bitmap must show the whole picture, at any scale; rows and columns may have been left out of it. `size` is
  /// the stored size of the picture.
  func thumbnail(of size: PixelSize, _ limits: NamedLimits) throws(LarderError) -> Bitmap {
    let longer = max(size.width, size.height)
    let side = min(longer, Attention.side)
    let (across, down) = (max(size.width * side / longer, 1), max(size.height * side / longer, 1))
    // Three pixels for each pixel of the result, along each side, are enough for scaling.
    let (columns, rows) = (max(width / (across * 3), 1), max(height / (down * 3), 1))
    let whole =
      columns == 1 && rows == 1
      ? self
      : picked(
        columns: Array(stride(from: 0, to: width, by: columns)),
        rows: Array(stride(from: 0, to: height, by: rows))
      )
    var small = BitmapRows(whole).converted(Conversion.coloured).converted(Conversion.narrowed)
    if small.shape.layout == .cmyk { small = small.flattened(.rgb) }
    // A bitmap that is at most an eighth larger than the small version is not scaled.
    if !(across...across * 9 / 8).contains(small.shape.width)
      || !(down...down * 9 / 8).contains(small.shape.height)
    {
      small = try ScaledRows(small, to: PixelSize(width: across, height: down), limits)
    }
    return try small.collected(limits)
  }
}

extension Bitmap {
  /// The colours of a picture of 8 bits in `rgb`, `rgba` or `bgrx` as opponent channels, which is how the eye tells
  /// colours apart.
  ///
  /// There are four numbers for each place: lightness, red against green, yellow against blue, and the similarity to
  /// skin of any shade, from 0 to 1. Each colour is averaged with its neighbours. `alpha` is the opacity of each place;
  /// it is nil if the picture has no alpha.
  fileprivate var opponents: (colours: FourPlanes, alpha: Plane?) {
    let step = layout.channels
    let (red, blue) = layout == .bgrx ? (2, 0) : (0, 2)
    let hasAlpha = layout == .rgba
    var opacity: [Float] = []
    let colours = samples.withUnsafeBufferPointer { samples in
      stride(from: 0, to: samples.count, by: step).map { start -> SIMD4<Float> in
        let (red, green, blue) = (
          samples[start + red], samples[start + 1], samples[start + blue]
        )
        let colour = SIMD4(Float(red), Float(green), Float(blue), 0) / 255
        guard hasAlpha else { return colour }
        let alpha = Float(samples[start + 3]) / 255
        opacity.append(alpha)
        // Transparent places become grey.
        return colour * alpha + 0.5 * (1 - alpha)
      }
    }
    let planes = FourPlanes(width: width, height: height, values: colours).averaged(1)
    return (
      planes.map { Self.opposed($0.x, $0.y, $0.z) },
      hasAlpha ? Plane(width: width, height: height, values: opacity) : nil
    )
  }

  private static func opposed(_ red: Float, _ green: Float, _ blue: Float) -> SIMD4<Float> {
    let light = 0.299 * red + 0.587 * green + 0.114 * blue
    let sum = red + green + blue + 0.001
    let (redder, greener) = ((red / sum - 0.43) / 0.06, (green / sum - 0.32) / 0.03)
    // The similarity is highest at the chromaticity of skin, and falls off around it. Black and glaring white are not
    // similar.
    let near = 1 / (1 + redder * redder + greener * greener)
    let (dark, glaring) = ((light - 0.08) * 5, (0.97 - light) * 8)
    let seen = min(max(dark, 0), 1) * min(max(glaring, 0), 1)
    return SIMD4(light, red - green, (red + green) / 2 - blue, near * near * seen)
  }
}

/// A value for each place of a small picture.
///
/// The places are in the order of the rows.
struct Grid<Value> {
  let width: Int
  let height: Int
  fileprivate(set) var values: [Value]

  func map<Other>(_ change: (Value) -> Other) -> Grid<Other> {
    Grid<Other>(width: width, height: height, values: values.map(change))
  }
}

/// A number for each place.
typealias Plane = Grid<Float>

/// Four numbers for each place.
///
/// This type exists only for speed, because each operation processes four numbers at once. Four separate planes took
/// 2.5 ms of processor time for each picture instead of 1.1 ms, with the same result to the bit.
typealias FourPlanes = Grid<SIMD4<Float>>

extension FourPlanes {
  /// Replaces the value at each place by `join` of the value and of the trend at that place.
  mutating func combine(_ trend: Trend, _ join: (SIMD4<Float>, SIMD4<Float>) -> SIMD4<Float>) {
    for y in 0..<height {
      let down = trend.slopeY * (Float(y) - trend.middleY)
      for x in 0..<width {
        let even = trend.mean + trend.slopeX * (Float(x) - trend.middleX) + down
        values[y * width + x] = join(values[y * width + x], even)
      }
    }
  }

  /// The 99th percentile of each of the four numbers, with an error of at most a thousandth of the highest one.
  var nearlyHighest: SIMD4<Float> {
    // This is a histogram with a thousand bins, because sorting took half of the time of the whole analysis.
    let most = values.reduce(.zero) { $0.replacing(with: $1, where: $0 .< $1) }
    let divisor = most.replacing(with: 1, where: most .<= 0)
    var shelves = [SIMD4<Int>](repeating: .zero, count: 1001)
    for value in values {
      let shelf = value.replacing(with: 0, where: value .< 0) / divisor * 1000
      for plane in 0..<4 { shelves[Int(shelf[plane])][plane] += 1 }
    }
    var highest = SIMD4<Float>.zero
    for plane in 0..<4 {
      var above = 0
      let shelf = (0...1000).last {
        above += shelves[$0][plane]
        return above * 100 > values.count
      }
      highest[plane] = Float(shelf ?? 0) / 1000 * most[plane]
    }
    return highest
  }

  /// The squared gradient at each place.
  ///
  /// At an edge of the picture, the gradient across that edge counts as 0.
  var squaredGradient: FourPlanes {
    var made = [SIMD4<Float>](repeating: .zero, count: values.count)
    for y in 0..<height {
      for x in 0..<width {
        let place = y * width + x
        let across = x > 0 && x < width - 1 ? values[place + 1] - values[place - 1] : .zero
        let down =
          y > 0 && y < height - 1 ? values[place + width] - values[place - width] : .zero
        made[place] = across * across + down * down
      }
    }
    return FourPlanes(width: width, height: height, values: made)
  }

  /// The linear trend of each of the four numbers over the picture, fitted by least squares.
  struct Trend {
    let mean, slopeX, slopeY: SIMD4<Float>
    let middleX, middleY: Float
  }

  var trend: Trend {
    let (middleX, middleY) = (Float(width - 1) / 2, Float(height - 1) / 2)
    var (total, alongX, alongY) = (SIMD4<Float>.zero, SIMD4<Float>.zero, SIMD4<Float>.zero)
    var columns = [SIMD4<Float>](repeating: .zero, count: width)
    for y in 0..<height {
      var row = SIMD4<Float>.zero
      for x in 0..<width {
        let value = values[y * width + x]
        columns[x] += value
        row += value
        total += value
      }
      alongY += row * (Float(y) - middleY)
    }
    for (x, sum) in columns.enumerated() { alongX += sum * (Float(x) - middleX) }
    /// The sum, over all places, of the squared distance from the middle along one axis.
    func spread(_ count: Int, _ other: Int) -> Float {
      Float(other) * Float(count) * Float(count * count - 1) / 12
    }
    return Trend(
      mean: total / Float(max(values.count, 1)),
      slopeX: width > 1 ? alongX / spread(width, height) : .zero,
      slopeY: height > 1 ? alongY / spread(height, width) : .zero,
      middleX: middleX,
      middleY: middleY
    )
  }

  /// A box blur: each value becomes the mean of the values at most `radius` away along either axis.
  ///
  /// At an edge of the picture, the outermost values are repeated. Two box blurs are nearly a Gaussian.
  func averaged(_ radius: Int, times: Int = 1) -> FourPlanes {
    (0..<times).reduce(self) { planes, _ in
      planes.averaged(radius, lines: height, apart: width, length: width, step: 1)
        .averaged(radius, lines: width, apart: 1, length: height, step: width)
    }
  }

  /// Replaces each value by the mean around it, along its line.
  ///
  /// The lines are all rows or all columns: `count` lines of `length` places each.
  private func averaged(
    _ radius: Int,
    lines count: Int,
    apart between: Int,
    length: Int,
    step: Int
  ) -> FourPlanes {
    let share = 1 / Double(radius * 2 + 1)
    func place(_ index: Int) -> Int { min(max(index, 0), length - 1) * step }
    var made = self
    // The running sums are in double precision, so that their errors are negligible. The sums of all lines are computed
    // side by side, because within one line each addition has to wait for the one before it.
    var sums = [SIMD4<Double>](repeating: .zero, count: count)
    for index in -radius...radius {
      let place = place(index)
      for line in 0..<count { sums[line] += SIMD4<Double>(values[place + line * between]) }
    }
    for index in 0..<length {
      let (here, next, last) = (place(index), place(index + radius + 1), place(index - radius))
      for line in 0..<count {
        let start = line * between
        made.values[start + here] = SIMD4<Float>(sums[line] * share)
        sums[line] += SIMD4<Double>(values[start + next]) - SIMD4<Double>(values[start + last])
      }
    }
    return made
  }
}

extension Plane {
  /// The sum of each column, or of each row.
  func sums(isAcross: Bool) -> [Float] {
    var sums = [Float](repeating: 0, count: isAcross ? width : height)
    for y in 0..<height {
      for x in 0..<width { sums[isAcross ? x : y] += values[y * width + x] }
    }
    return sums
  }

  /// For an edge before each column or row, and for one after the last, the share of the area above `least` that it
  /// cuts.
  ///
  /// An edge cuts through an object that is on both of its sides. So an edge at the end of the plane cuts through
  /// nothing.
  func cuts(isAcross: Bool, above least: Float) -> [Float] {
    let (length, step) = isAcross ? (width, 1) : (height, width)
    var cuts = [Float](repeating: 0, count: length + 1)
    var all: Float = 0
    for y in 0..<height {
      for x in 0..<width {
        let (index, place) = (y * width + x, isAcross ? x : y)
        let here = max(values[index] - least, 0)
        all += here
        if place > 0 { cuts[place] += min(here, max(values[index - step] - least, 0)) }
      }
    }
    return all > 0 ? cuts.map { $0 / all } : cuts
  }

  /// The centre of the salient area within a part of the plane.
  ///
  /// All coordinates are fractions of the width or the height of the plane.
  func centre(columns: ClosedRange<Double>, rows: ClosedRange<Double>) -> (x: Double, y: Double) {
    var (sum, across, down) = (0.0, 0.0, 0.0)
    for y in 0..<height {
      let yPlace = (Double(y) + 0.5) / Double(height)
      guard rows.contains(yPlace) else { continue }
      for x in 0..<width {
        let xPlace = (Double(x) + 0.5) / Double(width)
        guard columns.contains(xPlace) else { continue }
        let value = Double(values[y * width + x])
        (sum, across, down) = (sum + value, across + value * xPlace, down + value * yPlace)
      }
    }
    guard sum > 0 else { return (0.5, 0.5) }
    return (across / sum, down / sum)
  }
}
