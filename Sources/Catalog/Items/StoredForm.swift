/// Writes compact JSON whose bytes depend only on the values.
///
/// Lists of many thousand items are written with it, because Codable's encoder needs ten times the instructions.
package struct StoredFormWriter {
  /// The output so far.
  package private(set) var bytes: [UInt8] = []
  /// Whether a comma must precede the next member or element.
  private var needsComma = false

  /// Makes a writer without output.
  package init() {
    bytes.reserveCapacity(512)
  }

  /// Writes `{…}` around the output of `members`.
  package mutating func object(_ members: (inout Self) -> Void) {
    enclose(UInt8(ascii: "{"), UInt8(ascii: "}"), members)
  }

  /// Writes `[…]` around the output of `elements`.
  package mutating func array(_ elements: (inout Self) -> Void) {
    enclose(UInt8(ascii: "["), UInt8(ascii: "]"), elements)
  }

  /// Begins an object or array whose content is written piece by piece.
  mutating func open(_ bracket: Unicode.Scalar) {
    separate()
    bytes.append(UInt8(ascii: bracket))
    needsComma = false
  }

  /// Ends the object or array that ``open(_:)`` began.
  mutating func close(_ bracket: Unicode.Scalar) {
    bytes.append(UInt8(ascii: bracket))
    needsComma = true
  }

  /// Writes the name of a member, which must need no escapes.
  ///
  /// Write the value next.
  package mutating func name(_ name: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
    endName()
  }

  /// Writes the name of a member from the feed, with escapes.
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

  /// Writes a string, or `null`.
  package mutating func value(_ text: String?) {
    guard let text else { return plain("null") }
    value(text)
  }

  /// Writes a whole number, or `null`.
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

  /// Writes a member that is a string, or `null`.
  package mutating func member(_ name: StaticString, _ text: String?) {
    self.name(name)
    value(text)
  }

  /// Writes a member that is a whole number, or `null`.
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
    plain(flag ? "true" : "false")
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

  private mutating func enclose(_ open: UInt8, _ close: UInt8, _ body: (inout Self) -> Void) {
    separate()
    bytes.append(open)
    needsComma = false
    body(&self)
    bytes.append(close)
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
      $0.name("minorUnits")
      $0.value(price.minorUnits)
      $0.name("currency")
      $0.value(price.currency)
    }
  }

  /// Writes a list of strings.
  package mutating func value(_ texts: [String]) {
    array { for text in texts { $0.value(text) } }
  }

  /// Writes an object of texts by name, sorted by name.
  mutating func value(_ texts: [String: String]) {
    object {
      for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
        $0.name(escaping: name)
        $0.value(text)
      }
    }
  }

  /// Writes an object of numbers by name, sorted by name.
  package mutating func value(_ counts: [String: Int]) {
    object {
      for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
        $0.name(escaping: name)
        $0.value(count)
      }
    }
  }

  /// Writes lost fields as `[{"field":"prices","reason":"…"}]`.
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
          $0.name("role")
          $0.value(image.role.rawValue)
          $0.name("url")
          $0.value(image.url)
        }
      }
    }
  }
}

/// Reads the output of `StoredFormWriter`; any other form is an error.
struct StoredFormReader {
  /// The object to read from.
  private let node: JSONNode
  /// A name for the object, for messages.
  private let subject: String

  /// Parses stored bytes, which must be one JSON object.
  init(_ bytes: [UInt8], subject: String) throws(CatalogError) {
    node = try JSONDocument(parsing: bytes, of: subject, depthLimit: 8).root
    self.subject = subject
    guard node.kind == .object else { throw fault("expected an object") }
  }

  /// Reads a string; throws when it is absent.
  func text(_ name: String) throws(CatalogError) -> String {
    guard let text = node[name]?.text else { throw fault("expected text in \(name)") }
    return text
  }

  /// Reads a string, or nil when it is absent.
  func optionalText(_ name: String) throws(CatalogError) -> String? {
    try node[name] == nil ? nil : text(name)
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

  /// Reads a list of strings, or nil when it is absent.
  func optionalTexts(_ name: String) throws(CatalogError) -> [String]? {
    try node[name] == nil ? nil : texts(name)
  }

  /// Reads a price, or nil when it is absent.
  func optionalPrice(_ name: String) throws(CatalogError) -> Price? {
    guard let node = node[name] else { return nil }
    return try price(node, in: name)
  }

  /// Reads a list of prices.
  func prices(_ name: String) throws(CatalogError) -> [Price] {
    var prices: [Price] = []
    for element in try list(name) { prices.append(try price(element, in: name)) }
    return prices
  }

  /// Reads the pictures.
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

  /// Reads texts by name.
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

  /// Reads texts by name, or nil when they are absent.
  func optionalDictionary(_ name: String) throws(CatalogError) -> [String: String]? {
    try node[name] == nil ? nil : dictionary(name)
  }

  /// Reads the fields that could not be read; nil when the member is absent.
  func optionalLostFields(_ name: String) throws(CatalogError) -> [LostField]? {
    guard node[name] != nil else { return nil }
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

  private func price(_ node: JSONNode, in name: String) throws(CatalogError) -> Price {
    guard let units = node["minorUnits"]?.integer, let currency = node["currency"]?.text else {
      throw fault("expected a price in \(name)")
    }
    return Price(minorUnits: units, currency: currency)
  }

  private func fault(_ reason: String) -> CatalogError {
    CatalogError(.storedForm, subject: subject, reason: reason)
  }
}
