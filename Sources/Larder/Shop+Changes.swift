import Cache
import Catalog
import FoundationEssentials
import Pipeline

extension Shop {
  /// What changed between two runs.
  public struct Changes: Sendable, Hashable {
    /// The run that was compared with; nil when the newer one is the first.
    public let old: Int64?
    /// The run that was looked at.
    public let new: Int64
    /// Items that came, went, moved or changed.
    public let items: CatalogDiff
    /// The URLs of pictures with new bytes.
    public let pictures: [String]
    /// The URLs of pictures that a sweep removed in between.
    public let removedPictures: [String]
  }

  /// One run in the history.
  public struct Run: Sendable, Hashable, Identifiable {
    /// Its number.
    public let id: Int64
    /// When it began.
    public let started: Date
    /// When it ended; nil while it is under way, or when it was killed.
    public let finished: Date?
    /// How it ended.
    public let outcome: Report.Outcome?
  }

  /// What changed between two runs that ended.
  ///
  /// - Parameters:
  ///   - old: The run to compare with; without it, the one before `new`.
  ///   - new: The run to look at; without it, the last.
  /// - Returns: What changed.
  /// - Throws: ``LarderError`` with the code `not-found` when there is no such run.
  public func changes(from old: Int64? = nil, to new: Int64? = nil) throws(LarderError) -> Changes
  {
    try LarderError.translating {
      let (first, last, diff) = try reader().diff(
        from: old.map(RunID.init(rawValue:)),
        to: new.map(RunID.init(rawValue:))
      )
      return Changes(
        old: first?.rawValue,
        new: last.rawValue,
        items: diff.listing,
        pictures: diff.pictures,
        removedPictures: diff.removed.map(\.url)
      )
    }
  }

  /// The runs, newest first.
  ///
  /// - Parameter limit: How many at most.
  /// - Returns: The runs, those that were killed included.
  /// - Throws: ``LarderError`` with the code `not-found` when nothing was synced yet.
  public func runs(limit: Int = 20) throws(LarderError) -> [Run] {
    try LarderError.translating {
      try reader().runs(limit: limit).map { run in
        Run(
          id: run.id.rawValue,
          started: Date(run.started),
          finished: run.finished.map(Date.init),
          outcome: run.outcome.flatMap(Report.Outcome.init(rawValue:))
        )
      }
    }
  }
}
