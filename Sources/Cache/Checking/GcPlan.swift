import Base

/// The plan of `larder gc`: the pictures to remove, each with a reason.
///
/// A picture that a catalog refers to is only removed if the limits include referenced pictures. Equal pictures share
/// one file by hard links, so their bytes count once, and are freed only when the last of these pictures is removed.
package struct GcPlan: Sendable, Hashable {
  /// A picture whose bytes the cache has, with the fields that the decision needs.
  package struct Picture: Sendable, Hashable {
    /// The picture's key.
    package var id: PictureID
    /// The picture's identity as text: its URL, or the part of the URL that the catalog file's rule keeps.
    package var url: String
    /// The size of its file.
    package var bytes: ByteCount
    /// The first 63 bits of its SHA-256, so that equal bytes are counted once.
    package var content: Int64
    /// The last use: when the origin last confirmed or sent it.
    package var used: UnixTime
    /// When the last catalog stopped referring to it; nil while a catalog refers to it.
    package var unreferenced: UnixTime?

    /// Makes a picture from its parts.
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

  /// The limits of age and size that a sweep enforces.
  package struct Limits: Sendable, Hashable {
    /// The seconds that a picture is kept after the last catalog stopped referring to it.
    package var grace: Int64
    /// The longest time in seconds since a picture's last use; nil for no limit.
    package var maxAge: Int64?
    /// The maximum number of bytes to keep; nil for no limit.
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

  /// The reason for a removal; the raw values are stable.
  package enum Reason: String, Sendable {
    /// No catalog has referred to the picture for the grace period.
    case unreferenced
    /// The picture's last use was longer ago than `maxAge`.
    case age
    /// The cache was larger than `maxBytes`, and the picture was among the least recently used.
    case size
  }

  /// A picture to remove.
  package struct Removal: Sendable, Hashable {
    /// The picture.
    package var picture: Picture
    /// The reason.
    package var reason: Reason
  }

  /// The removals, in the sequence in which they were decided.
  package private(set) var removals: [Removal] = []
  /// The bytes that the removals free.
  package private(set) var bytesFreed: ByteCount
  /// The bytes that the cache holds after the removals.
  package private(set) var bytesKept: ByteCount
  /// The bytes above `maxBytes` that are still held, because catalogs refer to them.
  package private(set) var bytesOver: ByteCount

  /// The number of pictures with each content, before the removals.
  private let holders: [Int64: Int]
  /// The limit `maxBytes`.
  private let most: ByteCount?

  /// Decides on the removals.
  ///
  /// - Parameters:
  ///   - pictures: All pictures whose bytes the cache has.
  ///   - limits: The limits of age and size.
  ///   - now: The present moment. A time after `now` was recorded before the clock was set back, and counts as `now`.
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

  /// Keeps only the first `count` removals, for a sweep that was stopped after them.
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

  /// Sorts unreferenced pictures first, the longest unreferenced before the others; then the referenced pictures, the
  /// least recently used first.
  private static func leastNeeded(_ left: Picture, _ right: Picture) -> Bool {
    (left.unreferenced ?? .distantFuture, left.used, left.id)
      < (right.unreferenced ?? .distantFuture, right.used, right.id)
  }
}
