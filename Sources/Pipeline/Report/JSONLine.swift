import FoundationEssentials

extension Encodable {
  /// The value as one line of JSON, keys sorted, so that equal values give equal bytes.
  package func jsonLine() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return [UInt8](try encoder.encode(self))
  }
}
