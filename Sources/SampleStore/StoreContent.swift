import Synchronization

/// What a sample store serves: resources in memory, else files of a folder, else a generator.
///
/// It may be changed while the store runs. All state is behind one lock; the generator and the
/// disk are asked without it.
package final class StoreContent: Sendable {
  /// Makes the resource of a path that nothing else knows, or nil for 404.
  ///
  /// It is called on the store's own threads, and for each request anew.
  package typealias Fallback = @Sendable (_ path: String) -> Resource?

  private struct State {
    var resources: [String: Servable] = [:]
    var cacheRules: [(prefix: String, value: String)] = []
    var fallback: Fallback?
  }

  private let state: Mutex<State>
  private let folder: Folder?

  /// Serves resources in memory, and what `fallback` makes.
  package init(_ resources: [String: Resource] = [:], fallback: Fallback? = nil) {
    folder = nil
    state = Mutex(State(fallback: fallback))
    for (path, resource) in resources { self[path] = resource }
  }

  /// Serves the files below a folder, after resources that are put in memory.
  ///
  /// A file is read when it is first asked for, and again when it changes.
  ///
  /// - Parameters:
  ///   - folder: The folder that is `/`. Links out of it are not followed.
  ///   - fallback: What makes the resources that neither memory nor folder has.
  /// - Throws: ``StoreError`` with code `folder` when it is no folder.
  package init(folder: String, fallback: Fallback? = nil) throws(StoreError) {
    self.folder = try Folder(folder)
    state = Mutex(State(fallback: fallback))
  }

  /// The resource in memory at a decoded path; nil takes it away.
  package subscript(_ path: String) -> Resource? {
    get { state.withLock { $0.resources[path]?.original } }
    set {
      state.withLock { state in
        state.resources[path] = newValue.map { Servable($0, rule: Self.rule(path, $0, state)) }
      }
    }
  }

  /// What makes the resources that neither memory nor folder has.
  package var fallback: Fallback? {
    get { state.withLock { $0.fallback } }
    set { state.withLock { $0.fallback = newValue } }
  }

  /// Sends `Cache-Control: value` below a path prefix; the longest prefix wins.
  ///
  /// Where no rule fits, pictures are fresh for an hour and all else for no time.
  package func cache(_ prefix: String, as value: String) {
    state.withLock { state in
      state.cacheRules.removeAll { $0.prefix == prefix }
      state.cacheRules.append((prefix, value))
      state.cacheRules.sort { $0.prefix.utf8.count > $1.prefix.utf8.count }
      for (path, held) in state.resources {
        let rule = Self.rule(path, held.original, state)
        state.resources[path] = Servable(held.original, rule: rule)
      }
    }
    folder?.forget()
  }

  /// Finds what is at a decoded path; one without extension is also tried as `.json`.
  func find(_ path: String) -> Servable? {
    if let held = state.withLock({ $0.resources[path] }) { return held }
    let json = MediaType.fileExtension(of: path) == nil ? path + ".json" : nil
    if let json, let held = state.withLock({ $0.resources[json] }) { return held }
    if let folder {
      let held = json.flatMap { folder.find($0, servable: servable) }
      if let held = held ?? folder.find(path, servable: servable) { return held }
    }
    return fallback.flatMap { $0(path) }.map { servable(path, $0) }
  }

  func servable(_ path: String, _ resource: Resource) -> Servable {
    Servable(resource, rule: state.withLock { Self.rule(path, resource, $0) })
  }

  private static func rule(_ path: String, _ resource: Resource, _ state: State) -> String {
    if let own = resource.cacheControl { return own }
    if let rule = state.cacheRules.first(where: { path.hasPrefix($0.prefix) }) {
      return rule.value
    }
    return resource.type.hasPrefix("image/") ? "max-age=3600" : "max-age=0"
  }
}
