import Crypto
import Synchronization

/// A large body on its way to its partial file.
///
/// Only the ingest queue touches more than ``failure``.
final class PictureSpill: @unchecked Sendable {
  // SAFETY: `hash`, `file` and `size` are read and written on the store's ingest queue only, which
  // is serial; `failure` has a lock of its own because the transfer thread asks for it.
  private var hash = SHA256()
  private(set) var file: OpenFile?
  private(set) var size: Int64 = 0
  let failure = Mutex<CacheError?>(nil)
  private let name: String

  init(id: PictureID) {
    name = PictureEntry(id: id, url: "").partialName
  }

  /// Appends a piece, making the file with the first.
  func append(_ bytes: [UInt8], _ layout: CacheLayout, _ disk: any Disk) throws(CacheError) {
    let file: OpenFile
    if let open = self.file {
      file = open
    } else {
      file = try disk.create(name, in: layout.partial)
      self.file = file
    }
    hash.update(data: bytes)
    try disk.append(bytes.span.bytes, to: file)
    size += Int64(bytes.count)
  }

  /// The SHA-256 of all that came.
  func digest() -> [UInt8] {
    Array(hash.finalize())
  }

  /// Removes the partial file; what cannot be removed is swept by the next run.
  func discard(_ layout: CacheLayout, _ disk: any Disk) {
    guard file != nil else { return }
    file = nil
    hash = SHA256()
    size = 0
    try? disk.remove(name, in: layout.partial)
  }
}
