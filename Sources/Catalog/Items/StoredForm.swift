/// Writes compact JSON.
///
/// Equal values give the same bytes in every run.
///
/// Items are stored in this form. Codable's encoder needs ten times as many instructions for the same output.
package struct StoredFormWriter {
  /// The output so far.
  package private(set) var bytes: [UInt8] = []
  /// Whether a comma must precede the next member or element.
  private var needsComma = false

  /// Makes a writer without output.
  package init() {
    bytes.reserveCapacity(512)
  }

  /// A text as a JSON string, with its quotes. (RFC 8259, section 7)
  static func quoted(_ text: String) -> String {
    var writer = StoredFormWriter()
    writer.value(text)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Writes `{…}` around the output of `members`.
  package mutating func object(_ members: (inout Self) -> Void) {
    open("{")
    members(&self)
    close("}")
  }

  /// Writes `[…]` around the output of `elements`.
  package mutating func array(_ elements: (inout Self) -> Void) {
    open("[")
    elements(&self)
    close("]")
  }

  /// Begins an object or an array.
  ///
  /// Write its content, and then call ``close(_:)``.
  mutating func open(_ bracket: Unicode.Scalar) {
    separate()
    bytes.append(UInt8(ascii: bracket))
    needsComma = false
  }

  /// Ends the object or the array that ``open(_:)`` began.
  mutating func close(_ bracket: Unicode.Scalar) {
    bytes.append(UInt8(ascii: bracket))
    needsComma = true
  }

  /// Writes the name of a member.
  ///
  /// The name must consist of characters that JSON does not escape. Write the value next.
  package mutating func name(_ name: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
    endName()
  }

  /// Writes the name of a member, escaping its characters where necessary.
  ///
  /// Write the value next.
  mutating func name(escaping name: String) {
    separate()
    quote(name)
    endName()
  }

  private mutating func endName() {
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes a string.
  package mutating func value(_ text: String) {
    separate()
    quote(text)
    needsComma = true
  }

  /// Writes a string, or `null` for nil.
  package mutating func value(_ text: String?) {
    guard let text else { return plain("null") }
    value(text)
  }

  /// Writes a whole number, or `null` for nil.
  package mutating func value(_ number: (some BinaryInteger)?) {
    plain(number.map { String($0) } ?? "null")
  }

  /// Writes true or false.
  mutating func value(_ flag: Bool) {
    plain(flag ? "true" : "false")
  }

  /// Writes a number, which must be finite.
  package mutating func value(_ number: Double) {
    plain(number.description)
  }

  /// Writes a member that is a string, or `null` for nil.
  package mutating func member(_ name: StaticString, _ text: String?) {
    self.name(name)
    value(text)
  }

  /// Writes a member that is a whole number, or `null` for nil.
  package mutating func member(_ name: StaticString, _ number: (some BinaryInteger)?) {
    self.name(name)
    value(number)
  }

  /// Writes a member that is a number, which must be finite.
  package mutating func member(_ name: StaticString, _ number: Double) {
    self.name(name)
    value(number)
  }

  /// Writes a member that is true or false.
  package mutating func member(_ name: StaticString, _ flag: Bool) {
    self.name(name)
    value(flag)
  }

  /// Writes a member that is a list of strings.
  package mutating func member(_ name: StaticString, _ texts: [String]) {
    self.name(name)
    value(texts)
  }

  private mutating func plain(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }

  private mutating func quote(_ text: String) {
    var text = text
    bytes.append(UInt8(ascii: "\""))
    text.withUTF8 { quote($0) }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func quote(_ text: UnsafeBufferPointer<UInt8>) {
    let mustEscape = text.contains {
      $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\")
    }
    guard mustEscape else { return bytes.append(contentsOf: text) }
    for byte in text {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0..<0x20:
        bytes.append(contentsOf: "\\u00".utf8)
        bytes.append(Self.hexadecimal(byte >> 4))
        bytes.append(Self.hexadecimal(byte & 15))
      default: bytes.append(byte)
      }
    }
  }

  private static func hexadecimal(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}

extension StoredFormWriter {
  /// Writes a price as `{"minorUnits":7000,"currency":"KRW"}`.
  mutating func value(_ price: Price) {
    object {
      $0.member("minorUnits", price.minorUnits)
      $0.member("currency", price.currency)
    }
  }

  /// Writes a list of strings.
  package mutating func value(_ texts: [String]) {
    array { for text in texts { $0.value(text) } }
  }

  /// Writes an object whose members are texts, in the order of their names: `{"fee":"…","point":"…"}`.
  mutating func value(_ texts: [String: String]) {
    object {
      for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
        $0.name(escaping: name)
        $0.value(text)
      }
    }
  }

  /// Writes an object whose members are numbers, in the order of their names.
  package mutating func value(_ counts: [String: Int]) {
    object {
      for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
        $0.name(escaping: name)
        $0.value(count)
      }
    }
  }

  /// Writes the fields that could not be read as `[{"field":"prices","reason":"…"}]`.
  mutating func value(_ lost: [LostField]) {
    array {
      for fault in lost {
        $0.object {
          if let field = fault.field { $0.member("field", field) }
          $0.member("reason", fault.reason)
        }
      }
    }
  }

  /// Writes pictures as `[{"role":"top","url":"…"}]`.
  mutating func value(_ images: [ImageReference]) {
    array {
      for image in images {
        $0.object {
          $0.member("role", image.role.rawValue)
          $0.member("url", image.url)
        }
      }
    }
  }
}

/// Reads the members of a stored item or detail, which ``StoredFormWriter`` has written.
struct StoredFormReader {
  private let node: JSONNode
  /// The name of the object for messages, such as "stored item".
  private let subject: String

  /// Parses stored bytes, which must be one JSON object.
  init(_ bytes: [UInt8], subject: String) throws(CatalogError) {
    node = try JSONDocument(parsing: bytes, of: subject, depthLimit: 8).root
    self.subject = subject
    guard node.kind == .object else { throw fault("expected an object") }
  }

  /// Reads a member with one of the functions below, or returns nil if the object does not have the member.
  func optional<Value>(
    _ name: String,
    _ read: (String) throws(CatalogError) -> Value
  ) throws(CatalogError) -> Value? {
    node[name] == nil ? nil : try read(name)
  }

  /// Reads a string.
  ///
  /// It throws when the member is absent, as do the functions below.
  func text(_ name: String) throws(CatalogError) -> String {
    guard let text = node[name]?.text else { throw fault("expected text in \(name)") }
    return text
  }

  /// Reads a list of strings.
  func texts(_ name: String) throws(CatalogError) -> [String] {
    var texts: [String] = []
    for element in try list(name) {
      guard let text = element.text else { throw fault("expected texts in \(name)") }
      texts.append(text)
    }
    return texts
  }

  /// Reads a price.
  func price(_ name: String) throws(CatalogError) -> Price { try price(node[name], in: name) }

  /// Reads a list of prices.
  func prices(_ name: String) throws(CatalogError) -> [Price] {
    var prices: [Price] = []
    for element in try list(name) { prices.append(try price(element, in: name)) }
    return prices
  }

  /// Reads a list of pictures.
  func images(_ name: String) throws(CatalogError) -> [ImageReference] {
    var images: [ImageReference] = []
    for element in try list(name) {
      guard let role = element["role"]?.text.flatMap(ImageReference.Role.init(rawValue:)),
        let url = element["url"]?.text
      else { throw fault("expected pictures in \(name)") }
      images.append(ImageReference(role: role, url: url))
    }
    return images
  }

  /// Reads an object whose members are texts.
  func dictionary(_ name: String) throws(CatalogError) -> [String: String] {
    guard let node = node[name], node.kind == .object else {
      throw fault("expected an object in \(name)")
    }
    var texts: [String: String] = [:]
    for (key, value) in node.members {
      guard let text = value.text else { throw fault("expected texts in \(name)") }
      texts[key] = text
    }
    return texts
  }

  /// Reads a list of the fields that could not be read in the shop's response.
  func lostFields(_ name: String) throws(CatalogError) -> [LostField] {
    var fields: [LostField] = []
    for element in try list(name) {
      guard let reason = element["reason"]?.text else { throw fault("expected faults in \(name)") }
      fields.append(LostField(field: element["field"]?.text, reason: reason))
    }
    return fields
  }

  private func list(_ name: String) throws(CatalogError) -> [JSONNode] {
    guard let node = node[name], node.kind == .array else {
      throw fault("expected a list in \(name)")
    }
    return node.elements
  }

  private func price(_ node: JSONNode?, in name: String) throws(CatalogError) -> Price {
    guard let units = node?["minorUnits"]?.integer, let currency = node?["currency"]?.text else {
      throw fault("expected a price in \(name)")
    }
    return Price(minorUnits: units, currency: currency)
  }

  private func fault(_ reason: String) -> CatalogError {
    CatalogError(.storedForm, subject: subject, reason: reason)
  }
}
