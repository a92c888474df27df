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
    /// The input is not there, or may not be read.
    public static let unreadable = Code(rawValue: "unreadable")
    /// The operating system refused a file operation.
    public static let disk = Code(rawValue: "disk")
    /// A library that pictures are read or made with was built without this work.
    public static let library = Code(rawValue: "library")
    /// Work on the picture took more processor time than one of its size may take.
    public static let overTime = Code(rawValue: "over-time")
    /// Work on the picture ended its process: it took more memory than it may, or a library crashed.
    public static let crashed = Code(rawValue: "crashed")
    /// The process that is to work on the picture cannot be had, or was ended from outside.
    public static let worker = Code(rawValue: "worker")
    /// Work on the picture was stopped, as the caller wished.
    public static let stopped = Code(rawValue: "stopped")
    /// The picture was made, and the server that it was for did not take it.
    public static let undelivered = Code(rawValue: "undelivered")
    /// The picture was made, and the server that it was for could not be reached.
    public static let unreachable = Code(rawValue: "unreachable")
  }

  /// What can be done about it; a command adds which of its flags does it.
  public enum Remedy: String, Sendable, Hashable {
    /// Take the file's time, or the present one.
    case otherTime = "use the file's time or the present one"
    /// Take the present time.
    case presentTime = "use the present time"
    /// Let the picture be re-encoded.
    case encodeAnew = "let it be re-encoded"
    /// Make the picture smaller, or raise the limit.
    case smallerOrMorePixels = "make it smaller first, or allow more pixels"
    /// Raise the limit.
    case morePixels = "allow more pixels"
    /// Let the file be replaced.
    case replace = "allow it to be replaced"
    /// Run again, and let what was made be replaced.
    case again = "run again and allow it to be replaced"
  }

  /// What went wrong.
  public let code: Code
  /// What could not be done, and why: "cannot VERB THING: REASON".
  public let problem: String
  /// What can be done about it, where that is not part of the reason.
  public let remedy: Remedy?

  /// Makes an error from its code, its sentence and what can be done.
  public init(_ code: Code, _ problem: String, remedy: Remedy? = nil) {
    self.code = code
    self.problem = problem
    self.remedy = remedy
  }

  /// The whole sentence: "cannot VERB THING: REASON; TRY THIS".
  public var description: String {
    problem + (remedy.map { "; \($0.rawValue)" } ?? "")
  }

  /// The error of a picture that does not keep to its format.
  static func damaged(_ name: String, _ reason: String) -> ImagingError {
    ImagingError(.damaged, "cannot read \(name): \(reason); get it again from where it came from")
  }

  /// The error of bytes that are of no format that is known.
  static func noPicture(_ name: String) -> ImagingError {
    ImagingError(
      .unsupported,
      "cannot read \(name): it is no picture; give a JPEG, PNG, WebP, AVIF or GIF"
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
      "cannot read \(name): \(reason)",
      remedy: .smallerOrMorePixels
    )
  }
}
