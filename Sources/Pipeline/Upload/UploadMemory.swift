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
/// Each accepted upload has two lines: a digest of the URL and the form, and a digest of the URL and the file that has the
/// picture. From the second one a later run knows which of the existing files it still has to post to this URL.
///
/// A line is on disk before the upload counts as accepted. If a run is killed before that, the next run posts the
/// picture again, with the same header field `Idempotency-Key`.
package final class UploadMemory: Sendable {
  /// The file's name in the output folder.
  static let name = ".larder-posted"

  private let path: FilePath
  private let held: Mutex<Set<String>>
  /// Whether the folder was synced.
  private let isSynced = Atomic(false)

  /// Reads the file in a folder.
  ///
  /// It is no error if the file is missing.
  ///
  /// - Throws: ``LarderError`` if the file exists but cannot be read.
  package init(in folder: FilePath) throws(LarderError) {
    path = folder.appending(Self.name)
    let file = path.withPlatformString { open($0, O_RDONLY | O_CLOEXEC) }
    guard file >= 0 || errno == ENOENT || errno == ENOTDIR else { throw Self.error(path, errno) }
    guard file >= 0 else {
      held = Mutex([])
      return
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw Self.error(path, errno) }
    do throws(SystemError) {
      let bytes = try Files.bytes(of: file, Int(status.st_size))
      let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      held = Mutex(Set(lines.map(String.init)))
    } catch {
      throw Self.error(path, error.code)
    }
  }

  /// Whether the server has already accepted this form.
  func holds(_ form: MultipartForm, at destination: UploadDestination) -> Bool {
    held.withLock { $0.contains(Self.key(form, destination)) }
  }

  /// Whether the server has accepted the picture in a file, as the file is now.
  ///
  /// - Parameters:
  ///   - output: The path of the file.
  ///   - destination: The URL.
  /// - Returns: Whether it has; false if the file cannot be read.
  func holds(_ output: FilePath, at destination: UploadDestination) -> Bool {
    guard let contents = try? PictureInput.bytes(of: output, PictureLimits()) else { return false }
    let key = key(output.shown, contents, destination)
    return held.withLock { $0.contains(key) }
  }

  /// Records that the server accepted a form.
  ///
  /// The record is on disk when this function returns.
  ///
  /// - Parameters:
  ///   - form: The form.
  ///   - output: The path of the file that has the picture; nil if it is in no file.
  ///   - contents: The bytes of the file.
  ///   - destination: The URL.
  /// - Throws: ``LarderError`` with the code `disk` if the file cannot be written.
  func add(
    _ form: MultipartForm,
    _ output: String?,
    _ contents: [UInt8],
    at destination: UploadDestination
  ) throws(LarderError) {
    let keys =
      [Self.key(form, destination)] + (output.map { [key($0, contents, destination)] } ?? [])
    let code = held.withLock { held -> Int32 in
      let lines = keys.filter { held.insert($0).inserted }
      guard !lines.isEmpty else { return 0 }
      let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
      let file = path.withPlatformString {
        open($0, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
      }
      guard file >= 0 else { return errno }
      defer { close(file) }
      // Lines this short are written completely or not at all.
      return write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0 ? 0 : errno
    }
    guard code == 0 else { throw Self.error(path, code) }
    // The first line may have created the file.
    if !isSynced.exchange(true, ordering: .relaxed) {
      try WholeFile.sync(path.removingLastComponent())
    }
  }

  // The URL can contain a secret, so only digests are stored.

  /// The digest of a file's path in the folder of the record, its contents, and a URL.
  private func key(
    _ output: String,
    _ contents: [UInt8],
    _ destination: UploadDestination
  ) -> String {
    let digest = Hexadecimal.text(ContentDigest.sha256(contents))
    return Self.key("\(destination.url.text) \(digest) \(name(of: output))")
  }

  /// The path of a file in the folder of the record.
  private func name(of output: String) -> String {
    let folder = path.removingLastComponent().shown + "/"
    return output.hasPrefix(folder) ? String(output.dropFirst(folder.count)) : output
  }

  private static func key(_ form: MultipartForm, _ destination: UploadDestination) -> String {
    key("\(destination.url.text) \(form.digest)")
  }

  private static func key(_ text: String) -> String {
    Hexadecimal.text(ContentDigest.sha256(Array(text.utf8)))
  }

  private static func error(_ path: FilePath, _ code: Int32) -> LarderError {
    LarderError(
      .disk,
      "cannot record the posted pictures in \(path.string): \(systemMessage(code)); check the folder"
    )
  }
}
