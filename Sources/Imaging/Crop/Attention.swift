import Base

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

  /// Bytes of a whole picture that may be held to be looked at before a part of it is taken; a
  /// larger one is decoded twice.
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
    /// How far places are above the rest. `least` is the smallest divisor of each, so that faint
    /// differences stay faint, and `weight` its share.
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
    // Clear places get no attention.
    if let alpha = colours.alpha { map = map.combined(alpha) { $0 * $1 } }
    self.map = map
  }

  /// The point that a window of a picture of the size `whole` is best drawn to.
  ///
  /// The middle of the best place for it, or, where that is at an edge, of the salient part there.
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

  /// The share of the highest place from which on a window's edge should not run through a thing:
  /// lower values are everywhere in a picture, and are cut by any edge.
  private static let leastCut: Float = 0.3

  /// Where a window lies best that takes up a share of a side.
  ///
  /// Places in the middle of the window count for more, so that they come to lie there. Of windows
  /// that show nearly as much as the best, it is one whose edges run through little.
  ///
  /// - Parameters:
  ///   - profile: The saliency along the side.
  ///   - cuts: The shares of the salient area that an edge runs through, before each part of the
  ///     profile and
  ///     behind the last; empty where nothing does.
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
    // Edges through a thing as wide as a tenth of the window cost half as much as the thing is
    // worth, but the gain is never worth more than a twentieth of the whole saliency.
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
  /// A small version of a picture whose stored size is `size`, of 8 bits: `rgb`, `rgba` or `bgrx`.
  ///
  /// This is all of that picture, at any scale, with as many of its rows and columns as there are.
  func glance(
    of size: PixelSize,
    limits: PictureLimits,
    name: String
  ) throws(LarderError) -> Bitmap {
    let longer = max(size.width, size.height)
    let side = min(longer, Attention.side)
    let (across, down) = (max(size.width * side / longer, 1), max(size.height * side / longer, 1))
    // Three pixels for each along either side are enough to be scaled.
    let (columns, rows) = (max(width / (across * 3), 1), max(height / (down * 3), 1))
    var small = picked(every: columns, rows).converted(Conversion.coloured)
      .converted(Conversion.narrowed)
    if small.layout == .cmyk { small = small.flattened() }
    // One that is hardly larger is as good.
    guard
      !(across...across * 9 / 8).contains(small.width)
        || !(down...down * 9 / 8).contains(small.height)
    else { return small }
    return try small.scaled(width: across, height: down, limits: limits, name: name)
  }

  /// Every so many-th column and row.
  private func picked(every columns: Int, _ rows: Int) -> Bitmap {
    guard columns > 1 || rows > 1 else { return self }
    let (across, down) = ((width + columns - 1) / columns, (height + rows - 1) / rows)
    let (bytes, rowBytes) = (pixelBytes, rowBytes)
    return Bitmap(width: across, height: down, layout: layout, depth: depth) { target in
      let target = UnsafeMutableRawBufferPointer(target)
      samples.withUnsafeBytes { source in
        var place = 0
        for y in 0..<down {
          for x in 0..<across {
            let start = y * rows * rowBytes + x * columns * bytes
            if bytes == 4 {
              let pixel = source.loadUnaligned(fromByteOffset: start, as: UInt32.self)
              target.storeBytes(of: pixel, toByteOffset: place, as: UInt32.self)
            } else {
              for byte in 0..<bytes { target[place + byte] = source[start + byte] }
            }
            place += bytes
          }
        }
      }
    }
  }
}

/// A picture's colours as the eye tells them apart.
struct Opponents {
  /// Light, red against green, yellow against blue; and how near each place is to the tones of
  /// skin, of any shade, 0 to 1.
  let planes: FourPlanes
  /// How opaque each place is; nil where all are.
  let alpha: Plane?

