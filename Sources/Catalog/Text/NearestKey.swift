/// Finds the known word that is most similar to a word, for example "price" for "prcie".
///
/// It is the word that needs the fewest edits. An edit inserts, removes or replaces a letter, or swaps two neighbours
/// (optimal string alignment). Case is ignored. If several words are equally similar, the first is returned.
///
/// - Parameters:
///   - word: The word as the user wrote it.
///   - candidates: The known words.
/// - Returns: The most similar known word, or nil if there are no known words.
public func nearest(to word: String, in candidates: [String]) -> String? {
  nearest(1, to: word, in: candidates).first
}

/// Finds the known words that are most similar to a word.
///
/// ``nearest(to:in:)`` says how words are compared.
///
/// - Parameters:
///   - count: The maximum number of words to return.
///   - word: The word as the user wrote it.
///   - candidates: The known words.
/// - Returns: The most similar words. The most similar one is first.
package func nearest(_ count: Int, to word: String, in candidates: some Sequence<String>)
  -> [String]
{
  let written = scalars(of: word)
  let ranked = candidates.map { (distance: editDistance(written, scalars(of: $0)), word: $0) }
  // Swift's sort is stable.
  return ranked.sorted { $0.distance < $1.distance }.prefix(count).map(\.word)
}

/// The first 64 scalars of a word in lower case.
private func scalars(of word: String) -> [Unicode.Scalar] {
  Array(word.lowercased().unicodeScalars.prefix(64))
}

/// Finds the known word that the user probably meant.
///
/// It is the most similar known word, if the number of edits is less than half of the letters of the longer word.
///
/// - Parameters:
///   - word: The word as the user wrote it.
///   - candidates: The known words.
/// - Returns: The known word, or nil if no known word is similar enough.
package func probablyMeant(by word: String, in candidates: [String]) -> String? {
  guard let candidate = nearest(to: word, in: candidates) else { return nil }
  let (written, known) = (scalars(of: word), scalars(of: candidate))
  return 2 * editDistance(written, known) < max(written.count, known.count) ? candidate : nil
}

/// The number of edits that turn one word into the other.
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
