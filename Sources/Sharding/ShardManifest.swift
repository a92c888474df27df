import Base
import Cache
import FoundationEssentials
import Pipeline
import SystemPackage

/// The last line of a manifest.
struct ManifestTrailer: Codable, Equatable {
  /// The digest of the plan.
  var plan: String
  /// The plan's run name.
  var run: String
  /// The number of the shard.
  var shard: Int
  /// The number of the shard's pictures, each of which has a line.
  var urls: Int
  /// The number of pictures that were fetched.
  var fetched: Int
  /// The number of pictures that the cache held and that are current.
  var held: Int
  /// The number of pictures that could not be fetched.
  var failed: Int
  /// The number of HTTP requests that were made.
  var requests: Int
  /// The length and digest of the lines before the trailer.
  var rows: FileSum
  /// The unique token of the process that wrote the manifest, so that no two processes write the same bytes.
  var writer: String?
}

private struct TrailerLine: Codable {
  var trailer: ManifestTrailer
}

/// Reads and commits manifests.
///
/// A manifest has the results of a shard run: a line of JSON for each picture, and a trailer.
enum ShardManifest {
  /// A picture of a manifest, and the offset of its line.
  typealias Line = (offset: Int64, picture: SettledPicture)

  /// The number of bytes at a manifest's end in which to look for its trailer.
  private static let tail: Int64 = 64 * 1024

  /// Reads a manifest a line at a time, and compares its URLs with the shard's list.
  ///
  /// Lines are passed on before the whole file is verified: if this throws, the caller must discard the lines.
  ///
  /// - Parameters:
  ///   - shard: The number of the shard.
  ///   - planned: The plan.
  ///   - take: Called with each line.
  /// - Returns: The trailer; nil when there is no manifest.
  /// - Throws: ``LarderError`` when the manifest is truncated or damaged, or belongs to another plan or to other
  ///   pictures; errors of `take`.
  static func read(
    _ shard: Int,
    of planned: PlannedRun,
    take: (Line) throws -> Void
  ) throws -> ManifestTrailer? {
    let path = "\(planned.folder)/\(ShardPlan.manifestName(shard))"
    guard let trailer = try trailer(of: shard, of: planned) else { return nil }
    let reader = try LineReader(path)
    var urls = try planned.urls(of: shard)
    var isForeign = false
    let decoder = JSONDecoder()
    while reader.offset < trailer.rows.bytes {
      let offset = reader.offset
      guard let line = try reader.line() else { break }
      guard let picture = try? decoder.decode(PictureRow.self, from: Data(line)).settled,
        try urls.next() == picture.entry.url
      else {
        isForeign = true
        continue
      }
      if !isForeign { try take((offset, picture)) }
    }
    guard reader.sum == trailer.rows else { throw torn(path) }
    guard !isForeign, try urls.next() == nil, trailer.urls == urls.count,
      trailer.fetched + trailer.held + trailer.failed == urls.count
    else { throw foreign(path) }
    return trailer
  }

  /// The trailer of a shard's manifest, which must belong to this plan; nil when there is no manifest.
  static func trailer(
    of shard: Int,
    of planned: PlannedRun
  ) throws(LarderError) -> ManifestTrailer? {
    let path = "\(planned.folder)/\(ShardPlan.manifestName(shard))"
    guard let (size, end) = try end(of: path) else { return nil }
    guard end.last == 10, let last = end.split(separator: 10).last,
      let line = try? JSONDecoder().decode(TrailerLine.self, from: Data(last))
    else { throw torn(path) }
    let trailer = line.trailer
    guard trailer.plan == planned.plan.digest, trailer.run == planned.plan.run,
      trailer.shard == shard
    else { throw foreign(path) }
    guard trailer.rows.bytes == size - Int64(last.count + 1) else { throw torn(path) }
    return trailer
  }

  /// The length of a file and its last bytes; nil when there is no file.
  private static func end(of path: String) throws(LarderError) -> (Int64, [UInt8])? {
    do {
      let file = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
      defer { try? file.close() }
      let size = try file.seek(offset: 0, from: .end)
      let start = max(0, size - tail)
      return (size, try file.bytes(from: start, count: Int(size - start)))
    } catch Errno.noSuchFileOrDirectory {
      return nil
    } catch {
      throw LarderError(.data, "cannot read \(path): \(error)")
    }
  }

  private static func torn(_ path: String) -> LarderError {
    LarderError(.data, "cannot use \(path): it is incomplete; remove it and run its shard again")
  }

  private static func foreign(_ path: String) -> LarderError {
    LarderError(
      .data,
      "cannot use \(path): it belongs to another plan; remove it and run its shard again"
    )
  }

  /// Commits a manifest: writes and syncs it under a temporary name, then creates a hard link with the final name.
  ///
  /// A crash leaves no manifest, or the whole manifest. If several processes commit the same shard, one succeeds.
  ///
  /// - Parameters:
  ///   - pictures: The result of each picture, in the plan's order.
  ///   - trailer: The last line; this function sets its `rows`.
  ///   - folder: The plan's folder.
  ///   - token: A unique token of this process, for the temporary name.
  ///   - disk: The file system; tests replace it.
  /// - Returns: Whether this manifest was committed; false when another process had already committed its own.
  /// - Throws: ``LarderError``.
  static func commit(
    _ pictures: [SettledPicture],
    _ trailer: ManifestTrailer,
    in folder: Folder,
    token: String,
    on disk: any Disk
  ) throws -> Bool {
    let name = ShardPlan.manifestName(trailer.shard)
    let temporary = "\(name).\(token)"
    defer { try? disk.remove(temporary, in: folder) }
    let file = try HashedFile(temporary, in: folder, on: disk)
    for picture in pictures {
      if let row = PictureRow(picture) { try file.append(line: row) }
    }
    var trailer = trailer
    trailer.rows = file.sum
    try file.append(line: TrailerLine(trailer: trailer))
    _ = try file.close()
    let mine = folder.stamp(of: temporary)
    if try !disk.link(temporary, in: folder, to: name, in: folder) {
      guard let there = folder.stamp(of: name) else {
        throw LarderError(
          .usage,
          "cannot commit \(folder.path)/\(name): the file system does not support hard links; "
            + "put the plan on one that does"
        )
      }
      // On NFS the reply to a successful link may be lost, and the repeated call refused. (open(2), O_EXCL)
      guard there == mine else { return false }
    }
    try disk.sync(folder)
    return true
  }
}

/// A picture as a line of JSON in a shard's list or in a manifest.
///
/// It has the picture's index row, and in a manifest also the outcome of the picture's request.
struct PictureRow: Codable, Equatable {
  /// How a request ended.
  enum End: String, Codable {
    case fetched, changed, revalidated, fresh, failed
  }

  var url: String
  /// The picture's identity; nil when it is the URL.
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
  /// The outcome; this and the fields below are only in manifests.
  var end: End?
  /// The SHA-256 of the previous bytes, if they differ.
  var before: String?
  /// The failure as the report lists it; nil if the request succeeded.
  var report: SyncReport.Failure?

  /// The line for a row of the index.
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

  /// The line for a picture's result; nil when the run ended before the picture was requested.
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

  /// The row of the index.
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

  /// The picture's result; nil in a line of a shard's list.
  var settled: SettledPicture? {
    guard let end else { return nil }
    let entry = entry
    let outcome: FetchedPicture =
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
