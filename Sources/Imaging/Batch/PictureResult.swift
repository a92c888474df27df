import Base

/// The result for one input, with every key of the JSON that `larder crop` and `larder stamp`
/// print.
public struct PictureResult: Sendable, Equatable {
  /// The input, as the caller named it.
  public var input: String
  /// The file that was written, or the existing file for a skipped input; nil if there is neither.
  public var output: String?
  /// Whether nothing was made because the output already existed.
  public var isSkipped = false
  /// The properties of the output; nil when there is no output.
  public var summary: EncodedPicture.Summary?
  /// The result of the upload; nil without an upload.
  public var upload: Upload?
  /// Why nothing was written, or why the output could not be uploaded; nil on success.
  public var error: LarderError?

  /// The result of an upload.
  public struct Upload: Sendable, Equatable, Encodable {
    /// Whether the server accepted the picture.
    public var isAccepted: Bool
    /// The status in the body of the server's last response, or else its HTTP status; nil if there was no response.
    public var status: Int?
    /// The server's message.
    public var message: String?
    /// The number of attempts to send the picture.
    public var attempts: Int

    /// Describes the result of an upload.
    ///
    /// - Parameters:
    ///   - isAccepted: Whether the server accepted the picture.
    ///   - status: The status of the server's last response.
    ///   - message: The server's message, without secrets.
    ///   - attempts: The number of attempts to send the picture.
    public init(isAccepted: Bool, status: Int?, message: String?, attempts: Int) {
      self.isAccepted = isAccepted
      self.status = status
      self.message = message
      self.attempts = attempts
    }

    private enum Key: String, CodingKey {
      case accepted, status, message, attempts
    }

    /// Encodes every key; a missing value is null.
    public func encode(to encoder: any Encoder) throws {
      var object = encoder.container(keyedBy: Key.self)
      try object.encode(isAccepted, forKey: .accepted)
      try object.encode(status, forKey: .status)
      try object.encode(message, forKey: .message)
      try object.encode(attempts, forKey: .attempts)
    }
  }

  /// The result of an input that failed.
  public init(input: String, error: LarderError) {
    self.input = input
    self.error = error
  }

  /// The result of an input that was skipped because its output already existed.
  init(skipping input: String, _ output: String) {
    (self.input, self.output, isSkipped) = (input, output, true)
  }

  /// The planned result for an input, before any picture is made.
  init(planning input: String, _ output: String) {
    (self.input, self.output) = (input, output)
  }

  /// The result of an input that was made into `picture`.
  ///
  /// - Parameters:
  ///   - input: The input, as the caller named it.
  ///   - output: The file that was written.
  ///   - picture: The output.
  public init(input: String, output: String, picture: EncodedPicture) {
    self.input = input
    self.output = output
    summary = picture.summary
  }
}

extension PictureResult: Encodable {
  private enum Key: String, CodingKey {
    case input, output, format, width, height, method, shift, gravity, damaged, time, timeSource
    case upload, skipped, error
  }

  /// Encodes every key; a missing value is null.
  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(input, forKey: .input)
    try object.encode(output, forKey: .output)
    try object.encode(summary?.format.rawValue, forKey: .format)
    try object.encode(summary?.width, forKey: .width)
    try object.encode(summary?.height, forKey: .height)
    try object.encode(summary?.method.rawValue, forKey: .method)
    try object.encode(summary?.shift, forKey: .shift)
    try object.encode(summary?.gravity, forKey: .gravity)
    try object.encode(summary?.isDamaged ?? false, forKey: .damaged)
    try object.encode(summary?.time?.description, forKey: .time)
    try object.encode(summary?.time?.source.rawValue, forKey: .timeSource)
    try object.encode(upload, forKey: .upload)
    try object.encode(isSkipped, forKey: .skipped)
    try object.encode(error?.description, forKey: .error)
  }
}
