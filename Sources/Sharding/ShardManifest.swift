import Base
import Cache
import FoundationEssentials
import Pipeline

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
  /// The manifest has a line for each, except for those that could not be fetched.
  var urls: Int
  /// The number of pictures that were fetched.
  var fetched: Int
  /// The number of pictures whose version in the cache is still current.
  var held: Int
  /// The number of pictures that could not be fetched.
  var failed: Int
  /// The number of cached pictures that the server confirmed as current.
  var revalidated: Int
  /// The number of pictures whose bytes replaced different ones.
  var changed: Int
  /// The number of bytes of the fetched pictures.
  var bytes: Int64
  /// The number of HTTP requests that the shard sent.
  var requests: Int
  /// The length and digest of the lines before the trailer.
  var rows = FileSum(bytes: 0, sha256: "")
  /// A unique token of the process that wrote the manifest.
  ///
  /// Two processes can run the same shard with the same results. Because of this token, their manifests still differ.
  var writer: String?
}

extension ManifestTrailer {
  /// Whether the counts can be added to those of other shards without an overflow.
  var isCountable: Bool {
    [urls, fetched, held, failed, revalidated, changed, requests].allSatisfy {
      (0...1 << 40).contains($0)
    } && (0...1 << 46).contains(bytes)
  }

  /// Adds the counts of the shard to those of all shards.
  func count(in pictures: inout ImportedPictures) {
    pictures.counts.fetched += fetched
    pictures.counts.revalidated += revalidated
    pictures.counts.changed += changed
    pictures.counts.bytesFetched += bytes
    pictures.requests += requests
  }
}

private struct TrailerLine: Codable {
  var trailer: ManifestTrailer
}

/// Reads and commits manifests.
///
/// A shard is the part of a sync's pictures that one machine fetches. A manifest is the file with a shard's results,
/// for example `manifest-0.ndjson`. It has a ``PictureRow`` as a line of JSON for each picture that is in the cache, and
/// a last line with a ``ManifestTrailer``.
enum ShardManifest {
  /// Reads a shard's manifest.
  ///
  /// - Parameters:
  ///   - shard: The shard's number.
  ///   - planned: The plan.
  /// - Returns: The trailer, and the lines before it; nil if there is no manifest.
  /// - Throws: ``LarderError`` if the manifest is truncated or damaged, or belongs to another plan or shard.
  static func read(
    _ shard: Int,
    of planned: PlannedRun
  ) throws(LarderError) -> (trailer: ManifestTrailer, rows: Data)? {
    let name = ShardPlan.manifestName(shard)
    let path = "\(planned.name)/\(name)"
    // A manifest that is longer is read to this length, and is then torn.
    let most = max(0, min(planned.plan.shards[shard].urls, 1 << 40) + 1) * PictureRow.longestLine
    guard let bytes = try planned.folder.contents(of: name, most: most)
    else { return nil }
    let end = bytes.dropLast().lastIndex(of: 10).map { $0 + 1 } ?? bytes.startIndex
    guard bytes.last == 10,
      let line = try? JSONDecoder().decode(TrailerLine.self, from: bytes[end...])
    else { throw torn(path) }
    let (trailer, rows) = (line.trailer, bytes[..<end])
    guard trailer.plan == planned.digest, trailer.run == planned.plan.run,
      trailer.shard == shard, trailer.urls == planned.plan.shards[shard].urls
    else { throw foreign(path) }
    guard trailer.rows == FileSum(of: rows), trailer.isCountable,
      trailer.fetched + trailer.held + trailer.failed == trailer.urls,
      rows.count(where: { $0 == 10 }) == trailer.fetched + trailer.held
    else { throw torn(path) }
    return (trailer, rows)
  }

  /// The error for a manifest that is truncated, damaged or too long.
  static func torn(_ path: String) -> LarderError {
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
  ///   - pictures: The rows of the pictures that are in the cache, in the order of the shard's list.
  ///   - trailer: The last line. This function sets ``ManifestTrailer/rows``.
  ///   - folder: The plan's folder.
  ///   - token: A unique token of this process, for the temporary name.
  ///   - disk: The file system to write to.
  /// - Returns: Whether this manifest was committed. False means that another process had committed its manifest
  ///   before.
  /// - Throws: ``LarderError``.
  static func commit(
    _ pictures: [PictureEntry],
    _ trailer: ManifestTrailer,
    in folder: Folder,
    token: String,
    on disk: any Disk
  ) throws -> Bool {
    let name = ShardPlan.manifestName(trailer.shard)
    let temporary = "\(name).\(token)"
    defer { try? disk.remove(temporary, in: folder) }
    var file = try HashedFile(temporary, in: folder, on: disk)
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

/// A picture's row in the index, as a line of JSON in a shard's list or in a manifest.
struct PictureRow: Codable, Equatable {
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

  /// Makes the line of a row.
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

  /// The number of bytes that no line exceeds.
  ///
  /// Most of a line is the text of the URL and of the header fields, which the transport limits to 64 KiB.
  static let longestLine = 1 << 20

  /// Reads the rows in the lines of a list or manifest, one by one.
  ///
  /// - Parameters:
  ///   - lines: The lines, each with its line feed.
  ///   - fault: The error to throw for a line that is not a row.
  ///   - take: Called with each row.
  /// - Throws: `fault`, and errors of `take`.
  static func read(
    _ lines: Data,
    or fault: LarderError,
    _ take: (PictureEntry) throws(LarderError) -> Void
  ) throws(LarderError) {
    let decoder = JSONDecoder()
    for line in lines.split(separator: 10, omittingEmptySubsequences: false).dropLast() {
      guard let row = try? decoder.decode(Self.self, from: line) else { throw fault }
      try take(row.entry)
    }
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
}
