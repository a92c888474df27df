import CPNG

/// Where a PNG goes, and what it holds beside its picture.
struct PNGOutput {
  /// Whole chunks that say what samples mean, which stand before a palette.
  var head: [UInt8] = []
  /// Whole chunks that stand before the data.
  var middle: [UInt8] = []
  /// The file that it becomes; nil for one that is wanted in memory.
  var place: Place?

  /// A file that a PNG becomes.
  struct Place {
    let output: PictureOutput
    /// Bytes of it that are held; all of more goes there as it is packed.
    let most: Int
  }

  /// What C hands bytes to that are more than are held.
  private final class Overflow {
    let place: Place
    var part: PartFile?
    var failure: ImagingError?

    init(_ place: Place) { self.place = place }

    func take(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
      do throws(ImagingError) {
        if part == nil { part = try place.output.open() }
        try part?.append(bytes)
        return true
      } catch {
        failure = error
        return false
      }
    }
  }

  /// Takes the file that `encode` makes.
  ///
  /// - Parameters:
  ///   - room: Bytes that most files fit in, without these chunks.
  ///   - failure: Set to why the disk did not take it.
  ///   - encode: Makes it; false when there is none.
  /// - Returns: The file; nil where `encode` made none, or it cannot be written.
  func collect(
    room: Int,
    _ failure: inout ImagingError?,
    _ encode: (inout cpng_output) -> Bool
  ) -> EncodedFile? {
    let all = room + head.count + middle.count
    let overflow = place.flatMap { all > $0.most ? Overflow($0) : nil }
    let held = MallocBuffer.collect(room: overflow?.place.most ?? all) { bytes, count in
      head.withUnsafeBufferPointer { head in
        middle.withUnsafeBufferPointer { middle in
          var output = cpng_output()
          (output.room, output.bytes, output.size) = (bytes, bytes, count)
          (output.head, output.head_count) = (head.baseAddress, head.count)
          (output.middle, output.middle_count) = (middle.baseAddress, middle.count)
          if let overflow {
            output.taker = Unmanaged.passUnretained(overflow).toOpaque()
            output.take = { taker, bytes, count in
              guard let taker else { return false }
              // SAFETY: `taker` is `overflow`, which `withExtendedLifetime` keeps until all is encoded.
              let overflow = Unmanaged<Overflow>.fromOpaque(taker).takeUnretainedValue()
              return overflow.take(UnsafeBufferPointer(start: bytes, count: count))
            }
          }
          let isMade = withExtendedLifetime(overflow) { encode(&output) }
          (bytes, count) = (output.bytes, output.count)
          return isMade
        }
      }
    }
    failure = overflow?.failure
    guard let held else { return nil }
    guard let overflow, let part = overflow.part else { return .held(held) }
    let isWhole = held.withUnsafeBufferPointer { overflow.take($0) }
    failure = overflow.failure
    return isWhole ? .waiting(part) : nil
  }
}
