import Cache

extension WarmPlan.Standing {
  /// How the catalog of a name stands in the cache at a path, which need not exist.
  ///
  /// A damaged index tells nothing, like none at all: the run makes it anew.
  package init(of name: String, cache: String) throws(CacheError) {
    self.init()
    do throws(CacheError) {
      let index = try Index(reading: cache)
      guard let entry = try index.catalogs().first(where: { $0.name == name }) else { return }
      started = try index.runs(catalog: entry.id, limit: 1).first?.started
      complete = try index.lastComplete(catalog: entry.id)
    } catch {
      guard error.code == .empty || error.code == .damaged else { throw error }
      self.init()
    }
  }
}
