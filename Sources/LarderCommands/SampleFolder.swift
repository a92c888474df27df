import Glibc

/// Finds the folder of the sample store: named, installed with the program, or in the source tree around it.
enum SampleFolder {
  /// The folder with `catalog.yaml` and `store/`.
  ///
  /// - Parameter named: the value of `--samples`, if there is one.
  /// - Returns: The folder's path.
  /// - Throws: ``CommandFailure`` when there is none.
  static func find(named: String?) throws -> String {
    if let named = named ?? Terminal.environment("LARDER_SAMPLES") {
      guard holdsStore(named) else {
        throw CommandFailure(
          "cannot find the sample store in \(named): there is no catalog.yaml; "
            + "give its folder with --samples",
          .usage
        )
      }
      return named
    }
    let program = program()
    let folders = folders(above: program)
    // PREFIX/bin/larder has its files in PREFIX/share.
    let installed = (folders.dropFirst().first ?? "") + "/share/larder/samples"
    // A build lies in .build of its source tree.
    if let found = ([installed] + folders.map { $0 + "/samples" }).first(where: holdsStore) {
      return found
    }
    throw CommandFailure(
      "cannot find the sample store: it is neither \(installed) nor a folder samples above "
        + "\(program); give its folder with --samples",
      .usage
    )
  }

  /// The folders that a path lies in, the innermost first; the root is the empty path.
  private static func folders(above path: String) -> [String] {
    var parts = path.split(separator: "/")[...]
    var folders: [String] = []
    while parts.popLast() != nil {
      folders.append(parts.map { "/" + $0 }.joined())
    }
    return folders
  }

  private static func holdsStore(_ path: String) -> Bool {
    access(path + "/catalog.yaml", R_OK) == 0 && access(path + "/store", X_OK) == 0
  }

  /// This program's own path, links resolved.
  private static func program() -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    return String(
      decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) },
      as: UTF8.self
    )
  }
}
