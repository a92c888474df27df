import Cache
import NIOCore
import Transport

/// A picture or a square as it is sent: where its bytes are, and a head for each way to answer.
struct ServedImage: Sendable {
  /// Its path in the cache.
  let path: String
  private let stamp: FileStamp?
  private let tag: EntityTag?
  private let type: String
  private let modified: UnixTime?

  /// The head of a whole answer, and of one that says that what the client has is current.
  private let whole: ByteBuffer
  private let unmodified: ByteBuffer

  /// How long a copy may be shown without a question, in seconds: its URL stays when its origin replaces the picture.
  private static let lifetime = 300

  /// What is sent of a file.
  ///
  /// - Parameters:
  ///   - path: Its path in the cache.
  ///   - sha256: The digest of its bytes, its entity tag.
  ///   - type: What its bytes are.
  ///   - stamp: What `stat` says of it while it is the one that is meant.
  ///   - changed: Since when it is as it is, where the stamp does not say that.
  init(
    path: String,
    sha256: [UInt8],
    type: PictureType?,
    stamp: FileStamp?,
    changed: UnixTime? = nil
  ) {
    self.path = path
    self.stamp = stamp
    self.type = type?.mediaType ?? "application/octet-stream"
    tag = EntityTag("\"\(Hexadecimal.text(sha256))\"")
    modified = changed ?? stamp?.modified
    let fields = Self.fields(self.type, tag, modified)
    whole = Answer.head(200, fields, length: stamp.map { Int($0.bytes.count) } ?? 0)
    unmodified = Answer.head(304, fields.filter { $0.name != "Content-Type" }, length: nil)
  }

  /// Roughly what it takes in memory.
  var cost: Int { 256 + whole.readableBytes + unmodified.readableBytes + 2 * path.utf8.count }

  /// Answers a request, or nil when its file is not there.
  ///
  /// Opens the file: a system call or two, which the event loop makes itself, as other servers do.
  func answer(_ request: ServerRequest, from files: ServedFiles) -> Answer? {
    guard let (descriptor, found) = files.open(path) else { return nil }
    let file = SentFile(descriptor: descriptor)
    let size = Int(found.bytes.count)
    // A restored backup has other inodes and the same dates.
    let isMeant =
      found.bytes == stamp?.bytes
      && (found.inode == stamp?.inode || found.modified == stamp?.modified)
    guard isMeant else {
      // A run has just replaced it, and its row will follow: sent as it is, and kept by nobody.
      let fields = [(name: "Content-Type", value: type), ("Cache-Control", "no-store")]
      return Answer(200, fields + SafetyFields.data, .file(file, 0..<size))
    }
    return answer(request, size: size) { .file(file, $0) }
  }

  /// Answers a request for the picture that is meant.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - size: How many bytes the picture has.
  ///   - body: What sends a part of them.
  /// - Returns: The answer.
  func answer(
    _ request: ServerRequest,
    size: Int,
    _ body: (Range<Int>) -> Answer.Body
  ) -> Answer {
    switch Precondition(request, tag: tag, modified: modified) {
    case .notModified: return Answer(status: 304, head: unmodified, body: .none)
    case .failed: return .problem(412, "the picture is another one by now")
    case .passed: break
    }
    guard request.method == .get, let text = request.single("Range"),
      Precondition.mayUseRange(request, tag: tag, modified: modified)
    else { return Answer(status: 200, head: whole, body: body(0..<size)) }
    switch ByteRange(text, size: size) {
    case .whole:
      return Answer(status: 200, head: whole, body: body(0..<size))
    case .unsatisfiable:
      let place = (name: "Content-Range", value: "bytes */\(size)")
      return .problem(416, "the picture has \(size) bytes", [place])
    case .part(let part):
      let place = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
      let fields = [(name: "Content-Range", value: place)] + Self.fields(type, tag, modified)
      return Answer(206, fields, body(part))
    }
  }

  private static func fields(
    _ type: String,
    _ tag: EntityTag?,
    _ modified: UnixTime?
  ) -> [(name: String, value: String)] {
    var fields = [(name: "Content-Type", value: type)]
    if let tag { fields.append(("ETag", tag.description)) }
    if let modified { fields.append(("Last-Modified", modified.httpDate)) }
    fields.append(("Cache-Control", "public, max-age=\(lifetime)"))
    fields.append(("Accept-Ranges", "bytes"))
    return fields + SafetyFields.data
  }
}
