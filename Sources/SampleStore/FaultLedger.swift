/// A script with the counts of its hits so far.
struct FaultLedger {
  let script: FaultScript
  private var counts: [Int]
  private var pathCounts: [[String: Int]]

  init(_ script: FaultScript) {
    self.script = script
    counts = script.rules.map { _ in 0 }
    pathCounts = script.rules.map { _ in [:] }
  }

  /// Counts one request and says what goes wrong with it, if anything.
  mutating func fault(method: String, path: String, query: String?) -> Fault? {
    var effects: [FaultEffect] = []
    for (index, rule) in script.rules.enumerated()
    where rule.fits(method: method, path: path, query: query) {
      counts[index] += 1
      let ofPath = pathCounts[index][path, default: 0] + 1
      pathCounts[index][path] = ofPath
      let hit = rule.scope == .path ? ofPath : counts[index]
      if rule.hits.include(hit, path: path, ofPath: ofPath) { effects += rule.effects }
    }
    return effects.isEmpty ? nil : Fault(effects)
  }
}

extension FaultRule.Hits {
  func include(_ hit: Int, path: String, ofPath: Int) -> Bool {
    switch self {
    case .all: true
    case .range(let range): range.contains(hit)
    case .every(let step): hit % max(1, step) == 0
    case .share(let share, let seed): draw(seed, path, ofPath) < share
    }
  }

  /// A number from 0 up to 1: FNV-1a over path and count, finished as SplitMix64 does.
  private func draw(_ seed: UInt64, _ path: String, _ count: Int) -> Double {
    var hash = (0xCBF2_9CE4_8422_2325 as UInt64) ^ seed
    for byte in path.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    hash = (hash ^ UInt64(count)) &+ 0x9E37_79B9_7F4A_7C15
    hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
    hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((hash ^ (hash >> 31)) >> 11) / Double(1 << 53 as UInt64)
  }
}
