/// Why a picture could not be read, cropped, stamped or written, with what to do about it.
public struct ImagingError: Error, Equatable, CustomStringConvertible {
  /// What went wrong, as a stable word.
  ///
  /// An open set: new members break nobody.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The word that scripts may rely on.
    public let rawValue: String

    /// Makes a code from its word.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The bytes are of no picture, or of a kind that is not read here.
    public static let unsupported = Code(rawValue: "unsupported")
    /// The picture breaks the rules of its format, or ends too early to be of use.
    public static let damaged = Code(rawValue: "damaged")
    /// The picture is larger than the limits allow.
    public static let tooLarge = Code(rawValue: "too-large")
    /// No font, or none with the letters that were asked for.
    public static let noFont = Code(rawValue: "no-font")
    /// The time, zone or locale of a stamp cannot be made out.
    public static let time = Code(rawValue: "time")
    /// What was asked for contradicts itself.
    public static let usage = Code(rawValue: "usage")
    /// The output is there already.
    public static let exists = Code(rawValue: "exists")
    /// The disk, or a quota on it, is full.
    public static let diskFull = Code(rawValue: "disk-full")
    /// The operating system refused a file operation.
    public static let disk = Code(rawValue: "disk")
    /// The picture was made, and the server that it was for did not take it.
    public static let undelivered = Code(rawValue: "undelivered")
    /// The picture was made, and the server that it was for could not be reached.
    public static let unreachable = Code(rawValue: "unreachable")
  }

  /// What went wrong.
  public let code: Code
  /// The whole sentence: "cannot VERB THING: REASON; TRY THIS".
  public let description: String

  /// Makes an error from its code and its sentence.
  public init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  /// The error of a picture that does not keep to its format.
  static func damaged(_ name: String, _ reason: String) -> ImagingError {
    ImagingError(.damaged, "cannot read \(name): \(reason); get it again from where it came from")
  }

  /// The error of a picture of a format that is only told apart here.
  static func unreadable(_ name: String, _ format: PictureFormat) -> ImagingError {
    ImagingError(
      .unsupported,
      "cannot read \(name): it is \(format.name); give a JPEG or a PNG"
    )
  }

  /// The error of a picture that goes beyond `PictureLimits`.
  static func tooLarge(_ name: String, _ reason: String) -> ImagingError {
    ImagingError(.tooLarge, "cannot read \(name): \(reason); make it smaller first")
  }

  /// The same, where a limit can be raised.
  static func overLimit(_ name: String, _ reason: String) -> ImagingError {
    ImagingError(
      .tooLarge,
      "cannot read \(name): \(reason); make it smaller first, or crop and stamp it with --max-pixels"
    )
  }
}
