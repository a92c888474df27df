import Foundation

/// How much of a sweep over every byte or every pair a run of the tests plays.
///
/// A third, so that all tests take ten minutes; `LARDER_SWEEPS=all`, which `script/campaign` sets, plays the whole.
package enum Sweep {
  /// Whether nothing is left out.
  package static let isWhole = ProcessInfo.processInfo.environment["LARDER_SWEEPS"] == "all"

  /// Every place, or each third beginning at one that depends on `part`: three parts beside each other leave none out.
  package static func places(_ count: Int, part: Int) -> StrideTo<Int> {
    isWhole ? stride(from: 0, to: count, by: 1) : stride(from: part % 3, to: count, by: 3)
  }
}
