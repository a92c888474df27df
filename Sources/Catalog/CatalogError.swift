/// An error in a catalog file, in a shop's data, or in a price.
///
/// `description` reads "cannot read THING: line L, column C: KEY: REASON; TRY THIS". Parts that are not known are left
/// out. No header value is ever part of it.
public struct CatalogError: Error, Hashable, Sendable {
  /// The kind of fault, for callers that act on it.
  public var code: Code
  /// The thing that could not be read: "catalog file shop.yaml", "section main", "detail HBDEF".
  public var subject: String
  /// The path of the catalog file at fault, as the caller gave it.
  public var file: String?
  /// The line of the fault, counted from 1.
  public var line: Int?
  /// The column of the fault in Unicode scalars, counted from 1.
  public var column: Int?
  /// The path of keys to the fault in the file, for example `sections[2].url`.
  public var keyPath: String?
  /// The expected value or form.
  public var expected: String?
  /// The known key that is most similar to the unknown key at fault.
  public var nearestKey: String?
  /// The cause, as words that follow a colon.
  public var reason: String
  /// A remedy for the user to try.
  public var remedy: String?

  /// Makes an error; unknown parts stay nil.
  public init(
    _ code: Code,
    subject: String,
    file: String? = nil,
    line: Int? = nil,
    column: Int? = nil,
    keyPath: String? = nil,
    expected: String? = nil,
    nearestKey: String? = nil,
    reason: String,
    remedy: String? = nil
  ) {
    self.code = code
    self.subject = subject
    self.file = file
    self.line = line
    self.column = column
    self.keyPath = keyPath
    self.expected = expected
    self.nearestKey = nearestKey
    self.reason = reason
    self.remedy = remedy
  }
}

extension CatalogError {
  /// A kind of fault; an open set, so that a new kind breaks no caller.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as logs and JSON show it.
    public let rawValue: String

    /// Makes a code from the text that logs show.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The catalog file is wrong.
    public static let catalogFile = Code(rawValue: "catalog-file")
    /// A header names an environment variable that is not set, or whose value a header must not contain.
    public static let environment = Code(rawValue: "environment")
    /// A JSONPath is wrong.
    public static let jsonPath = Code(rawValue: "json-path")
    /// The filters of a path take more steps through a body than are allowed for its size.
    public static let pathWork = Code(rawValue: "path-work")
    /// A body is not JSON.
    public static let malformedJSON = Code(rawValue: "malformed-json")
    /// A body is JSON that is nested more deeply than allowed.
    public static let tooDeep = Code(rawValue: "too-deep")
    /// A body does not have the expected content: for example, it is malformed XML, or the detail of another item.
    public static let unexpectedShape = Code(rawValue: "unexpected-shape")
    /// A body has no list of items at the paths of the mapping: the value is missing or `null`.
    public static let absentItems = Code(rawValue: "absent-items")
    /// A body with the details of many items has none for the requested item.
    public static let absentDetail = Code(rawValue: "absent-detail")
    /// The content of a body says that the request failed.
    public static let reportedFailure = Code(rawValue: "reported-failure")
    /// The run ended while a body was read.
    public static let stopped = Code(rawValue: "stopped")
    /// A transform fails on a body.
    public static let transform = Code(rawValue: "transform")
    /// A price cannot be read.
    public static let price = Code(rawValue: "price")
    /// A stored item or detail cannot be read back.
    public static let storedForm = Code(rawValue: "stored-form")
  }

  /// Whether the catalog file or the environment is at fault (exit status 78), not fetched data.
  public var isConfiguration: Bool {
    code == .catalogFile || code == .environment || code == .jsonPath
  }
}

extension CatalogError: CustomStringConvertible {
  /// The whole error in one line.
  public var description: String {
    var text = "cannot read \(subject)"
    if let line {
      text += ": line \(line)"
      if let column { text += ", column \(column)" }
    }
    if let keyPath, !keyPath.isEmpty { text += ": \(keyPath)" }
    text += ": \(reason)"
    if let remedy { text += "; \(remedy)" }
    return text
  }
}
