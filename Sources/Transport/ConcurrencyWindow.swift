/// How many transfers one host gets at once: more while that pays, half when it hurts.
///
/// Additive increase and multiplicative decrease, as TCP shares a link, with one brake more: when answers take
/// twice as long as they once did and no more arrives for it, the host is at its best and the window goes
/// back a step.
public struct ConcurrencyWindow: Sendable {
  /// Where the window starts, and how far it may go; equal bounds fix it.
  public struct Bounds: Hashable, Sendable {
    /// The first value.
    public let start: Int
    /// The largest value.
    public let ceiling: Int

    /// Makes bounds of at least 1.
    public init(start: Int, ceiling: Int) {
      self.ceiling = max(1, ceiling)
      self.start = min(max(1, start), self.ceiling)
    }

    /// Bounds that leave nothing to adapt.
    public static func fixed(_ count: Int) -> Bounds { Bounds(start: count, ceiling: count) }
  }

  /// Added to each body's size, so that many small answers count as work done too.
  private static let answerWorth: Int64 = 8 << 10

  /// Transfers at once, just now.
  public private(set) var limit: Int
  private let bounds: Bounds
  private var epochStart: MonotonicTime?
  private var work: Int64 = 0
  private var answers = 0
  private var waited: Int64 = 0
  private var lastSpeed = 0.0
  private var leastWait = Double.infinity
  private var shrunk: MonotonicTime?

  /// Makes a window at its start.
  public init(_ bounds: Bounds) {
    self.bounds = bounds
    limit = bounds.start
  }

  /// A body of `bytes` arrived whole, its first byte after `firstByte` nanoseconds.
  public mutating func succeeded(
    bytes: Int64,
    firstByte: Int64,
    wasFull: Bool,
    at now: MonotonicTime
  ) {
    guard bounds.start < bounds.ceiling else { return }
    guard wasFull, let start = epochStart else {
      // An idle host tells nothing about what it could do.
      restart(at: now)
      return
    }
    answers += 1
    work = work.addingClamped(bytes).addingClamped(Self.answerWorth)
    waited = waited.addingClamped(firstByte)
    guard answers >= max(8, 2 * limit) else { return }
    let speed = Double(work) / Double(max(1, now - start))
    let wait = Double(waited) / Double(answers)
    leastWait = min(leastWait, wait)
    if wait > 2 * leastWait, speed < 1.05 * lastSpeed {
      limit = max(1, limit - 1)
    } else if speed > 0.9 * lastSpeed {
      limit = min(bounds.ceiling, limit + 1)
    }
    lastSpeed = speed
    restart(at: now)
  }

  /// The host broke a connection or asked for less; one volley of such answers counts once.
  public mutating func shrink(at now: MonotonicTime) {
    guard bounds.start < bounds.ceiling else { return }
    if let shrunk, now - shrunk < 1_000_000_000 { return }
    shrunk = now
    limit = max(1, limit / 2)
    lastSpeed = 0
    restart(at: now)
  }

  private mutating func restart(at now: MonotonicTime) {
    epochStart = now
    work = 0
    answers = 0
    waited = 0
  }
}
