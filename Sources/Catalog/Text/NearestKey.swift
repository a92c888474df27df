/// Finds the candidate that is most similar to `word`: the one that needs the fewest edits.
///
/// An edit inserts, removes or replaces a letter, or swaps two neighbours (optimal string alignment). Case is ignored;
/// of equally similar candidates, the first is returned.
///
/// - Parameters:
///   - word: The word as written.
///   - candidates: The known words.
/// - Returns: The most similar candidate; nil when there are no candidates.
public func nearest(to word: String, in candidates: [String]) -> String? {
  nearest(1, to: word, in: candidates).first
}

/// Finds the candidates that are most similar to `word`; see ``nearest(to:in:)``.
///
/// - Parameters:
///   - count: The maximum number of candidates to return.
///   - word: The word as written.
///   - candidates: The known words.
/// - Returns: The candidates, the most similar first.
package func nearest(_ count: Int, to word: String, in candidates: some Sequence<String>)
  -> [String]
{
  let written = Array(word.lowercased().unicodeScalars.prefix(64))
  var best: [(distance: Int, candidate: String)] = []
  for candidate in candidates {
    let scalars = Array(candidate.lowercased().unicodeScalars)
    // The difference in length is a lower bound for the number of edits.
    let least = abs(scalars.count - written.count)
    if best.count == count, let last = best.last, least >= last.distance { continue }
    let distance = editDistance(written, scalars)
    let place = best.firstIndex { distance < $0.distance } ?? best.count
    guard place < count else { continue }
    best.insert((distance, candidate), at: place)
    if best.count > count { best.removeLast() }
  }
  return best.map(\.candidate)
}

/// Finds the candidate that was probably meant: the most similar one, if the edits are fewer than half of the letters.
///
/// - Parameters:
///   - word: The word as written.
///   - candidates: The known words.
/// - Returns: The candidate; nil when it would only be a guess.
package func probablyMeant(by word: String, in candidates: [String]) -> String? {
  guard let candidate = nearest(to: word, in: candidates) else { return nil }
  let letters = [word, candidate].map { Array($0.lowercased().unicodeScalars.prefix(64)) }
  let longest = max(letters[0].count, letters[1].count)
  return 2 * editDistance(letters[0], letters[1]) < longest ? candidate : nil
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
