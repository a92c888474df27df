import Cache

extension WarmPlan.Standing {
  /// How the catalog of a name stands in the cache at a path, which need not exist.
  public init(of name: String, cache: String) throws(CacheError) {
    self.init()
    let index: Index
    do throws(CacheError) {
      index = try Index(reading: cache)
    } catch {
      guard error.code == .empty else { throw error }
      return
    }
    guard let entry = try index.catalogs().first(where: { $0.name == name }) else { return }
    started = try index.runs(catalog: entry.id, limit: 1).first?.started
    complete = try index.lastComplete(catalog: entry.id)
  }
}
