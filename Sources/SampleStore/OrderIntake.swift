/// Where the store takes orders, and where it keeps them.
package struct OrderIntake: Hashable, Sendable {
  /// The paths that take `POST`.
  package var paths: Set<String>
  /// A file that gets a JSON line an order, synced before the answer; nil for memory alone.
  package var file: String?

  /// Takes orders at some paths, and keeps them in a file if one is named.
  package init(paths: Set<String> = ["/orders"], file: String? = nil) {
    self.paths = paths
    self.file = file
  }
}
