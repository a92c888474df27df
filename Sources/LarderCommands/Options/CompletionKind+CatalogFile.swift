import ArgumentParser

extension CompletionKind {
  /// Catalog files, which the shell lists by itself.
  ///
  /// Completions hold words of larder and files that the shell finds, never text of a feed or a cache: bash expands each
  /// word of a completion list, so that an id such as `$(command)` would be run.
  static let catalogFile = CompletionKind.file(extensions: ["yaml", "yml", "json"])
}
