import Base

/// A finished picture: the encoded file and its properties.
///
/// A property of the ``Summary`` is also a property of the picture, for example `picture.width`.
@dynamicMemberLookup
public struct EncodedPicture: Sendable, Equatable {
  /// The properties of a finished picture.
  public struct Summary: Sendable, Equatable, Codable {
    /// The format of the file.
    public let format: PictureFormat
    /// Pixels from left to right.
    public let width: Int
    /// Pixels from top to bottom.
    public let height: Int
    /// How the result's pixels were made from the input's pixels.
    public let method: Method
    /// How far the square was moved, so that a JPEG could keep its coefficients.
    public var shift = Shift()
    /// Whether the input was incomplete or damaged, so that a part of the picture may be wrong.
    public internal(set) var isDamaged = false
    /// The point around which the kept part was placed, in pixels of the upright input.
    ///
    /// It is the middle of the input, a point on its edge, a corner, or the most salient point.
    public var gravity: Point?
    /// The time on the stamp; nil if the picture has no stamp.
    public var time: StampTime?
    /// Warnings about the result.
    public var remarks: Set<Remark> = []
  }

  /// How the result's pixels were made from the input's pixels.
  public enum Method: String, Sendable, Codable {
    /// The samples or coefficients were copied from the input.
    case lossless
    /// Pixels were re-encoded.
    case reencoded
  }

  /// The distance of a crop from its requested position, in pixels of the upright input.
  public typealias Shift = Point

  /// A point of a picture, in pixels from its top left corner.
  public struct Point: Sendable, Equatable, Codable {
    /// Pixels to the right.
    public var x = 0
    /// Pixels downwards.
    public var y = 0
  }

  /// A warning: the picture was made, but not quite as requested.
  public enum Remark: String, Sendable, Codable {
    /// A lossless result was requested, but was not possible.
    case notLossless = "not-lossless"
    /// The colours may look different, because the input is a PNG whose gamma is only in a gAMA chunk, and the new
    /// format cannot store a gamma.
    case noGamma = "no-gamma"
    /// The kept part was enlarged to more than twice its size.
    case enlarged
    /// Letters of a stamp are less than 9 pixels high.
    case smallText = "small-text"
    /// Some letters of a stamp have a contrast of less than 3:1 to the picture behind them.
    case faintText = "faint-text"
  }

  let file: EncodedFile
  /// The properties of the picture, which are also reachable without this name, as in `picture.width`.
  public internal(set) var summary: Summary

  /// The property of ``summary`` at a key path.
  public subscript<Value>(dynamicMember property: KeyPath<Summary, Value>) -> Value {
    summary[keyPath: property]
  }

  /// The bytes of the file; empty if ``contents()`` throws.
  public var bytes: [UInt8] { (try? contents()) ?? [] }

  /// The bytes of the file.
  ///
  /// If the picture is a large PNG for an output file, each call reads the file from the disk.
  ///
  /// - Throws: ``LarderError`` of code `disk` when the file cannot be read.
  public func contents() throws(LarderError) -> [UInt8] { try file.bytes() }
}

extension EncodedPicture.Point {
  init(_ focus: Focus) {
    self.init(x: Int(focus.x.rounded()), y: Int(focus.y.rounded()))
  }
}
