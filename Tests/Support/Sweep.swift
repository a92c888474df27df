import Foundation

/// How much of a sweep over every byte, or of a product of cases, a run of the tests plays.
///
/// A part, so that all tests take eight minutes of a processor; `LARDER_SWEEPS=all`, which `script/campaign` sets, plays
/// the whole.
package enum Sweep {
  /// Whether nothing is left out.
  package static let isWhole = ProcessInfo.processInfo.environment["LARDER_SWEEPS"] == "all"

  /// Every place, or each `step`-th beginning at one that depends on `part`: `step` parts in a row leave none out.
  package static func places(_ count: Int, part: Int, step: Int = 3) -> StrideTo<Int> {
    isWhole ? stride(from: 0, to: count, by: 1) : stride(from: part % step, to: count, by: step)
  }

  /// Each of `these` with all of `others`, or with one of them in turn.
  ///
  /// Those beside each other meet different ones, and those that lie as far apart as there are others do, too.
  package static func pairs<One, Other>(_ these: [One], _ others: [Other]) -> [(One, Other)] {
    if isWhole { return these.flatMap { one in others.map { (one, $0) } } }
    return these.enumerated().map { index, one in
      (one, others[(index + index / others.count) % others.count])
    }
  }
}
