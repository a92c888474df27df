import ArgumentParser

/// A path on the command line.
enum PathArgument {
  /// Reads the value of an option or argument that names a file or folder.
  ///
  /// - Throws: `ValidationError` when it is empty, as a variable that is not set leaves it: an empty path would mean the
  ///   working folder in one place and nothing in another.
  static func read(_ argument: String) throws -> String {
    guard !argument.isEmpty else {
      throw ValidationError("a path cannot be empty; name one, or leave out the option")
    }
    return argument
  }
}
