/// Finds a longest strictly increasing subsequence by patience sorting, in O(n log n).
///
/// - Parameter values: Any numbers.
/// - Returns: The positions of its members in `values`, ascending.
func longestIncreasingSubsequence(of values: [Int]) -> [Int] {
  // `tails[n]` is the position of the smallest value that ends a run of n + 1.
  var tails: [Int] = []
  var predecessors = [Int](repeating: -1, count: values.count)
  for (position, value) in values.enumerated() {
    var low = 0
    var high = tails.count
    while low < high {
      let middle = (low + high) / 2
      if values[tails[middle]] < value { low = middle + 1 } else { high = middle }
    }
    predecessors[position] = low > 0 ? tails[low - 1] : -1
    if low == tails.count { tails.append(position) } else { tails[low] = position }
  }
  var positions: [Int] = []
  var position = tails.last ?? -1
  while position >= 0 {
    positions.append(position)
    position = predecessors[position]
  }
  return positions.reversed()
}
