/// Finds the candidate that takes the fewest edits to reach from `word`.
///
/// An edit inserts, drops or replaces a letter, or swaps two neighbours (optimal string
/// alignment). Case is ignored; of equals the first wins.
///
/// - Parameters:
///   - word: What was written.
///   - candidates: What is known.
/// - Returns: The nearest candidate; nil when there is none to choose from.
public func nearest(to word: String, in candidates: [String]) -> String? {
  let written = Array(word.lowercased().unicodeScalars.prefix(64))
  var best: (distance: Int, candidate: String)?
  for candidate in candidates {
    let distance = editDistance(written, Array(candidate.lowercased().unicodeScalars))
    if distance < best?.distance ?? .max { best = (distance, candidate) }
  }
  return best?.candidate
}

/// Counts the edits between two words.
private func editDistance(_ one: [Unicode.Scalar], _ other: [Unicode.Scalar]) -> Int {
  var beforeLast: [Int] = []
  var last = Array(0...other.count)
  for (row, letter) in one.enumerated() {
    var current = [row + 1]
    current.reserveCapacity(other.count + 1)
    for (column, wanted) in other.enumerated() {
      var cost = min(
        last[column + 1] + 1,
        current[column] + 1,
        last[column] + (letter == wanted ? 0 : 1)
      )
      if row > 0, column > 0, letter == other[column - 1], one[row - 1] == wanted {
        cost = min(cost, beforeLast[column - 1] + 1)
      }
      current.append(cost)
    }
    beforeLast = last
    last = current
  }
  return last[other.count]
}
