import Synchronization

/// How far a sync is, to be looked at from any thread while it runs.
public final class SyncProgress: Sendable {
  /// So many of so many.
  public struct Count: Sendable, Equatable {
    /// How many are done, failed ones included.
    public var done = 0
    /// How many there are, as far as is known yet.
    public var total = 0
  }

  /// One moment's state.
  public struct Snapshot: Sendable, Equatable {
    /// Section pages.
    public var sections = Count()
    /// Details.
    public var details = Count()
    /// Unique pictures.
    public var pictures = Count()
    /// Picture bytes received and kept.
    public var bytes: Int64 = 0
    /// How many of all failed.
    public var failed = 0
  }

  private let state = Mutex(Snapshot())

  /// Nothing done of nothing.
  public init() {}

  /// How things stand now.
  public var snapshot: Snapshot { state.withLock { $0 } }

  func update(_ body: (inout Snapshot) -> Void) {
    state.withLock { body(&$0) }
  }
}
