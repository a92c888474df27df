import Synchronization

/// The sources that are many sections each, until the last of them is read.
///
/// Only together do they say which of the last run's sections are gone: a section that one no longer names may
/// have moved to another, or belong to one that could not be read.
final class ManySections: Sendable {
  /// What became of a source.
  struct End: Sendable {
    var reading: SectionReading
    /// The sections that it gave.
    var results: [SectionResult] = []
    /// Those that it names and that cannot be used, each with what stands in for it.
    var unusable: [SectionResult] = []
    /// Every key that it names, usable or not.
    var named: Set<String> = []
    /// Why it gave nothing, or not all.
    var failure: String?
  }

  private let state: Mutex<(open: Int, ends: [End])>

  /// Waits for so many sources.
  init(count: Int) {
    state = Mutex((count, []))
  }

  /// Takes in a source.
  ///
  /// - Parameter end: what became of it.
  /// - Returns: All sources in the catalog's order when this was the last; nil before.
  func add(_ end: End) -> [End]? {
    state.withLock { state in
      state.ends.append(end)
      guard state.ends.count == state.open else { return nil }
      return state.ends.sorted { $0.reading.position < $1.reading.position }
    }
  }
}

extension [ManySections.End] {
  /// Gives each key to the first source that has it, and returns what the others lose by it.
  mutating func giveOut() -> [(key: String, reading: SectionReading)] {
    var given: Set<String> = []
    var refused: [(key: String, reading: SectionReading)] = []
    for place in indices {
      let reading = self[place].reading
      self[place].results.removeAll { result in
        if given.insert(result.key).inserted { return false }
        refused.append((result.key, reading))
        return true
      }
    }
    for place in indices {
      // What stands in for an unusable section gives way to a usable one.
      self[place].unusable.removeAll { !given.insert($0.key).inserted }
    }
    return refused
  }
}
