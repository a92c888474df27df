/// An error in a catalog file or in the data of a shop.
///
/// `description` is, for example, "cannot read catalog file shop.yaml: line 3, column 5: sections[2].url: expected
/// text, found a list". A remedy follows after a semicolon. Parts that are not known are left out. The description
/// never contains the value of a header.
public struct CatalogError: Error, Hashable, Sendable {
  /// The kind of fault, for callers that act on it.
  public var code: Code
  /// The thing that could not be read, such as "catalog file shop.yaml" or "section main".
  public var subject: String
  /// The path of the catalog file with the fault, as the caller gave it.
  public var file: String?
  /// The line of the fault, counted from 1.
  public var line: Int?
  /// The column of the fault in Unicode scalars, counted from 1.
  public var column: Int?
  /// The keys that lead to the fault in the file, such as `sections[2].url`.
  public var keyPath: String?
  /// The cause, in words that follow a colon.
  public var reason: String
  /// A remedy that the user can try.
  public var remedy: String?

  /// Makes an error.
  ///
  /// Parts that are not known stay nil.
  public init(
    _ code: Code,
    subject: String,
    file: String? = nil,
    line: Int? = nil,
    column: Int? = nil,
    keyPath: String? = nil,
    reason: String,
    remedy: String? = nil
  ) {
    self.code = code
    self.subject = subject
    self.file = file
    self.line = line
    self.column = column
    self.keyPath = keyPath
    self.reason = reason
    self.remedy = remedy
  }
}

extension CatalogError {
  /// Makes an error about a body that does not have the expected content.
  static func shape(_ subject: String, _ reason: String, remedy: String? = nil) -> CatalogError {
    CatalogError(.unexpectedShape, subject: subject, reason: reason, remedy: remedy)
  }

  /// A kind of fault.
  ///
  /// Later versions of larder will possibly add kinds.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as logs and JSON show it.
    public let rawValue: String

    /// Makes a code with the text that logs and JSON show.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The catalog file is wrong.
    public static let catalogFile = Code(rawValue: "catalog-file")
    /// A header or a URL names an environment variable that is not set, or whose value is not allowed there.
    public static let environment = Code(rawValue: "environment")
    /// A JSONPath is wrong.
    public static let jsonPath = Code(rawValue: "json-path")
    /// The filters of a JSONPath need more steps than are allowed for the size of the body.
    public static let pathWork = Code(rawValue: "path-work")
    /// A body is not JSON.
    public static let malformedJSON = Code(rawValue: "malformed-json")
    /// A body is JSON that is nested more deeply than allowed.
    public static let tooDeep = Code(rawValue: "too-deep")
    /// A body does not have the expected content.
    ///
    /// For example, it is malformed XML, or the detail of another item.
    public static let unexpectedShape = Code(rawValue: "unexpected-shape")
    /// A body has no list of items at the expected path: the value is missing or `null`.
    public static let absentItems = Code(rawValue: "absent-items")
    /// The response has a text, a number or a Boolean value in the place of the items.
    public static let otherItems = Code(rawValue: "other-items")
    /// A body with the details of many items does not have the detail of the requested item.
    public static let absentDetail = Code(rawValue: "absent-detail")
    /// The content of a body says that the request failed.
    public static let reportedFailure = Code(rawValue: "reported-failure")
    /// The sync was stopped while a body was read.
    public static let stopped = Code(rawValue: "stopped")
    /// A transform, which is a jq program of the catalog file, fails on a body.
    public static let transform = Code(rawValue: "transform")
    /// A price cannot be read.
    public static let price = Code(rawValue: "price")
    /// An item or a detail in the cache cannot be read back.
    public static let storedForm = Code(rawValue: "stored-form")
  }

  /// Whether the catalog file or the environment is at fault, rather than the data of the shop.
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
