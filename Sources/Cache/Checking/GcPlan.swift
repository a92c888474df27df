import Base

/// The removals of a sweep, with reasons.
///
/// Nothing that a catalog refers to goes unless that is asked for. Equal pictures share their bytes, so
/// bytes count once, and are freed when the last picture that holds them goes.
package struct GcPlan: Sendable, Hashable {
  /// A held picture, as far as the decision needs it.
  package struct Picture: Sendable, Hashable {
    /// Its identity.
    package var id: PictureID
    /// The text that tells it from others: its URL, or the part of it that the catalog file keeps.
    package var url: String
    /// Its size.
    package var bytes: ByteCount
    /// A number for its bytes, so that equal ones are counted once.
    package var content: Int64
    /// When a run last needed it: when the origin last answered for it.
    package var used: UnixTime
    /// Since when no catalog refers to it; nil while one does.
    package var unreferenced: UnixTime?

    /// A picture from its parts.
    package init(
      id: PictureID,
      url: String,
      bytes: ByteCount,
      content: Int64,
      used: UnixTime,
      unreferenced: UnixTime?
    ) {
      self.id = id
      self.url = url
      self.bytes = bytes
      self.content = content
      self.used = used
      self.unreferenced = unreferenced
    }
  }

  /// How far a sweep goes.
  package struct Limits: Sendable, Hashable {
    /// How many seconds a picture stays after the last catalog dropped it.
    package var grace: Int64
    /// How many seconds ago a picture may last have been used; nil for any time.
    package var maxAge: Int64?
    /// How many bytes may be held; nil for any number.
    package var maxBytes: ByteCount?
    /// Whether the limits on age and size may remove pictures that a catalog refers to.
    package var includesReferenced = false

    /// Limits that only remove unreferenced pictures, after a week.
    package init(grace: Int64 = 7 * 86_400, maxAge: Int64? = nil, maxBytes: ByteCount? = nil) {
      self.grace = grace
      self.maxAge = maxAge
      self.maxBytes = maxBytes
    }
  }

  /// Why a picture goes; the words are stable.
  package enum Reason: String, Sendable {
    /// No catalog has referred to it for longer than the grace.
    case unreferenced
    /// It was not used for too long.
    case age
    /// There were too many bytes, and it was used least recently.
    case size
  }

  /// One picture that goes.
  package struct Removal: Sendable, Hashable {
    /// The picture.
    package var picture: Picture
    /// Why.
    package var reason: Reason
  }

  /// The removals, in order of decision.
  package private(set) var removals: [Removal] = []
  /// How many bytes that frees.
  package private(set) var bytesFreed: ByteCount
  /// How many bytes are held afterwards.
  package private(set) var bytesKept: ByteCount
  /// How many bytes are still held beyond the size that was asked for, because catalogs need them.
  package private(set) var bytesOver: ByteCount

  /// How many pictures have each content, before anything goes.
  private let holders: [Int64: Int]
  /// The size that was asked for.
  private let most: ByteCount?

  /// Decides on the removals.
  ///
  /// - Parameters:
  ///   - pictures: everything that is held.
  ///   - limits: how far to go.
  ///   - now: the moment. A time in its future was written by a clock that has been set back
  ///     since, and counts as just now.
  package init(_ pictures: [Picture], limits: Limits, now: UnixTime) {
    var holders: [Int64: Int] = [:]
    var held: ByteCount = 0
    for picture in pictures {
      if holders[picture.content] == nil { held += picture.bytes }
      holders[picture.content, default: 0] += 1
    }
    self.holders = holders
    most = limits.maxBytes
    let before = held
    var gone: Set<PictureID> = []
    var removals: [Removal] = []
    func remove(_ picture: Picture, _ reason: Reason) {
      gone.insert(picture.id)
      removals.append(Removal(picture: picture, reason: reason))
      let left = (holders[picture.content] ?? 1) - 1
      holders[picture.content] = left
      if left == 0 { held -= picture.bytes }
    }

    for picture in pictures.sorted(by: Self.leastNeeded) {
      let age = max(0, now - picture.used)
      if let since = picture.unreferenced, now - since >= limits.grace, now >= since {
        remove(picture, .unreferenced)
      } else if let most = limits.maxAge, age > most,
        picture.unreferenced != nil || limits.includesReferenced
      {
        remove(picture, .age)
      }
    }
    if let most = limits.maxBytes {
      for picture in pictures.sorted(by: Self.leastNeeded)
      where held > most && !gone.contains(picture.id) {
        guard picture.unreferenced != nil || limits.includesReferenced else { break }
        remove(picture, .size)
      }
    }
    self.removals = removals
    bytesFreed = before - held
    bytesKept = held
    bytesOver = max(0, held - (limits.maxBytes ?? held))
  }

  /// Leaves the removals beyond the first so many, as when a sweep was stopped after those.
  package mutating func stop(after count: Int) {
    removals = Array(removals.prefix(count))
    let before = bytesKept + bytesFreed
    var left = holders
    bytesFreed = 0
    for removal in removals {
      let picture = removal.picture
      left[picture.content, default: 1] -= 1
      if left[picture.content] == 0 { bytesFreed += picture.bytes }
    }
    bytesKept = before - bytesFreed
    bytesOver = max(0, bytesKept - (most ?? bytesKept))
  }

  /// Orders unreferenced pictures first, the longest dropped leading; then the least recently used.
  private static func leastNeeded(_ left: Picture, _ right: Picture) -> Bool {
    (left.unreferenced ?? .distantFuture, left.used, left.id)
      < (right.unreferenced ?? .distantFuture, right.used, right.id)
  }
}
