import SystemPackage

/// The files of folders that are no pictures, in words.
struct OtherFiles {
  /// Kinds that are named; the rest are counted together.
  private static let most = 6

  let files: [FilePath]

  /// How many there are, by kind, which is how their names end; the most frequent kinds first.
  var summary: String {
    let kinds = Dictionary(grouping: files, by: Self.kind).mapValues(\.count)
      .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    var words = kinds.prefix(Self.most).map { "\($0.value) \($0.key)" }
    let rest = kinds.dropFirst(Self.most).reduce(0) { $0 + $1.value }
    if rest > 0 { words.append("\(rest) of other kinds") }
    let are = files.count == 1 ? "is no picture" : "are no pictures"
    return "\(Quantities.count(files.count, "file")) \(are): " + words.joined(separator: ", ")
  }

  private static func kind(of file: FilePath) -> String {
    file.extension.map { "." + $0.lowercased() } ?? "without an ending"
  }
}
