import Glibc

extension Bitmap {
  /// Rows that are handed over at a time: an even number, as two of them share their chroma.
  static let drainedRows = 256

  /// Bytes of a bitmap that is worth giving back in parts.
  static let leastDrained = 64 << 20

  /// Hands over all rows from the top, some at a time, for the last time.
  ///
  /// A bitmap of `least` bytes or more that nobody else holds gives its memory back to the system
  /// behind them, so that what is made of them takes its place; its samples are zero from then on.
  ///
  /// - Parameters:
  ///   - least: Bytes from which on it gives memory back.
  ///   - take: Takes rows, and how many they are; false ends it.
  /// - Returns: Whether all were taken.
  mutating func drain(
    least: Int = leastDrained,
    _ take: (_ rows: UnsafePointer<UInt8>, _ count: Int) -> Bool
  ) -> Bool {
    let (height, rowBytes) = (height, rowBytes)
    func pass(_ samples: UnsafePointer<UInt8>, isLast: Bool) -> Bool {
      for first in stride(from: 0, to: height, by: Self.drainedRows) {
        let count = min(Self.drainedRows, height - first)
        let rows = samples + first * rowBytes
        guard take(rows, count) else { return false }
        if isLast { Self.giveBack(UnsafeBufferPointer(start: rows, count: count * rowBytes)) }
      }
      return true
    }
    guard samples.count >= least else {
      return samples.withUnsafeBufferPointer { samples in
        samples.baseAddress.map { pass($0, isLast: false) } ?? false
      }
    }
    return samples.withUnsafeMutableBufferPointer { samples in
      samples.baseAddress.map { pass(UnsafePointer($0), isLast: true) } ?? false
    }
  }

  /// Another bitmap of the same size whose rows are made of this one's; a large one that nobody else holds gives its
  /// memory back behind them.
  ///
  /// - Parameters:
  ///   - layout: What its samples are.
  ///   - depth: Bits of its samples.
  ///   - make: Takes rows, and the room for as many.
  /// - Returns: The other bitmap.
  consuming func remade(
    as layout: Layout,
    depth: Int,
    _ make: (
      _ rows: UnsafeBufferPointer<UInt8>, _ target: UnsafeMutableBufferPointer<UInt8>
    ) -> Void
  ) -> Bitmap {
    let (width, height, from) = (width, height, rowBytes)
    let to = width * layout.pixelBytes(depth: depth)
    var picture = consume self
    return Bitmap(width: width, height: height, layout: layout, depth: depth) { target in
      var place = 0
      _ = picture.drain(least: Self.leastInStrips) { rows, count in
        let room = UnsafeMutableBufferPointer(rebasing: target[place..<place + count * to])
        make(UnsafeBufferPointer(start: rows, count: count * from), room)
        place += count * to
        return true
      }
    }
  }

  /// Gives whole pages of samples back, which are zero then.
  ///
  /// Only for those that a bitmap lends to be changed: nobody else holds them.
  static func giveBack(_ bytes: UnsafeBufferPointer<UInt8>) {
    let page = sysconf(CInt(_SC_PAGESIZE))
    let start = Int(bitPattern: bytes.baseAddress)
    let (first, end) = ((start + page - 1) / page * page, (start + bytes.count) / page * page)
    guard first < end, let pages = UnsafeMutableRawPointer(bitPattern: first) else { return }
    // SAFETY: these pages are within samples that one bitmap alone holds, as it has lent them to be
    // changed, in memory that malloc maps for this process alone: they read as zero afterwards.
    madvise(pages, end - first, MADV_DONTNEED)
  }

  /// Whether any pixel of an `rgba` bitmap of 8 bits lets something shine through.
  var isClearAnywhere: Bool {
    guard layout == .rgba, depth == 8 else { return false }
    return samples.withUnsafeBufferPointer { samples in
      stride(from: 3, to: samples.count, by: 4).contains { samples[$0] < 255 }
    }
  }
}
