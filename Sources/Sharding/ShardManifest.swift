import Base
import Cache
import FoundationEssentials
import Pipeline
import SystemPackage

/// The trailer, which is the last line of a manifest.
///
/// It shows which shard the manifest belongs to, and that the manifest is complete.
struct ManifestTrailer: Codable, Equatable {
  /// The SHA-256 of the plan's `plan.json`.
  var plan: String
  /// The unique name of the planned run.
  var run: String
  /// The number of the shard.
  var shard: Int
  /// The number of pictures in the shard.
  ///
  /// The manifest has a line for each.
  var urls: Int
  /// The number of pictures that were fetched.
  var fetched: Int
  /// The number of pictures whose version in the cache is still current.
  var held: Int
  /// The number of pictures that could not be fetched.
  var failed: Int
  /// The number of HTTP requests that the shard sent.
  var requests: Int
  /// The length and digest of the lines before the trailer.
  var rows = FileSum(bytes: 0, sha256: "")
  /// A unique token of the process that wrote the manifest.
  ///
  /// Two processes can run the same shard with the same results. Because of this token, their manifests still differ.
  var writer: String?
}

private struct TrailerLine: Codable {
  var trailer: ManifestTrailer
}

/// Reads and commits manifests.
///
/// A shard is the part of a sync's pictures that one machine fetches. A manifest is the file with a shard's results,
/// for example `manifest-0.ndjson`. It has a ``PictureRow`` as a line of JSON for each picture, and a last line with a
/// ``ManifestTrailer``.
enum ShardManifest {
  /// The trailer must be within this many bytes of the manifest's end.
  private static let tail: Int64 = 64 * 1024

  /// Reads a manifest line by line, and compares its URLs with the URLs in the shard's list.
  ///
  /// The lines are passed on before the whole file is verified. So if this function throws, the caller must discard the
  /// lines.
  ///
  /// - Parameters:
  ///   - shard: The number of the shard.
  ///   - planned: The plan.
  ///   - take: Called with the offset of each picture's line in the file, and with the picture.
  /// - Returns: The trailer, or nil if there is no manifest.
  /// - Throws: ``LarderError`` if the manifest is truncated or damaged, or belongs to another plan or to other
  ///   pictures; errors of `take`.
  static func read(
    _ shard: Int,
    of planned: PlannedRun,
    take: (_ offset: Int64, _ picture: SettledPicture) throws -> Void
  ) throws -> ManifestTrailer? {
    guard let trailer = try trailer(of: shard, of: planned) else { return nil }
    let (folder, listName) = (planned.folder, ShardPlan.listName(shard))
    let path = "\(folder)/\(ShardPlan.manifestName(shard))"
    let reader = try LineReader(path)
    let list = try LineReader("\(folder)/\(listName)")
    let decoder = JSONDecoder()
    var urls = 0
    var isForeign = false

    struct ListRow: Decodable {
      var url: String
    }

    /// Returns the next URL in the shard's list, or nil at the end of the list.
    ///
    /// At the end, it throws an error if the list was changed after the plan was made.
    func nextPlanned() throws -> String? {
      guard let line = try list.line() else {
        try PlannedRun.demand(list.sum, planned.plan.shards[shard].list, listName, in: folder)
        return nil
      }
      urls += 1
      // A malformed line changes the digest of the list, so the check at the end throws.
      return (try? decoder.decode(ListRow.self, from: Data(line)))?.url ?? ""
    }

    while reader.offset < trailer.rows.bytes {
      let offset = reader.offset
      guard let line = try reader.line() else { break }
      guard let picture = try? decoder.decode(PictureRow.self, from: Data(line)).settled,
        try nextPlanned() == picture.entry.url
      else {
        isForeign = true
        continue
      }
      if !isForeign { try take(offset, picture) }
    }
    guard reader.sum == trailer.rows else { throw torn(path) }
    guard !isForeign, try nextPlanned() == nil, trailer.urls == urls,
      trailer.fetched + trailer.held + trailer.failed == urls
    else { throw foreign(path) }
    return trailer
  }

  /// Reads the trailer of a shard's manifest.
  ///
  /// The result is nil if there is no manifest.
  ///
  /// - Throws: ``LarderError`` if the manifest is truncated, or belongs to another plan or shard.
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
    guard trailer.plan == planned.digest, trailer.run == planned.plan.run,
      trailer.shard == shard
    else { throw foreign(path) }
    guard trailer.rows.bytes == size - Int64(last.count + 1) else { throw torn(path) }
    return trailer
  }

  /// The length of a file and the bytes at its end, or nil if there is no file.
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

  /// Commits a manifest: writes it under a temporary name, syncs it, and creates a hard link with the final name.
  ///
  /// A crash leaves no manifest, or the whole manifest. If several processes commit the same shard, one of them
  /// succeeds.
  ///
  /// - Parameters:
  ///   - pictures: The result of each picture, in the order of the shard's list.
  ///   - trailer: The last line. This function sets ``ManifestTrailer/rows``.
  ///   - folder: The plan's folder.
  ///   - token: A unique token of this process, for the temporary name.
  ///   - disk: The file system to write to.
  /// - Returns: Whether this manifest was committed. False means that another process had committed its manifest
  ///   before.
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
    for picture in pictures { try file.append(line: PictureRow(picture)) }
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
      // On NFS, it is possible that the link was made although the call failed: the first reply was lost, and the
      // repeated call found the new name. (open(2), O_EXCL)
      guard there == mine else { return false }
    }
    try disk.sync(folder)
    return true
  }
}

/// A picture as a line of JSON in a shard's list or in a manifest.
///
/// A line in a list contains the picture's row in the cache's index. A line in a manifest also contains the result of
/// the request for the picture.
struct PictureRow: Codable, Equatable {
  /// The result of a request.
  enum End: String, Codable {
    case fetched, changed, revalidated, fresh, failed
  }

  var url: String
  /// The part of the URL that identifies the picture, or nil if this is the whole URL.
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
  /// The result of the request.
  ///
  /// Only manifests have this property and those below.
  var end: End?
  /// The SHA-256 of the bytes that were in the cache before the request, if the request changed them.
  var before: String?
  /// The failure as the report lists it, or nil if the request succeeded.
  var report: SyncReport.Failure?

  /// Makes a line for a shard's list.
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

  /// Makes a line for a manifest.
  init(_ picture: SettledPicture) {
    self.init(picture.entry)
    end =
      switch picture.end {
      case .fetched(_, let isChange): isChange ? .changed : .fetched
      case .revalidated: .revalidated
      case .excused: .fresh
      case .failed: .failed
      // A shard with such a picture is not committed.
      case .unfinished: nil
      }
    before = picture.before.map(Hexadecimal.text)
    report = picture.failure
  }

  /// The picture's row in the index.
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

  /// The picture's result, or nil if the line is one of a shard's list.
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
