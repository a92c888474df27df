import Base
import Glibc

/// Compares the files of current squares with their rows, for ``Verification``.
///
/// A square is a square thumbnail of a picture. A square is current while the picture has the bytes that the square was
/// made of. Other squares are not checked, because the next run makes them again.
struct SquareVerification {
  private let layout: CacheLayout
  private let index: Index

  init(_ layout: CacheLayout, _ index: Index) {
    self.layout = layout
    self.index = index
  }

  /// Checks all squares.
  func run(_ depth: Verification.Depth) throws(LarderError) -> SuspectReview.Look {
    guard try layout.root.findKind("squares") != nil else { return SuspectReview.Look() }
    var look = try look(at: nil, depth)
    let files = try layout.squareFiles()
    let known = try known(files)
    look.report.strays = files.filter { !known.contains($0) }
    return look
  }

  /// Checks the files at these paths: squares, and strays, which are files without a row.
  ///
  /// If `paths` is nil, all squares are checked.
  func look(at paths: Set<String>?, _ depth: Verification.Depth) throws(LarderError)
    -> SuspectReview.Look
  {
    var found = SuspectReview.Look()
    let entries = try index.currentSquares().map(\.square)
      .filter { paths?.contains($0.name) ?? true }
    for entry in entries {
      found.report.checked += 1
      let verdict = judge(entry, depth)
      found.report.add(entry.name, verdict)
      // A run may be about to change the row. For example, if a square can no longer be made of a picture, the run
      // removes the file before it changes the row.
      if verdict == .damaged(isNewer: true) || verdict == .missing {
        found.underWay.insert(entry.name)
      }
    }
    guard let paths else { return found }
    found.report.checked = 0
    let now = try index.currentSquares().map { ($0.square.name, $0.square) }
    let rows = Dictionary(now) { first, _ in first }
    for entry in entries where rows[entry.name] != entry {
      found.report.remove([entry.name])
      found.unstable.insert(entry.name)
    }
    let others = paths.subtracting(entries.map(\.name)).sorted()
    let known = try known(others)
    for path in others where !known.contains(path) && layout.kind(of: path) != nil {
      found.report.strays.append(path)
      if isPicturePath(path) { found.underWay.insert(path) }
    }
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
      let folder = try Folder(path: layout.path(place), creating: false)
      let name = String(entry.path.dropFirst(3))
      let (stamp, isGood): (FileStamp?, Bool)
      switch depth {
      case .fast:
        stamp = try folder.find(name)
        isGood = stamp?.bytes == entry.stamp?.bytes
      case .full:
        let file = try folder.digest(of: name)
        (stamp, isGood) = (file?.stamp, file?.sha256 == entry.sha256)
      }
      guard !isGood else { return .good }
      return .damaged(isNewer: stamp.map { $0.inode != entry.stamp?.inode } ?? false)
    } catch {
      return .unreadable
    }
  }

  /// Those of the given files below `squares/` whose picture is in the cache.
  ///
  /// The other files are strays.
  private func known(_ files: [String]) throws(LarderError) -> Set<String> {
    var pictures: [String: String] = [:]
    for path in files { pictures[path] = picture(ofSquare: path) }
    let held = try index.heldPictures(at: Set(pictures.values), anyEnding: true)
    return Set(files.filter { path in pictures[path].flatMap { held[$0] } != nil })
  }

  /// Whether a path has the form of a square's path.
  private func isPicturePath(_ path: String) -> Bool {
    picture(ofSquare: path).map(PictureName.isPicturePath) ?? false
  }

  /// The path of the picture whose square has this path, such as `images/3f/….jpg`.
  ///
  /// The picture may have another extension.
  private func picture(ofSquare path: String) -> String? {
    let parts = path.split(separator: "/", maxSplits: 2)
    return parts.count == 3 && Int(parts[1]) != nil ? "images/\(parts[2])" : nil
  }

  /// Deletes the rows of damaged and missing squares, so that the next run makes them again, and removes damaged files
  /// and strays.
  func repair(_ report: VerifyReport) throws(LarderError) {
    let bad = Set(report.damaged + report.missing)
    try index.forget(try index.squares().filter { bad.contains($0.name) })
    for path in report.damaged + report.strays where path.hasPrefix("squares/") {
      try layout.remove(path)
    }
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
