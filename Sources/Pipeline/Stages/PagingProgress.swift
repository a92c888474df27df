import Cache
import Synchronization

/// What the pages of one source have brought so far, so that reading ends where they begin to repeat, and
/// which of them may go unasked.
///
/// An unattended run leaves a page alone while it is fresh. Once one page has changed, items may have moved
/// between pages: all of them are then asked for, those that were left alone too.
///
/// A class: a reading is handed on from page to page, and the ids of many thousand items with it.
final class PagingProgress: Sendable {
  /// What was read since the first page, which reading anew forgets.
  private struct Read {
    var pages = 0
    var visited: Set<String> = []
    var digests: Set<Int64> = []
    var ids: [String: Set<String>] = [:]
    var elements: [String: Int] = [:]
    var repeats: [String: Int] = [:]
  }

  private struct State {
    var read = Read()
    /// The pages that the origin was asked for.
    var asked: Set<String> = []
    /// The pages that the origin says it does not have.
    var gone: Set<String> = []
    var hasLeftAlone = false
    var asksAll = false
  }

  private let state = Mutex(State())

  /// Whether a held page is taken as it is; if not, the caller asks for it now.
  ///
  /// - Parameters:
  ///   - name: the page.
  ///   - isFresh: whether it is fresh.
  /// - Returns: True also for one that this run asked for already.
  func leavesAlone(_ name: String, isFresh: Bool) -> Bool {
    state.withLock { state in
      if state.asked.contains(name) { return true }
      guard isFresh, !state.asksAll else {
        state.asked.insert(name)
        return false
      }
      state.hasLeftAlone = true
      return true
    }
  }

  /// Whether the origin was asked for a page and does not have it.
  func isGone(_ name: String) -> Bool { state.withLock { $0.gone.contains(name) } }

  /// Notes that a page changed, or went.
  ///
  /// - Parameters:
  ///   - name: the page.
  ///   - isGone: whether it went.
  /// - Returns: Whether reading begins anew, because earlier pages were left alone.
  func noteChange(of name: String, isGone: Bool = false) -> Bool {
    state.withLock { state in
      if isGone { state.gone.insert(name) }
      state.asksAll = true
      guard state.hasLeftAlone else { return false }
      state.hasLeftAlone = false
      state.read = Read()
      return true
    }
  }

  /// Notes that a page is asked for; false when it was before.
  func visit(_ name: String) -> Bool {
    state.withLock { $0.read.visited.insert(name).inserted }
  }

  /// How many elements the pages before the current one list for a section.
  func elements(of section: String) -> Int {
    state.withLock { $0.read.elements[section] ?? 0 }
  }

  /// How many items of a section came with pages that brought nothing new.
  func repeats(of section: String) -> Int {
    state.withLock { $0.read.repeats[section] ?? 0 }
  }

  /// Takes a page in, unless it repeats earlier ones: it has the bytes of one, or items and none that
  /// is new.
  ///
  /// - Parameters:
  ///   - document: The page's row.
  ///   - sections: What it was decoded to.
  ///   - index: Where their listings are.
  /// - Returns: Whether the page is taken in.
  /// - Throws: ``CacheError`` when the index cannot be read.
  func take(
    _ document: DocumentEntry,
    _ sections: [DecodedSection],
    of index: Index
  ) throws(CacheError) -> Bool {
    var listed: [String: [String]] = [:]
    var elements: [String: Int] = [:]
    for section in sections {
      let keys = try index.itemKeys(listing: section.listing)
      listed[section.key] = keys
      elements[section.key] = keys.count + SectionNotes(section.skipped).lost
    }
    return state.withLock { state in
      state.read.pages += 1
      let isCopy = document.digest.map { !state.read.digests.insert($0).inserted } ?? false
      let isOld = listed.allSatisfy { key, ids in
        ids.allSatisfy { state.read.ids[key]?.contains($0) == true }
      }
      let count = listed.values.reduce(0) { $0 + $1.count }
      if isCopy || state.read.pages > 1 && isOld && count > 0 {
        for (key, ids) in listed { state.read.repeats[key, default: 0] += ids.count }
        return false
      }
      for (key, ids) in listed { state.read.ids[key, default: []].formUnion(ids) }
      for (key, count) in elements { state.read.elements[key, default: 0] += count }
      return true
    }
  }
}
