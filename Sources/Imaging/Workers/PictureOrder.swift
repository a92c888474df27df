import Base
import FoundationEssentials
import SystemPackage

/// Work on pictures that can be sent to a worker process: a crop of each, or a stamp on each.
package struct PictureOrder: Sendable {
  private enum Work: Codable, Sendable {
    case crop(Crop)
    case stamp(Stamp)
  }

  private let work: Work
  /// The encoded order, made once for all pictures.
  let wire: [UInt8]

  /// Orders a crop of each picture.
  package init(_ crop: Crop) { self.init(.crop(crop)) }

  /// Orders a stamp on each picture, which shows the clock of the process that makes it if it shows the present time.
  package init(_ stamp: Stamp) { self.init(.stamp(stamp)) }

  private init(_ work: Work) {
    self.work = work
    // Encoding cannot fail: no number in it is infinite or NaN.
    wire = (try? JSONEncoder().encode(work)).map { Array($0) } ?? []
  }

  /// Decodes an order.
  init(wire: [UInt8]) throws {
    work = try JSONDecoder().decode(Work.self, from: Data(wire))
    self.wire = wire
  }

  /// The order as a value that makes pictures in this process.
  package var making: any PictureMaking {
    switch work {
    case .crop(let crop): crop
    case .stamp(let stamp): stamp
    }
  }

  /// The crop, which a stamp has too.
  private var crop: Crop {
    switch work {
    case .crop(let crop): crop
    case .stamp(let stamp): stamp.crop
    }
  }

  /// Whether medium-sized bitmaps are allocated for one picture after the other, so that keeping their memory pays.
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
  ///   - output: The file that it becomes; nil for a result in memory.
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
  /// The processor time for a picture with this header: several times as much as the slowest formats take.
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
    // The output may have as many pixels as the input, and twelve scans are always allowed.
    Self.seconds(pixels: 2 * limits.pixels, scanned: max(limits.scannedPixels, 12 * limits.pixels))
  }

  /// Seconds for `pixels` of input and output together, and for the pixels that a decoder visits, counted once for each
  /// scan.
  private static func seconds(pixels: Int, scanned: Int) -> Double {
    secondsForHeader + (0.5 * Double(pixels) / 1e6 + 0.1 * Double(scanned) / 1e6) * slowness
  }

  /// The processor time for a header, and the least that any picture may take.
  static let secondsForHeader = 0.5 * slowness

  /// The processor time that a worker has for a picture without a request: enough for a megapixel of input and one of
  /// output.
  ///
  /// A message for each small picture would take longer than the picture itself.
  static let secondsUnasked = seconds(pixels: 2_000_000, scanned: 1_000_000)

  /// How many times slower a debug build is than an optimized one.
  private static let slowness: Double = _isDebugAssertConfiguration() ? 10 : 1

  /// Bytes of address space for one picture: planes, pixels, their results, a library's own memory, and the file.
  var memory: Int { 4 * limits.memory + limits.decoding + limits.fileBytes }
}
