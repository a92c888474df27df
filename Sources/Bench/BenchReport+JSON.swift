import FoundationEssentials
import Pipeline

extension BenchReport {
  /// The report as one line of JSON; every key is there.
  package func json() throws -> [UInt8] { try jsonLine() }

  static func decoded(_ bytes: [UInt8]) throws -> BenchReport {
    try JSONDecoder().decode(BenchReport.self, from: Data(bytes))
  }
}
