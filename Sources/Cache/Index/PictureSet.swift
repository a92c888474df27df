/// A set of pictures that memory holds while they are few, and SQLite beside it when they are many.
///
/// Up to ``most`` it is a Swift set. Beyond, those that it held go into a ``ScratchTable``, and again whenever as many
/// have come, so that memory is bounded. Not safe on several threads: its owner has a lock.
package struct PictureSet {
  /// How many pictures memory holds at most.
  package static let most = 1 << 18

  private var recent: Set<PictureID> = []
  private var older: ScratchTable?
  private let limit: Int
  /// The first thing that went wrong; nothing is added from then on.
  package private(set) var failure: CacheError?

  /// An empty set.
  ///
  /// - Parameter limit: How many pictures memory holds at most.
  package init(limit: Int = most) {
    self.limit = limit
  }

  /// Adds pictures.
  ///
  /// - Returns: Those that were not there, in order, each once; none after a failure.
  package mutating func insert(_ ids: [PictureID]) -> [PictureID] {
    let known = known(ids)
    guard failure == nil else { return [] }
    let new = ids.filter { !known.contains($0) && recent.insert($0).inserted }
    if recent.count >= limit { spill() }
    return failure == nil ? new : []
  }

  /// Those of these pictures that are in the set.
  package mutating func members(_ ids: [PictureID]) -> Set<PictureID> {
    known(ids).union(ids.filter(recent.contains))
  }

  /// Whether all of these pictures are in the set.
  package mutating func hasAll(_ ids: [PictureID]) -> Bool {
    // Without a set of them for each question, where memory holds all that there is.
    older == nil ? ids.allSatisfy(recent.contains) : members(ids).isSuperset(of: ids)
  }

  /// All of them in order, in memory.
  ///
  /// - Throws: ``CacheError`` when they cannot be read.
  package func sorted() throws(CacheError) -> [PictureID] {
    if let failure { throw failure }
    guard let older else { return recent.sorted() }
    return (try older.pictures() + recent).sorted()
  }

  /// Those of these pictures that are in the table.
  private mutating func known(_ ids: [PictureID]) -> Set<PictureID> {
    guard let older, failure == nil else { return [] }
    do throws(CacheError) {
      return Set(try older.numbers(of: ids).map(\.id))
    } catch {
      failure = error
      return []
    }
  }

  private mutating func spill() {
    do throws(CacheError) {
      let table: ScratchTable
      if let older { table = older } else { table = try ScratchTable() }
      for id in recent { _ = try table.add(id, 0) }
      _ = try table.settle()
      older = table
      recent.removeAll(keepingCapacity: true)
    } catch {
      failure = error
    }
  }
}
