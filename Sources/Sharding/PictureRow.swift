import Cache
import FoundationEssentials
import Pipeline
import Transport

/// A picture as a line of a plan's list or of a manifest: what an index knows of it, and in a manifest how its request
/// ended.
struct PictureRow: Codable, Equatable {
  /// How a request ended.
  enum End: String, Codable {
    case fetched, changed, revalidated, fresh, failed
  }

  var url: String
  /// What tells it from others, where that is not its URL.
  var identity: String?
  var sha256: String?
  var bytes: Int64?
  var type: String?
  var inode: Int64?
  var modified: Int64?
  var response: String?
  var expiry: Int64?
  var fetched: Int64?
  var checked: Int64?
  var failure: String?
  var failingSince: Int64?
  /// Of a manifest alone, as all below.
  var end: End?
  var before: String?
  var report: SyncReport.Failure?

  /// The line of an index's row.
  init(_ entry: PictureEntry) {
    url = entry.url
    identity = entry.identity == entry.url ? nil : entry.identity
    sha256 = entry.sha256.map(Hexadecimal.text)
    bytes = entry.isHeld ? entry.bytes.count : nil
    type = entry.type?.mediaType
    inode = entry.stamp?.inode
    modified = entry.stamp?.modified.seconds
    response = entry.response
    expiry = entry.expiry.seconds
    fetched = entry.fetched?.seconds
    checked = entry.checked?.seconds
    failure = entry.failure
    failingSince = entry.failingSince?.seconds
  }

  /// The line of a picture that was asked for; nil when the run ended before it was.
  init?(_ picture: SettledPicture) {
    self.init(picture.entry)
    switch picture.end {
    case .fetched(_, let isChange): end = isChange ? .changed : .fetched
    case .revalidated: end = .revalidated
    case .excused: end = .fresh
    case .failed: end = .failed
    case .unfinished: return nil
    }
    before = picture.before.map(Hexadecimal.text)
    report = picture.failure
  }

  /// The index's row.
  var entry: PictureEntry {
    var entry = PictureEntry(id: PictureID(url: identity ?? url), url: url, identity: identity)
    entry.sha256 = sha256.flatMap(Hexadecimal.bytes)
    entry.bytes = ByteCount(bytes ?? 0)
    entry.type = type.flatMap { PictureType(mediaType: $0) }
    if let inode, let modified {
      entry.stamp = FileStamp(inode: inode, bytes: entry.bytes, modified: UnixTime(modified))
    }
    entry.response = response
    entry.expiry = UnixTime(expiry ?? 0)
    entry.fetched = fetched.map { UnixTime($0) }
    entry.checked = checked.map { UnixTime($0) }
    entry.failure = failure
    entry.failingSince = failingSince.map { UnixTime($0) }
    return entry
  }

  /// What became of the picture; nil in a line of a plan.
  var settled: SettledPicture? {
    guard let end else { return nil }
    let entry = entry
    let outcome: PictureEnd =
      switch end {
      case .fetched: .fetched(bytes: entry.bytes, isChange: false)
      case .changed: .fetched(bytes: entry.bytes, isChange: true)
      case .revalidated: .revalidated
      case .fresh: .excused
      case .failed: .failed
      }
    return SettledPicture(
      entry: entry,
      end: outcome,
      before: before.flatMap(Hexadecimal.bytes),
      failure: report
    )
  }
}
