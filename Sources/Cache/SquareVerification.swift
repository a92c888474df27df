import Glibc

/// Checks the squares against their rows.
struct SquareVerification {
  let layout: CacheLayout
  let index: Index

  /// Looks at every square that is in step with its picture; the others are the next run's to mend.
  ///
  /// A file without a row is a stray only when no held picture has its square there.
  func run(_ depth: Verification.Depth, pictures: Set<String>) throws(CacheError) -> VerifyReport {
    var report = VerifyReport()
    guard layout.kind(of: "squares") != nil else { return report }
    for entry in try index.squares(inStep: true) {
      guard let sha256 = entry.sha256 else { continue }
      report.checked += 1
      let name = String(entry.path.dropFirst(3))
      let place = "squares/\(entry.side)/\(entry.path.prefix(2))"
      guard layout.kind(of: place) == S_IFDIR, layout.kind(of: entry.name) == S_IFREG else {
        if layout.kind(of: entry.name) == nil {
          report.missing.append(entry.name)
        } else {
          report.damaged.append(entry.name)
        }
        continue
      }
      let folder = try Folder(path: layout.path(place), creating: false)
      let isGood =
        switch depth {
        case .fast: folder.stamp(of: name)?.bytes == entry.stamp?.bytes
        case .full: try layout.digest(of: name, in: folder)?.sha256 == sha256
        }
      if !isGood { report.damaged.append(entry.name) }
    }
    report.stray = try layout.squareFiles().filter { path in
      let parts = path.split(separator: "/", maxSplits: 2)
      return parts.count < 3 || Int(parts[1]) == nil || !pictures.contains("images/\(parts[2])")
    }
    return report
  }

  /// Forgets what is damaged or missing, so that the next run makes it again, and removes strays.
  func repair(_ report: VerifyReport) throws(CacheError) {
    let bad = Set(report.damaged + report.missing)
    try index.forget(try index.squares().filter { bad.contains($0.name) })
    for path in report.damaged + report.stray where path.hasPrefix("squares/") {
      try layout.remove(path)
    }
  }
}

extension CacheLayout {
  /// What lies at a path in the cache, one of the system's `S_IF…`; nil when nothing does.
  func kind(of path: String) -> mode_t? { root.kind(of: path) }

  /// Everything below `squares/` that is no folder, or a folder where none belongs; no link is followed.
  func squareFiles() throws(CacheError) -> [String] {
    guard kind(of: "squares") == S_IFDIR else {
      return kind(of: "squares") == nil ? [] : ["squares"]
    }
    var files: [String] = []
    for side in try names(below: "squares", into: &files) {
      for folder in try names(below: side, into: &files) {
        files += try Folder(path: path(folder), creating: false).names().map { "\(folder)/\($0)" }
      }
    }
    return files.sorted()
  }

  /// The folders in a folder; what is none goes to `files`.
  private func names(below path: String, into files: inout [String]) throws(CacheError) -> [String]
  {
    var folders: [String] = []
    for name in try Folder(path: self.path(path), creating: false).names() {
      if kind(of: "\(path)/\(name)") == S_IFDIR {
        folders.append("\(path)/\(name)")
      } else {
        files.append("\(path)/\(name)")
      }
    }
    return folders
  }
}
