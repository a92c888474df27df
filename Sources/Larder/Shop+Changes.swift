import Cache
import Catalog
import FoundationEssentials
import Pipeline

extension Shop {
  /// What changed between two runs.
  public struct Changes: Sendable, Hashable {
    /// The run that was compared with; nil when the newer one is the first.
    public let old: Run.ID?
    /// The run that was looked at.
    public let new: Run.ID
    /// Items that came, went or changed.
    public let items: CatalogDiff
    /// The URLs of pictures with new bytes.
    public let pictures: [String]
    /// The URLs of pictures that a sweep removed in between.
    public let removedPictures: [String]
  }

  /// One run in the history.
  public struct Run: Sendable, Hashable, Identifiable {
    /// Its number: runs count from 1 in each cache, over all its catalogs.
    public struct ID: RawRepresentable, Hashable, Comparable, Sendable,
      ExpressibleByIntegerLiteral,
      CustomStringConvertible
    {
      /// The number, as the commands print it.
      public let rawValue: Int64

      /// The run of a number.
      public init(rawValue: Int64) { self.rawValue = rawValue }

      /// The run of a number.
      public init(integerLiteral number: Int64) { self.init(rawValue: number) }

      /// The number in digits.
      public var description: String { String(rawValue) }

      /// Orders by when they began.
      public static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }

      init(_ run: RunID) { self.init(rawValue: run.rawValue) }
    }

    /// Its number.
    public let id: ID
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
  public func changes(
    from old: Run.ID? = nil,
    to new: Run.ID? = nil
  ) async throws(LarderError) -> Changes {
    try await Blocking.run { _ in
      let (first, last, diff) = try reader().diff(
        from: old.map { RunID(rawValue: $0.rawValue) },
        to: new.map { RunID(rawValue: $0.rawValue) }
      )
      return Changes(
        old: first.map(Run.ID.init),
        new: Run.ID(last),
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
  public func runs(limit: Int = 20) async throws(LarderError) -> [Run] {
    try await Blocking.run { _ in
      try reader().runs(limit: limit).map { run in
        Run(
          id: Run.ID(run.id),
          started: Date(run.started),
          finished: run.finished.map(Date.init),
          outcome: run.outcome.flatMap(Report.Outcome.init(rawValue:))
        )
      }
    }
  }
}