  /// Takes the colours of a picture of 8 bits, `rgb`, `rgba` or `bgrx`, each averaged with those next to it.
  init(_ picture: Bitmap) {
    let (width, height) = (picture.width, picture.height)
    let step = picture.layout.channels
    let (red, blue) = picture.layout == .bgrx ? (2, 0) : (0, 2)
    let hasAlpha = picture.layout == .rgba
    var opacity: [Float] = []
    let colours = picture.samples.withUnsafeBufferPointer { samples in
      (0..<width * height).map { index -> SIMD4<Float> in
        let (red, green, blue) = (
          samples[index * step + red], samples[index * step + 1], samples[index * step + blue]
        )
        let colour = SIMD4(Float(red), Float(green), Float(blue), 0) / 255
        guard hasAlpha else { return colour }
        let alpha = Float(samples[index * step + 3]) / 255
        opacity.append(alpha)
        // Clear places are grey to the search for colours.
        return colour * alpha + 0.5 * (1 - alpha)
      }
    }
    var planes = FourPlanes(width: width, height: height, values: colours).averaged(1)
    planes.replace { Self.opposed($0.x, $0.y, $0.z) }
    self.planes = planes
    alpha = hasAlpha ? Plane(width: width, height: height, values: opacity) : nil
  }

  private static func opposed(_ red: Float, _ green: Float, _ blue: Float) -> SIMD4<Float> {
    let light = 0.299 * red + 0.587 * green + 0.114 * blue
    let sum = red + green + blue + 0.001
    let (redder, greener) = ((red / sum - 0.43) / 0.06, (green / sum - 0.32) / 0.03)
    // A bell around the chromaticity of skin, by its square; neither black nor glaring white.
    let near = 1 / (1 + redder * redder + greener * greener)
    let (dark, glaring) = ((light - 0.08) * 5, (0.97 - light) * 8)
    let seen = min(max(dark, 0), 1) * min(max(glaring, 0), 1)
    return SIMD4(light, red - green, (red + green) / 2 - blue, near * near * seen)
  }
}

/// Four numbers for each place of a small picture, row by row.
///
/// For speed alone: each operation on a plane works on four in the same step. One after the other,
/// each in memory of its own, they took 2.5 ms of a processor a look instead of 1.1, with the same
/// result to the bit.
struct FourPlanes {
  let width: Int
  let height: Int
  private(set) var values: [SIMD4<Float>]

  /// Takes as many values as the planes have places.
  init(width: Int, height: Int, values: [SIMD4<Float>]) {
    (self.width, self.height, self.values) = (width, height, values)
  }

  mutating func replace(_ change: (SIMD4<Float>) -> SIMD4<Float>) {
    for index in values.indices { values[index] = change(values[index]) }
  }

  /// Replaces the value of each place by that of `join` for the value and the trend there.
  mutating func combine(_ trend: Trend, _ join: (SIMD4<Float>, SIMD4<Float>) -> SIMD4<Float>) {
    for y in 0..<height {
      let down = trend.slopeY * (Float(y) - trend.middleY)
      for x in 0..<width {
        let even = trend.mean + trend.slopeX * (Float(x) - trend.middleX) + down
        values[y * width + x] = join(values[y * width + x], even)
      }
    }
  }

  /// The sum of the four at each place.
  var sum: Plane {
    Plane(width: width, height: height, values: values.map { $0.x + $0.y + $0.z + $0.w })
  }

  /// The value that one in a hundred places of each plane is above, within a thousandth of the highest.
  var nearlyHighest: SIMD4<Float> {
    // Counted into a thousand bins, as sorting took half of the time of a look.
    let most = values.reduce(.zero) { $0.replacing(with: $1, where: $0 .< $1) }
    let divisor = most.replacing(with: 1, where: most .<= 0)
    var shelves = [Int](repeating: 0, count: 1001 * 4)
    for value in values {
      let shelf = value.replacing(with: 0, where: value .< 0) / divisor * 1000
      shelves[Int(shelf.x) * 4] += 1
      shelves[Int(shelf.y) * 4 + 1] += 1
      shelves[Int(shelf.z) * 4 + 2] += 1
      shelves[Int(shelf.w) * 4 + 3] += 1
    }
    var highest = SIMD4<Float>.zero
    for plane in 0..<4 {
      var above = 0
      let shelf = (0...1000).last {
        above += shelves[$0 * 4 + plane]
        return above * 100 > values.count
      }
      highest[plane] = Float(shelf ?? 0) / 1000 * most[plane]
    }
    return highest
  }

