import Foundation

/// The part of an exhaustive test, such as every byte or every combination, that one test run
/// covers.
///
/// Ordinary runs cover a part, so that all tests take eight minutes of processor time.
/// `LARDER_SWEEPS=all`, which `script/campaign` sets, covers everything.
package enum Sweep {
  /// Whether everything is covered.
  package static let isWhole = ProcessInfo.processInfo.environment["LARDER_SWEEPS"] == "all"

  /// Every index, or every `step`-th one with an offset that depends on `part`; `step` consecutive
  /// parts cover all.
  package static func places(_ count: Int, part: Int, step: Int = 3) -> StrideTo<Int> {
    isWhole ? stride(from: 0, to: count, by: 1) : stride(from: part % step, to: count, by: step)
  }

  /// Each of `these` with all of `others`, or with one of them in turn.
  ///
  /// Neighbours get different ones.
  package static func pairs<One, Other>(_ these: [One], _ others: [Other]) -> [(One, Other)] {
    if isWhole { return these.flatMap { one in others.map { (one, $0) } } }
    return these.enumerated().map { index, one in
      (one, others[(index + index / others.count) % others.count])
    }
  }
}
