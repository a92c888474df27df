import FoundationEssentials

extension BenchReport {
  /// The report as one line of JSON; every key is there.
  package func json() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return [UInt8](try encoder.encode(self))
  }

  static func decoded(_ bytes: [UInt8]) throws -> BenchReport {
    try JSONDecoder().decode(BenchReport.self, from: Data(bytes))
  }
}
