import Base
import FoundationEssentials
import SystemPackage

/// Work on pictures that another process can be asked to do: a crop of each, or a stamp on each.
package struct PictureOrder: Sendable {
  private enum Work: Codable, Sendable {
    case crop(Crop)
    case stamp(Stamp)
  }

  private let work: Work
  /// The order as it is sent, made once for all pictures.
  let wire: [UInt8]

  /// Orders a crop of each picture.
  package init(_ crop: Crop) { self.init(.crop(crop)) }

  /// Orders a stamp on each picture, at the time that this process or the other has.
  package init(_ stamp: Stamp) { self.init(.stamp(stamp)) }

  private init(_ work: Work) {
    self.work = work
    // Nothing in it is a number that JSON lacks.
    wire = (try? JSONEncoder().encode(work)).map { Array($0) } ?? []
  }

  /// Reads an order that was sent.
  init(wire: [UInt8]) throws {
    work = try JSONDecoder().decode(Work.self, from: Data(wire))
    self.wire = wire
  }

  /// The same as a value that makes pictures in this process.
  package var making: any PictureMaking {
    switch work {
    case .crop(let crop): crop
    case .stamp(let stamp): stamp
    }
  }

  /// How pictures are cut, which stamps have too.
  private var crop: Crop {
    switch work {
    case .crop(let crop): crop
    case .stamp(let stamp): stamp.crop
    }
  }

  /// Whether bitmaps of middling size are made, one after the other.
  var makesBitmaps: Bool {
    if case .stamp = work { return true }
    return crop.frame != nil || crop.fit == .contain
  }

  /// The limits of a picture.
  package var limits: PictureLimits { crop.limits }

  /// Makes a picture in this process.
  ///
  /// - Parameters:
  ///   - file: The input.
  ///   - output: The file that it becomes; nil for one that is wanted in memory.
  /// - Returns: The result.
  /// - Throws: ``ImagingError`` when the picture cannot be made.
  func make(
    from file: PictureFile,
    for output: PictureOutput?
  ) throws(LarderError) -> EncodedPicture {
    switch work {
    case .crop(var crop):
      crop.output = output
      return try crop.apply(to: file)
    case .stamp(var stamp):
      stamp.crop.output = output
      return try stamp.apply(to: file)
    }
  }
}

// The limits of a worker for one picture.
extension PictureOrder {
  /// The processor time for a picture of this header: several times as much as the slowest formats take.
  ///
  /// - Parameter probe: The properties of the picture.
  /// - Returns: Seconds.
  func seconds(for probe: PictureProbe) -> Double {
    let input = probe.width * probe.height
    let canvas = crop.framing(probe).canvas
    return Self.seconds(pixels: input + canvas.width * canvas.height, scanned: input * probe.scans)
  }

  /// The most processor time that any picture within the limits may take.
  var mostSeconds: Double {
    // As many pixels may go out as come in, and twelve scans are never too many.
    Self.seconds(pixels: 2 * limits.pixels, scanned: max(limits.scannedPixels, 12 * limits.pixels))
  }

  /// Seconds for pixels that come in and go out, and for those that a decoder goes over, a scan at a time.
  private static func seconds(pixels: Int, scanned: Int) -> Double {
    secondsForHeader + (0.5 * Double(pixels) / 1e6 + 0.1 * Double(scanned) / 1e6) * slowness
  }

  /// The processor time for a header, and the least that any picture may take.
  static let secondsForHeader = 0.5 * slowness

  /// The processor time that a worker has for a picture without asking: enough for a megapixel in and one out.
  ///
  /// A message for each small picture would take longer than the work.
  static let secondsUnasked = seconds(pixels: 2_000_000, scanned: 1_000_000)

  /// How many times slower than an optimized build this one may be.
  private static let slowness: Double = _isDebugAssertConfiguration() ? 10 : 1

  /// Bytes of address space for one picture: planes, pixels and their results, a library's own,
  /// and the file.
  var memory: Int { 4 * limits.memory + limits.decoding + limits.fileBytes }
}
