import Base
import SystemPackage

/// A crop or a stamp, in a form that can be sent to a worker process.
package struct PictureOrder: Sendable {
  /// The form in which an order is sent: either a crop or a stamp.
  private struct Wire: Codable {
    var crop: Crop?
    var stamp: Stamp?
  }

  /// The crop of this order; a stamp has a crop, too.
  private let crop: Crop
  private let stamp: Stamp?
  /// The order as JSON, which is encoded once for all pictures.
  let wire: [UInt8]

  /// Orders a crop.
  package init(_ crop: Crop) {
    (self.crop, stamp, wire) = (crop, nil, Wire(crop: crop).text)
  }

  /// Orders a stamp.
  ///
  /// If the stamp shows the present time, the process that makes the picture reads that time from its own clock.
  package init(_ stamp: Stamp) {
    (crop, self.stamp, wire) = (stamp.crop, stamp, Wire(stamp: stamp).text)
  }

  /// Decodes an order.
  init(wire: [UInt8]) throws(WorkerLoss) {
    let order = try Wire(text: wire)
    guard let crop = order.stamp?.crop ?? order.crop else { throw .nonsense }
    (self.crop, stamp, self.wire) = (crop, order.stamp, wire)
  }

  /// The crop or the stamp, which can make pictures in this process.
  package var making: any PictureMaking {
    if let stamp { stamp } else { crop }
  }

  /// Whether each picture needs medium-sized bitmaps.
  ///
  /// If so, keeping their memory for the next picture saves time.
  var makesBitmaps: Bool { stamp != nil || crop.frame != nil || crop.fit == .contain }

  /// The limits that a picture must not exceed.
  package var limits: PictureLimits { crop.limits }

  /// Makes a picture in this process.
  ///
  /// - Parameters:
  ///   - file: The input.
  ///   - open: Creates the temporary file for a large PNG. If it is nil, the result stays in memory.
  /// - Returns: The result.
  /// - Throws: ``LarderError`` when the picture cannot be made.
  func make(
    from file: PictureFile,
    opening open: PartFile.Opening?
  ) throws(LarderError) -> EncodedPicture {
    guard let stamp else { return try crop.apply(to: file, opening: open) }
    return try stamp.apply(to: file, opening: open)
  }
}

// The limits of a worker process for one picture.
extension PictureOrder {
  /// The processor time that a picture with this header is allowed to take; it is several times as long as the slowest
  /// formats need.
  ///
  /// - Parameter probe: The properties of the picture.
  /// - Returns: Seconds.
  func seconds(for probe: PictureProbe) -> Double {
    let input = probe.width * probe.height
    let canvas = crop.framing(probe).canvas
    let output = canvas.width * canvas.height * cost(ofWriting: crop.target(of: probe.format))
    return Self.seconds(pixels: input + output, scanned: input * probe.scans)
  }

  /// How many pixels of another format a pixel of the output costs.
  ///
  /// An AVIF encoder takes 2 seconds for a megapixel of fine detail, where other encoders take a tenth of a second.
  private func cost(ofWriting format: PictureFormat) -> Int { format == .avif ? 16 : 1 }

  /// The maximum processor time, in seconds, that a picture within the limits is allowed to take.
  var mostSeconds: Double {
    // The output can have as many pixels as the input. Twelve scans are always allowed.
    Self.seconds(
      pixels: (1 + cost(ofWriting: crop.target(of: .avif))) * limits.pixels,
      scanned: max(limits.scannedPixels, 12 * limits.pixels)
    )
  }

  /// The processor time for a number of pixels, in seconds.
  ///
  /// `pixels` is the number of pixels of the input and the output together. `scanned` is the number of pixels that a
  /// decoder visits, where a pixel counts once for each scan.
  private static func seconds(pixels: Int, scanned: Int) -> Double {
    secondsForHeader + (0.5 * Double(pixels) / 1e6 + 0.1 * Double(scanned) / 1e6) * slowness
  }

  /// The processor time for reading a header, in seconds; every picture is allowed to take at least this.
  static let secondsForHeader = 0.5 * slowness

  /// The processor time, in seconds, that a worker is allowed to use for a picture without asking for more.
  ///
  /// It is enough for a megapixel of input and a megapixel of output. A message for each small picture would take
  /// longer than the picture itself.
  static let secondsUnasked = seconds(pixels: 2_000_000, scanned: 1_000_000)

  /// How much slower a debug build is than an optimized one.
  private static let slowness: Double = _isDebugAssertConfiguration() ? 10 : 1

  /// The number of bytes of address space that a picture is allowed to take: for planes, results, libraries, and the
  /// file itself.
  var memory: Int { 4 * limits.memory + limits.decoding + limits.fileBytes }
}
