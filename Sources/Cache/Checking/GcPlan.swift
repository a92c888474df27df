import Base

/// The plan of `larder gc`: the pictures to remove, and the reason for each removal.
///
/// A picture that a catalog refers to is never removed.
///
/// If pictures have equal bytes, their files are hard links to one file. So the bytes of these pictures count once,
/// and they are freed when the last of the pictures is removed.
package struct GcPlan: Sendable, Hashable {
  /// A picture that is in the cache, with the fields that the decision needs.
  package struct Picture: Sendable, Hashable {
    package var id: PictureID
    /// The picture's identity: its URL, or the part of the URL that the rule in the catalog file keeps.
    package var url: String
    package var bytes: ByteCount
    /// The ``ContentDigest/number(of:)`` of its bytes, which is the same for pictures with equal bytes.
    package var content: Int64
    /// The time of the last use, which is the last time that the origin sent or confirmed the picture.
    package var used: UnixTime
    /// The time since which no catalog refers to the picture; nil if a catalog refers to it.
    package var unreferenced: UnixTime?
  }

  /// The limits that decide which pictures are removed.
  package struct Limits: Sendable, Hashable {
    /// The number of seconds for which a picture is kept after the last catalog stopped referring to it.
    package var grace: Int64
    /// The maximum number of bytes in the cache; nil if there is no limit.
    package var maxBytes: ByteCount?

    /// Makes limits.
    ///
    /// With the default values, a picture is removed if no catalog has referred to it for a week.
    package init(grace: Int64 = 7 * 86_400, maxBytes: ByteCount? = nil) {
      self.grace = grace
      self.maxBytes = maxBytes
    }
  }

  /// The reason for a removal.
  ///
  /// The raw values are stored in the index and never change.
  package enum Reason: String, Sendable {
    /// No catalog has referred to the picture during the grace period.
    case unreferenced
    /// The cache was larger than `maxBytes`, and the picture was among those unreferenced for the longest time.
    case size
  }

  /// A picture to remove.
  package struct Removal: Sendable, Hashable {
    package var picture: Picture
    package var reason: Reason
    /// The number of bytes that the removal frees; 0 if another picture still has the same bytes.
    var freed: ByteCount
  }

  /// The removals, in the order in which they were decided.
  package private(set) var removals: [Removal] = []
  /// The number of bytes in the cache before the removals.
  private var bytesBefore: ByteCount
  private let most: ByteCount?

  /// The number of bytes that the removals free.
  package var bytesFreed: ByteCount { removals.reduce(0) { $0 + $1.freed } }
  /// The number of bytes in the cache after the removals.
  package var bytesKept: ByteCount { bytesBefore - bytesFreed }
  /// The number of bytes by which the cache still exceeds `maxBytes`, because catalogs refer to the other pictures.
  package var bytesOver: ByteCount {
    let kept = bytesKept
    return max(0, kept - (most ?? kept))
  }

  /// Adds the removals of an earlier plan, which were made before this one.
  package mutating func include(_ earlier: GcPlan) {
    removals = earlier.removals + removals
    bytesBefore += earlier.bytesFreed
  }

  /// Decides which pictures to remove.
  ///
  /// - Parameters:
  ///   - pictures: All pictures whose bytes the cache has.
  ///   - limits: The limits of time and size.
  ///   - now: The present moment. If a recorded time is later than `now`, the clock was set back after the recording.
  ///     Such a time counts as `now`.
  package init(_ pictures: [Picture], limits: Limits, now: UnixTime) {
    var holders: [Int64: Int] = [:]
    var held: ByteCount = 0
    for picture in pictures {
      if holders[picture.content] == nil { held += picture.bytes }
      holders[picture.content, default: 0] += 1
    }
    bytesBefore = held
    most = limits.maxBytes
    var gone: Set<PictureID> = []
    var removals: [Removal] = []
    func remove(_ picture: Picture, _ reason: Reason) {
      gone.insert(picture.id)
      let left = (holders[picture.content] ?? 1) - 1
      holders[picture.content] = left
      let freed = left == 0 ? picture.bytes : 0
      held -= freed
      removals.append(Removal(picture: picture, reason: reason, freed: freed))
    }

    // Those that have been unreferenced for the longest time come first.
    let unreferenced = pictures.compactMap { picture in
      picture.unreferenced.map { (picture: picture, since: $0) }
    }.sorted {
      ($0.since, $0.picture.used, $0.picture.id) < ($1.since, $1.picture.used, $1.picture.id)
    }
    for (picture, since) in unreferenced where now - since >= limits.grace && now >= since {
      remove(picture, .unreferenced)
    }
    if let most = limits.maxBytes {
      for (picture, _) in unreferenced where held > most && !gone.contains(picture.id) {
        remove(picture, .size)
      }
    }
    self.removals = removals
  }

  /// Keeps only the first `count` removals.
  ///
  /// Call this if the removal of files was stopped after these removals.
  package mutating func stop(after count: Int) {
    removals = Array(removals.prefix(count))
  }
}
