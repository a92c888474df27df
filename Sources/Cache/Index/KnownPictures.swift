/// What an index knew of each picture when a run began: held in memory while it is little, looked up when it is much.
///
/// A run looks a picture up once, before it writes its row, so that what it finds is what was known before.
package struct KnownPictures: Sendable {
  /// Of how many pictures memory holds the state.
  package static let most = 1 << 20

  private enum Source: Sendable {
    case memory(@Sendable () throws(CacheError) -> [PictureID: PictureState])
    case index(Index)
  }

  private let source: Source
  private let leavesOutHeld: Bool

  /// What is known of the pictures in memory, or nothing.
  package init(_ states: [PictureID: PictureState] = [:]) {
    self.init(.memory { () throws(CacheError) in states }, leavesOutHeld: false)
  }

  /// What an index knows of every picture, read when somebody first asks.
  package init(_ states: PictureStates) {
    self.init(
      .memory { () throws(CacheError) in try states.read().states },
      leavesOutHeld: false
    )
  }

  /// What an index knows.
  ///
  /// - Parameters:
  ///   - index: The index.
  ///   - limit: Of how many pictures memory holds the state.
  /// - Throws: ``CacheError`` when it cannot be read.
  package init(_ index: Index, limit: Int = most) throws(CacheError) {
    let count = try index.pictureCount()
    if count > limit {
      self.init(.index(index), leavesOutHeld: false)
    } else {
      self.init(try index.pictureStates(count: count).states)
    }
  }

  private init(_ source: Source, leavesOutHeld: Bool) {
    (self.source, self.leavesOutHeld) = (source, leavesOutHeld)
  }

  /// The same without the pictures that are held.
  ///
  /// - Throws: ``CacheError`` when the index cannot be read.
  package func withoutHeld() throws(CacheError) -> KnownPictures {
    switch source {
    case .memory(let states): KnownPictures(try states().filter { !$0.value.isHeld })
    case .index: KnownPictures(source, leavesOutHeld: true)
    }
  }

  /// The states of these pictures, as far as they have any, and perhaps of others.
  ///
  /// - Throws: ``CacheError`` when the index cannot be read.
  package func states(of ids: [PictureID]) throws(CacheError) -> [PictureID: PictureState] {
    switch source {
    case .memory(let states): return try states()
    case .index(let index):
      let states = try index.pictureStates(of: ids)
      return leavesOutHeld ? states.filter { !$0.value.isHeld } : states
    }
  }

  /// Calls `body` with the identities of all, so many at a time, until it says that it has enough.
  ///
  /// - Throws: ``CacheError`` when the index cannot be read.
  package func forEachBatch(_ body: ([PictureID]) -> Bool) throws(CacheError) {
    switch source {
    case .memory(let states):
      var batch: [PictureID] = []
      for id in try states().keys {
        batch.append(id)
        guard batch.count == Index.idBatch else { continue }
        if body(batch) { return }
        batch = []
      }
      _ = body(batch)
    case .index(let index): try index.forEachPictureID(body)
    }
  }
}
