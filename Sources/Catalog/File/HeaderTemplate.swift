import Base

/// A request header of a catalog file, such as `Authorization: Bearer ${TOKEN}`.
///
/// The value can contain environment variables. It is never shown, because it can be a secret.
public struct HeaderTemplate: Hashable, Sendable {
  /// The name of the header. (RFC 9110, section 5.6.2, "token")
  public let name: String
  /// The value as the file has it, for example `Bearer ${TOKEN}`, before variables are expanded.
  public let rawValue: String
  /// An error that has the position of the value in its file.
  ///
  /// Its reason is filled in when the error is thrown.
  var place: CatalogError?

  /// Makes a header.
  ///
  /// - Parameters:
  ///   - name: The name of the header.
  ///   - rawValue: The value. In it, `${NAME}` stands for an environment variable.
  /// - Throws: ``CatalogError`` when the name or the value is not valid in HTTP.
  public init(name: String, rawValue: String) throws(CatalogError) {
    guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenCharacter) else {
      throw Self.fault("\"\(name.prefix(40))\" is not a header name: letters, digits and - only")
    }
    guard Self.isFieldValue(rawValue) else {
      throw Self.fault("the value of header \(name) holds a line break or control character")
    }
    self.name = name
    self.rawValue = rawValue
    do throws(CatalogError) {
      _ = try TemplateText.fill(rawValue) { _ in "" }
    } catch {
      throw Self.fault("header \(name) \(error.reason)")
    }
  }

  /// Parses a header from the command line.
  ///
  /// - Parameter text: The header as `NAME: VALUE`.
  /// - Throws: ``CatalogError`` when the header is not valid in HTTP. It is also thrown if the header's name, such as
  ///   `Authorization`, says that the value is a secret, but the value contains no variable such as `${NAME}`.
  package init(line text: String) throws(CatalogError) {
    guard let colon = text.firstIndex(of: ":") else {
      throw Self.fault("a header is written as 'NAME: VALUE'")
    }
    let name = text[..<colon].trimmed
    try self.init(name: name, rawValue: text[text.index(after: colon)...].trimmed)
    let words = Set(NameWords.words(of: name))
    let isSecret = !words.isDisjoint(with: [
      "authorization", "token", "key", "cookie", "secret", "password", "auth", "apikey",
    ])
    guard !isSecret || !variableNames.isEmpty else {
      throw Self.fault(
        "the value of header \(name) belongs into the environment, and its variable here: '\(name): ${NAME}'"
      )
    }
  }

  /// The value with all variables expanded.
  ///
  /// - Parameter environment: The values of the environment variables by name.
  /// - Returns: The value to send.
  /// - Throws: ``CatalogError`` when a variable is not set, or its value is not allowed in a header. The error names
  ///   the variable and shows no value.
  public func resolved(environment: [String: String]) throws(CatalogError) -> String {
    try TemplateText.fill(rawValue) { variable throws(CatalogError) in
      let given = environment[variable]
      guard let found = given, Self.isFieldValue(found) else {
        var error = place ?? Self.fault("")
        error.code = .environment
        error.reason =
          given == nil
          ? "header \(name) needs the environment variable \(variable), which is not set"
          : "the environment variable \(variable) holds a line break or control character"
        error.remedy = given == nil ? "set \(variable)" : "header \(name) needs one line"
        throw error
      }
      return found
    }
  }

  /// The names of the environment variables in the value, in their order.
  var variableNames: [String] { TemplateText.variables(in: rawValue) }

  /// Whether a text is allowed as the value of a header: it has no control character except the tab. (RFC 9110, section
  /// 5.5)
  package static func isFieldValue(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }

  private static func fault(_ reason: String) -> CatalogError {
    CatalogError(.catalogFile, subject: "headers", reason: reason)
  }
}

extension [HeaderTemplate] {
  /// The names and values of the headers, with all variables expanded.
  ///
  /// - Parameter environment: The values of the environment variables by name.
  /// - Returns: The names and values in the order of the headers.
  /// - Throws: ``CatalogError`` that names a variable that is not set. The error shows no value of a header.
  package func resolved(
    environment: [String: String]
  ) throws(CatalogError) -> [(name: String, value: String)] {
    try map { header throws(CatalogError) in
      (header.name, try header.resolved(environment: environment))
    }
  }
}

extension HeaderTemplate: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The name of the header, without its value.
  public var description: String { "\(name): (not shown)" }
  /// The name of the header, without its value.
  public var debugDescription: String { description }
  /// The name of the header alone, so that `dump` shows no value either.
  public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
