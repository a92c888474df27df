import Pipeline

extension Shop {
  /// How far a sync is.
  public struct Progress: Sendable, Hashable {
    /// So many of so many.
    public struct Count: Sendable, Hashable {
      /// How many are done, failed ones included.
      public let done: Int
      /// How many there are, as far as is known yet.
      public let total: Int
    }

    /// The sections' pages.
    public let sections: Count
    /// The details of items.
    public let details: Count
    /// The pictures, each URL counted once.
    public let pictures: Count
    /// Bytes of pictures that came and were kept.
    public let bytes: Int64
    /// How many of all failed.
    public let failed: Int
  }
}

extension Shop.Progress {
  init(_ snapshot: SyncProgress.Snapshot) {
    sections = Count(snapshot.sections)
    details = Count(snapshot.details)
    pictures = Count(snapshot.pictures)
    bytes = snapshot.bytes.count
    failed = snapshot.failed
  }
}

extension Shop.Progress.Count {
  fileprivate init(_ count: SyncProgress.Count) {
    done = count.done
    total = count.total
  }
}
