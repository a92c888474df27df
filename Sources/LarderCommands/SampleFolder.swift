import Glibc

/// Finds the folder of the sample store: named, beside the program, above it in a checkout, or within the program.
enum SampleFolder {
  /// The folder with `catalog.yaml` and `store/`.
  ///
  /// - Parameter named: what the user gave with `--samples`, if anything.
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
    var folder = program().split(separator: "/").dropLast()
    while true {
      let path = "/" + folder.joined(separator: "/")
      for candidate in ["\(path)/samples", "\(path)/share/larder/samples"]
      where holdsStore(candidate) {
        return candidate
      }
      guard !folder.isEmpty else { break }
      folder = folder.dropLast()
    }
    if let folder = try EmbeddedSamples.unpacked() { return folder }
    throw CommandFailure(
      "cannot find the sample store beside \(program()); give its folder with --samples",
      .usage
    )
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
