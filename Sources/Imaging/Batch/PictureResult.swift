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

    /// Encodes every key; a missing value is null.
    public func encode(to encoder: any Encoder) throws {
      try encoder.write([
        "accepted": isAccepted, "status": status, "message": message, "attempts": attempts,
      ])
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
  /// Encodes every key; a missing value is null.
  public func encode(to encoder: any Encoder) throws {
    try encoder.write([
      "input": input, "output": output, "format": summary?.format.rawValue,
      "width": summary?.width, "height": summary?.height, "method": summary?.method.rawValue,
      "shift": summary?.shift, "gravity": summary?.gravity,
      "damaged": summary?.isDamaged ?? false, "time": summary?.time?.description,
      "timeSource": summary?.time?.source.rawValue, "upload": upload, "skipped": isSkipped,
      "error": error?.description,
    ])
  }
}
