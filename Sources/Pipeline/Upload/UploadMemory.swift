import Base
import Cache
import Glibc
import Imaging
import Synchronization
import SystemPackage

/// The record of accepted uploads.
///
/// It is a file beside the pictures.
///
/// Each upload has a line with a digest of the form and the URL. A file whose picture is to be posted has a line with `-` and a
/// digest of its name, and one with `+` when the server has accepted the picture. Therefore a later run knows which of the
/// existing files it still has to post.
///
/// A line is on disk before the upload counts as accepted. If a run is killed before that, the next run posts the
/// picture again, with the same header field `Idempotency-Key`.
package final class UploadMemory: Sendable {
  /// The file's name in the output folder.
  static let name = ".larder-posted"

  private let path: FilePath
  private let held: Mutex<Set<String>>

  /// Reads the file in a folder.
  ///
  /// It is no error if the file is missing.
  ///
  /// - Throws: ``LarderError`` if the file exists but cannot be read.
  package init(in folder: FilePath) throws(LarderError) {
    path = folder.appending(Self.name)
    let file = path.withPlatformString { open($0, O_RDONLY | O_CLOEXEC) }
    guard file >= 0 || errno == ENOENT || errno == ENOTDIR else { throw Self.error(path, errno) }
    var lines: Set<String> = []
    if file >= 0 {
      defer { close(file) }
      var status = stat()
      guard fstat(file, &status) == 0 else { throw Self.error(path, errno) }
      do throws(SystemError) {
        let bytes = try Files.bytes(of: file, Int(status.st_size))
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
          Self.add(String(line), to: &lines)
        }
      } catch {
        throw Self.error(path, error.code)
      }
    }
    held = Mutex(lines)
  }

  /// Whether the server has already accepted this form.
  func holds(_ form: MultipartForm, at destination: UploadDestination) -> Bool {
    held.withLock { $0.contains(Self.key(form, destination)) }
  }

  /// Records that the server accepted a form.
  ///
  /// The record is on disk when this function returns.
  ///
  /// - Throws: ``LarderError`` with the code `disk` if the file cannot be written.
  func add(_ form: MultipartForm, at destination: UploadDestination) throws(LarderError) {
    try note(Self.key(form, destination))
  }

  /// Records that a picture is about to be written to a file, and then to be posted.
  ///
  /// - Parameter output: The path of the file.
  /// - Throws: ``LarderError`` with the code `disk` if the record cannot be written.
  func expect(_ output: String) throws(LarderError) {
    guard !isOwed(output) else { return }
    try WholeFile.makeFolder(path.removingLastComponent())
    try note("-" + key(of: output))
  }

  /// Whether the picture in a file was to be posted, and the server has not accepted it.
  func isOwed(_ output: String) -> Bool { held.withLock { $0.contains("-" + key(of: output)) } }

  /// Records that the server has accepted the picture in a file.
  ///
  /// - Parameter output: The path of the file; nil if the picture is in no file.
  /// - Throws: ``LarderError`` with the code `disk` if the record cannot be written.
  func settle(_ output: String?) throws(LarderError) {
    if let output, isOwed(output) { try note("+" + key(of: output)) }
  }

  /// Adds a line to the file, and waits until it is on disk.
  private func note(_ line: String) throws(LarderError) {
    let bytes = Array((line + "\n").utf8)
    let code = held.withLock { held -> Int32 in
      Self.add(line, to: &held)
      let file = path.withPlatformString {
        open($0, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
      }
      guard file >= 0 else { return errno }
      defer { close(file) }
      // A line this short is written completely or not at all.
      return write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0 ? 0 : errno
    }
    guard code == 0 else { throw Self.error(path, code) }
  }

  /// Adds a line to the lines that count: the second of two lines about one file replaces the first.
  private static func add(_ line: String, to held: inout Set<String>) {
    if line.hasPrefix("+") { held.remove("-" + line.dropFirst()) } else { held.insert(line) }
  }

  /// The digest of a file's path in the folder of the record.
  private func key(of output: String) -> String {
    let folder = path.removingLastComponent().shown + "/"
    let name = output.hasPrefix(folder) ? String(output.dropFirst(folder.count)) : output
    return Hexadecimal.text(ContentDigest.sha256(Array(name.utf8)))
  }

  private static func key(_ form: MultipartForm, _ destination: UploadDestination) -> String {
    // The URL can contain a secret, so only a digest is stored.
    Hexadecimal.text(ContentDigest.sha256(Array("\(destination.url.text) \(form.digest)".utf8)))
  }

  private static func error(_ path: FilePath, _ code: Int32) -> LarderError {
    LarderError(
      .disk,
      "cannot record the posted pictures in \(path.string): \(systemMessage(code)); check the folder"
    )
  }
}
