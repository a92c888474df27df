import Cache
import FoundationEssentials

/// What `verify` found, as JSON and for people.
struct VerifyDocument: Encodable {
  private let checked: Int
  private let damaged: [String]
  private let missing: [String]
  private let stray: [String]
  private let clean: Bool

  init(_ report: VerifyReport) {
    checked = report.checked
    damaged = report.damaged
    missing = report.missing
    stray = report.stray
    clean = report.isClean
  }

  /// One line of JSON.
  func json() throws -> [UInt8] {
    try jsonLine()
  }

  /// A line a fault, then the verdict.
  func text(repaired: Bool) -> String {
    var lines = damaged.map { "damaged  \($0)" }
    lines += missing.map { "missing  \($0)" }
    lines += stray.map { "stray    \($0)" }
    let verdict =
      clean
      ? "clean"
      : "\(damaged.count) damaged, \(missing.count) missing, \(stray.count) stray"
        + (repaired
          ? "; repaired: run larder sync to fetch what is missing"
          : "; larder verify --repair mends it")
    lines.append("\(Quantities.count(checked, "picture")) checked: \(verdict)")
    return lines.joined(separator: "\n")
  }
}
