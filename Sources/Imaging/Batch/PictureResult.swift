import Base

/// The result for one input, with everything that `larder crop` and `larder stamp` print about it as JSON.
public struct PictureResult: Sendable, Equatable {
  /// The input, as the caller named it, for example `photos/soup.jpg`.
  public var input: String
  /// The file that was written or, if the input was skipped, the file that existed already; nil if there is neither.
  public var output: String?
  /// Whether the input was skipped, because its output existed already.
  public var isSkipped: Bool
  /// The properties of the picture that was made; nil if none was made.
  public var summary: EncodedPicture.Summary?
  /// The result of the upload; nil if the picture was not uploaded.
  public var upload: Upload?
  /// Why nothing was written, or why the picture could not be uploaded; nil on success.
  public var error: LarderError?

  /// The result of an upload.
  public struct Upload: Sendable, Equatable, Encodable {
    /// Whether the server accepted the picture.
    public var isAccepted: Bool
    /// The status in the body of the server's last response; nil if there was no response.
    ///
    /// If the body has no status, it is the HTTP status of that response.
    public var status: Int?
    /// The message in the server's last response.
    public var message: String?
    /// How often the picture was sent.
    public var attempts: Int

    /// Describes the result of an upload.
    ///
    /// - Parameters:
    ///   - isAccepted: Whether the server accepted the picture.
    ///   - status: The status of the server's last response.
    ///   - message: The server's message, without secrets.
    ///   - attempts: How often the picture was sent.
    public init(
      isAccepted: Bool,
      status: Int? = nil,
      message: String? = nil,
      attempts: Int
    ) {
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

  /// Makes the result for an input.
  ///
  /// - Parameters:
  ///   - input: The input, as the caller named it.
  ///   - output: The file that was written, or that existed already.
  ///   - summary: The properties of the picture that was made.
  ///   - isSkipped: Whether the input was skipped, because its output existed already.
  ///   - error: Why nothing was written.
  public init(
    input: String,
    output: String? = nil,
    summary: EncodedPicture.Summary? = nil,
    isSkipped: Bool = false,
    error: LarderError? = nil
  ) {
    (self.input, self.output, self.summary) = (input, output, summary)
    (self.isSkipped, self.error) = (isSkipped, error)
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
