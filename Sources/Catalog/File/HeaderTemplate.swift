/// A request header whose value may name environment variables; its value is never shown.
public struct HeaderTemplate: Hashable, Sendable {
  /// The field name, a token. (RFC 9110, section 5.6.2)
  public let name: String
  /// The value as it is in the file, with variables not expanded.
  ///
  /// It may be a secret.
  public let rawValue: String
  /// The position of the value in its file, as an error that still lacks its reason.
  var place: CatalogError?

  /// Makes a header.
  ///
  /// - Parameters:
  ///   - name: The field name.
  ///   - rawValue: The value, with `${NAME}` for an environment variable.
  /// - Throws: ``CatalogError`` when the name or the value is not valid in HTTP.
  public init(name: String, rawValue: String) throws(CatalogError) {
    guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else {
      throw Self.fault("\"\(name.prefix(40))\" is not a header name: letters, digits and - only")
    }
    guard Self.isFieldValue(rawValue) else {
      throw Self.fault("the value of header \(name) holds a line break or control character")
    }
    self.name = name
    self.rawValue = rawValue
    _ = try parts()
  }

  /// A header given on the command line as `NAME: VALUE`; a secret must be written as `${NAME}`.
  ///
  /// - Parameter text: The header.
  /// - Throws: ``CatalogError`` when it could not be sent, or seems to hold a secret instead of
  ///   `${NAME}`.
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
  /// - Parameter environment: Variables by name.
  /// - Returns: The value to send.
  /// - Throws: ``CatalogError`` that names the variable at fault, and shows no value.
  public func resolved(environment: [String: String]) throws(CatalogError) -> String {
    do throws(CatalogError) {
      return try substituted(environment)
    } catch {
      guard var placed = place else { throw error }
      placed.code = error.code
      placed.reason = error.reason
      placed.remedy = error.remedy
      throw placed
    }
  }

  /// The variables that the value names, in order.
  var variableNames: [String] {
    let parts = (try? parts()) ?? []
    return parts.compactMap { if case .variable(let name) = $0 { name } else { nil } }
  }

  private func substituted(_ environment: [String: String]) throws(CatalogError) -> String {
    var value = ""
    for part in try parts() {
      switch part {
      case .text(let text): value += text
      case .variable(let variable):
        guard let found = environment[variable] else {
          throw Self.fault(
            "header \(name) needs the environment variable \(variable), which is not set",
            code: .environment,
            remedy: "set \(variable)"
          )
        }
        guard Self.isFieldValue(found) else {
          throw Self.fault(
            "the environment variable \(variable) holds a line break or control character",
            code: .environment,
            remedy: "header \(name) needs one line"
          )
        }
        value += found
      }
    }
    return value
  }

  private func parts() throws(CatalogError) -> [TemplateText.Part] {
    do throws(TemplateText.Fault) {
      return try TemplateText(rawValue).parts
    } catch {
      throw Self.fault("header \(name) \(error.reason)")
    }
  }

  /// Whether a text may be the value of a header field: it has no control character except the tab. (RFC 9110, section
  /// 5.5)
  static func isFieldValue(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  private static func fault(
    _ reason: String,
    code: CatalogError.Code = .catalogFile,
    remedy: String? = nil
  ) -> CatalogError {
    CatalogError(code, subject: "headers", reason: reason, remedy: remedy)
  }
}

extension HeaderTemplate: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The header's name, without its value.
  public var description: String { "\(name): (not shown)" }
  /// The header's name, without its value.
  public var debugDescription: String { description }
  /// The header's name alone, so that `dump` shows no value either.
  public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
