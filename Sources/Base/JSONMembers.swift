import FoundationEssentials

/// The members of a JSON object as a table, for an object that no Swift type describes.
///
///     JSONMembers(["order": id, "note": note, "items": lines])
///
/// A value that is nil is written as `null`. JSON with sorted keys is the same each time.
package struct JSONMembers: Encodable {
  /// The values by their names.
  package var values: [String: any Encodable]

  /// Makes an object.
  package init(_ values: [String: any Encodable]) {
    self.values = values
  }

  /// Writes an object with these members.
  package func encode(to encoder: any Encoder) throws {
    try encoder.write(values)
  }
}

extension Encoder {
  /// Writes members into the encoder's JSON object.
  ///
  /// Several calls write into the same object.
  package func write(_ members: [String: any Encodable]) throws {
    var object = container(keyedBy: MemberName.self)
    for (name, value) in members { try object.encode(value, forKey: MemberName(name)) }
  }
}

/// The name of a member of a JSON object.
private struct MemberName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }
}

extension Encodable {
  /// Encodes the value as one line of JSON.
  ///
  /// Its keys are sorted, so that equal values give equal bytes.
  package func jsonLine() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return [UInt8](try encoder.encode(self))
  }
}
