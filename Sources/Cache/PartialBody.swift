import Glibc

/// What must be known of a body that broke off, for a later run to go on with it.
///
/// Kept beside the body in `partial/`, in a note of its own. It is written once, when the body
/// outgrows memory, and never for the many small pictures that come in one piece. A note counts
/// only in the same boot of the machine: a kill leaves all that was written, but after a power cut
/// a file may have its size and not its bytes, and syncing every piece would cost more than it saves.
struct PartialBody: Equatable, Sendable {
  /// The picture's URL, as it is sent.
  var url: String
  /// What `If-Range` has to say; a strong entity-tag or a strong date.
  var validator: String
  /// The resource that the bytes came from in the end: a redirect may change its mind.
  var source: String
  /// What the first bytes are.
  var type: PictureType
  /// The whole's length, when the origin told it.
  var length: Int64?
  /// How many bytes lie in the file; not in the note, for they grow.
  var size: Int64 = 0

  /// The identity that the URL gives.
  var id: PictureID { PictureID(url: url) }

  /// Where to go on: after what is held, or at its last byte when nothing more can follow, because
  /// a range behind the end would be refused.
  var offset: Int64 { size == length ? size - 1 : size }
}

extension PartialBody {
  private static let heading = "larder partial 1"
  /// Ends a note: one that was cut while it was written lacks it.
  private static let ending = "end"

  /// Reads a note back.
  ///
  /// Nil when it is not whole, of another boot, or names a picture whose body this is not.
  init?(note: String, name: String, boot: String) {
    let lines = note.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard lines.count == 9, lines[0] == Self.heading, lines[7] == Self.ending, !boot.isEmpty,
      lines[1] == boot, !lines[3].isEmpty, let type = PictureType(rawValue: lines[5])
    else { return nil }
    url = lines[2]
    validator = lines[3]
    source = lines[4]
    self.type = type
    length = Int64(lines[6])
    guard PictureEntry(id: id, url: url).partialName == name else { return nil }
  }

  /// The note, for the boot of that name; none of its values can hold a line break.
  func note(boot: String) -> String {
    [
      Self.heading, boot, url, validator, source, type.rawValue,
      length.map(String.init) ?? "-", Self.ending, "",
    ].joined(separator: "\n")
  }

  /// What the kernel calls the time since the machine was started; empty when it does not tell,
  /// and then no partial body outlives its run.
  static let boot: String = {
    let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &buffer, buffer.count)
    return String(decoding: buffer.prefix(max(0, count)).prefix { $0 != 10 }, as: UTF8.self)
  }()
}

extension PictureEntry {
  /// The file's name in `partial/` while it is on its way: one a picture, so that what a killed
  /// run left is overwritten by the next.
  var partialName: String { "\(id.shortHex)-\(UInt64(id.number) & 0xFFFF)" }
}

extension String {
  /// The name of the note beside a partial body.
  var noteName: String { self + ".note" }
}