  /// How fast the values change at each place, squared; nothing at the edges.
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

  /// For each of the four the plane, level or not, that lies nearest to the values: their even
  /// part.
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
    /// The sum of the squared distances of all places from the middle.
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

  /// The mean around each place, up to `radius` away along either axis; the edges go on as they are.
  ///
  /// The mean of means, the second time, is nearly a bell.
  func averaged(_ radius: Int, times: Int = 1) -> FourPlanes {
    let rows = Lines(count: height, between: width, length: width, step: 1)
    let columns = Lines(count: width, between: 1, length: height, step: width)
    let made = [SIMD4<Float>](unsafeUninitializedCapacity: values.count) { made, count in
      withUnsafeTemporaryAllocation(of: SIMD4<Float>.self, capacity: values.count) { half in
        values.withUnsafeBufferPointer { values in
          for time in 0..<times {
            let from = time == 0 ? values : UnsafeBufferPointer(made)
            rows.average(from, radius, into: half)
            columns.average(UnsafeBufferPointer(half), radius, into: made)
          }
        }
      }
      count = values.count
    }
    return FourPlanes(width: width, height: height, values: made)
  }

  /// All rows of planes, or all columns: `count` lines of `length` places.
  private struct Lines {
    let count, between, length, step: Int

    /// Puts the mean around each place, along its line, into every place of `made`.
    func average(
      _ values: UnsafeBufferPointer<SIMD4<Float>>,
      _ radius: Int,
      into made: UnsafeMutableBufferPointer<SIMD4<Float>>
    ) {
      let share = 1 / Double(radius * 2 + 1)
      func place(_ index: Int) -> Int { min(max(index, 0), length - 1) * step }
      // In double precision, so that the errors of running sums are negligible; the sums of all
      // lines side by side, as each addition waits for the one before it.
      withUnsafeTemporaryAllocation(of: SIMD4<Double>.self, capacity: count) { sums in
        sums.initialize(repeating: .zero)
        for index in -radius...radius {
          let place = place(index)
          for line in 0..<count { sums[line] += SIMD4<Double>(values[place + line * between]) }
        }
        for index in 0..<length {
          let (here, next, last) = (place(index), place(index + radius + 1), place(index - radius))
          for line in 0..<count {
            let start = line * between
            made[start + here] = SIMD4<Float>(sums[line] * share)
            sums[line] +=
              SIMD4<Double>(values[start + next]) - SIMD4<Double>(values[start + last])
          }
        }
      }
    }
  }
}

/// A number for each place of a small picture, row by row.
struct Plane: Equatable {
  let width: Int
  let height: Int
  private(set) var values: [Float]

  /// Takes as many values as the plane has places.
  init(width: Int, height: Int, values: [Float]) {
    (self.width, self.height, self.values) = (width, height, values)
  }

  func combined(_ other: Plane, _ join: (Float, Float) -> Float) -> Plane {
    Plane(width: width, height: height, values: zip(values, other.values).map { join($0, $1) })
  }

  mutating func add(_ other: Plane) {
    for index in values.indices { values[index] += other.values[index] }
  }

  /// The sum of each column.
  var columns: [Float] {
    var sums = [Float](repeating: 0, count: width)
    for y in 0..<height { for x in 0..<width { sums[x] += values[y * width + x] } }
    return sums
  }

  /// The sum of each row.
  var rows: [Float] {
    (0..<height).map { values[($0 * width)..<($0 + 1) * width].reduce(0, +) }
  }

  /// The share of the area above `least` that an edge runs through before each column, or each
  /// row, and behind the last.
  ///
  /// An edge runs through a thing that is there on both sides of it; nothing extends beyond the
  /// plane's own.
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

  /// The middle of the salient area in a part, all of them in shares of the sides.
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
