import Glibc
import SystemPackage
import Web

/// The file that a report goes to, and the folder of its pictures beside it.
struct ReportFile {
  /// The file's path.
  let path: String
  /// The path of the folder: the file's without its ending, and `.files`.
  let folderPath: String

  init(_ path: String) {
    self.path = path
    let file = FilePath(path)
    let name = "\(file.stem ?? "report").files"
    folderPath = file.removingLastComponent().appending(name).string
  }

  /// The folder, and how the page calls it.
  var folder: (folder: PictureFolder, name: String) {
    (PictureFolder(folderPath), FilePath(folderPath).lastComponent?.string ?? "")
  }

  /// Looks whether the page can be written, before anything is made.
  ///
  /// - Parameter force: whether a file that is no report may be replaced.
  /// - Throws: ``CommandFailure`` when it cannot.
  func demandRoom(force: Bool) throws {
    try TextFile.demandRoom(at: path)
    guard !force, TextFile.exists(path), !isReport else { return }
    throw CommandFailure(
      "cannot write \(path): it exists and is no report of larder; name another with --out, or "
        + "replace it with --force",
      .failed
    )
  }

  /// Puts the page in place, then removes pictures that no page needs any more.
  func write(_ made: ReportRun.Made) throws {
    try TextFile.replace(path, with: made.html)
    folder.folder.sweep(except: made.files ?? [])
  }

  /// Whether a report lies there, by its first bytes; an empty file is nobody's loss.
  private var isReport: Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return false
    }
    var start = [UInt8](repeating: 0, count: 1024)
    let count = read(descriptor, &start, start.count)
    return count == 0 || ReportMark.isIn(Array(start.prefix(max(0, count))))
  }
}
