import Base
import Glibc

/// Compares the files of current squares with their rows, for ``Verification``.
///
/// A square is a square thumbnail of a picture. A square is current while the picture has the bytes that the square was
/// made of. Other squares are not checked, because the next run makes them again.
struct SquareVerification {
  let layout: CacheLayout
  let index: Index

  /// Checks all squares, and finds files that no square can have.
  ///
  /// A run changes squares in any order, and each is made from its picture. So while a run is at work, none of the
  /// findings counts.
  func look(_ depth: Verification.Depth) throws(LarderError) -> SuspectFiles {
    var found = SuspectFiles()
    guard try layout.root.findKind("squares") != nil else { return found }
    for entry in try index.currentSquares().map(\.square) {
      found.report.checked += 1
      found.report.add(entry.name, judge(entry, depth))
    }
    found.report.strays = try strays(among: try layout.squareFiles())
    found.underWay = found.report.paths
    return found
  }

  private func judge(_ entry: SquareEntry, _ depth: Verification.Depth) -> CheckedFile {
    do throws(LarderError) {
      let place = "squares/\(entry.side)/\(entry.path.prefix(2))"
      guard try layout.root.findKind(place) == S_IFDIR,
        try layout.root.findKind(entry.name) == S_IFREG
      else {
        return try layout.root.findKind(entry.name) == nil ? .missing : .damaged(isNewer: false)
      }
      let isGood =
        switch depth {
        case .fast: try layout.root.find(entry.name)?.bytes == entry.stamp?.bytes
        case .full: try layout.root.digest(of: entry.name)?.sha256 == entry.sha256
        }
      return isGood ? .good : .damaged(isNewer: false)
    } catch {
      return .unreadable(error)
    }
  }

  /// Those of the given files below `squares/` whose picture is not in the cache.
  private func strays(among files: [String]) throws(LarderError) -> [String] {
    var pictures: [String: String] = [:]
    for path in files {
      // The picture of `squares/128/3f/….png` is `images/3f/….jpg`, or has another extension.
      let parts = path.split(separator: "/", maxSplits: 2)
      if parts.count == 3, Int(parts[1]) != nil { pictures[path] = "images/\(parts[2])" }
    }
    let held = try index.heldPictures(at: Set(pictures.values), anyEnding: true)
    return files.filter { path in pictures[path].flatMap { held[$0] } == nil }
  }

  /// Deletes the rows of damaged and missing squares, so that the next run makes them again, and removes all files that
  /// are no current squares.
  func repair(_ report: VerifyReport) throws(LarderError) {
    let bad = Set(report.damaged + report.missing)
    try index.forget(try index.squares().filter { bad.contains($0.name) })
    _ = try layout.sweepSquares(index)
  }
}

extension CacheLayout {
  /// The type of the file at a path in the cache as one of the system's constants, such as `S_IFREG`; nil if there is
  /// no file.
  func kind(of path: String) -> mode_t? { root.kind(of: path) }

  /// All files below `squares/`, and everything there that is not where a square or its folder belongs.
  ///
  /// No link is followed.
  func squareFiles() throws(LarderError) -> [String] {
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

  /// The paths of the subfolders of a folder.
  ///
  /// The paths of its other entries are added to `files`.
  private func names(below path: String, into files: inout [String]) throws(LarderError)
    -> [String]
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
