import Cache
import FoundationEssentials
import Pipeline
import Transport

/// The last line of a manifest.
struct ManifestTrailer: Codable, Equatable {
  /// The digest of the plan.
  var plan: String
  /// The run's name.
  var run: String
  /// The shard.
  var shard: Int
  /// How many pictures it has, and a line each.
  var urls: Int
  var fetched: Int
  var held: Int
  var failed: Int
  /// How many requests were made.
  var requests: Int
  /// The length and digest of the lines before.
  var rows: FileSum
}

private struct TrailerLine: Codable {
  var trailer: ManifestTrailer
}

/// What a shard run did, committed once: a line a picture, and a trailer.
struct ShardManifest {
  let trailer: ManifestTrailer
  let pictures: [SettledPicture]

  /// Reads a manifest; nil when there is none.
  ///
  /// - Parameters:
  ///   - shard: The shard.
  ///   - planned: The plan.
  /// - Throws: ``ShardError`` when it is torn, of another plan or of other pictures.
  init?(_ shard: Int, of planned: PlannedRun) throws {
    let name = ShardPlan.manifestName(shard)
    let path = "\(planned.folder)/\(name)"
    guard let trailer = try Self.trailer(of: shard, of: planned) else { return nil }
    let bytes = try PlannedRun.bytes(name, in: planned.folder)
    let rows = bytes.prefix(Int(trailer.rows.bytes))
    guard FileSum(of: rows) == trailer.rows else { throw Self.torn(path) }
    let decoder = JSONDecoder()
    let pictures = rows.split(separator: 10).compactMap {
      try? decoder.decode(PictureRow.self, from: $0).settled
    }
    let expected = try planned.pictures(of: shard).map(\.url)
    guard pictures.map(\.entry.url) == expected, trailer.urls == expected.count,
      trailer.fetched + trailer.held + trailer.failed == expected.count
    else { throw Self.foreign(path) }
    self.trailer = trailer
    self.pictures = pictures
  }

  /// The trailer of a manifest that is of this plan; nil when there is none.
  static func trailer(
    of shard: Int,
    of planned: PlannedRun
  ) throws(ShardError) -> ManifestTrailer? {
    let name = ShardPlan.manifestName(shard)
    let path = "\(planned.folder)/\(name)"
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    let bytes = try PlannedRun.bytes(name, in: planned.folder)
    guard bytes.last == 10, let last = bytes.split(separator: 10).last,
      let line = try? JSONDecoder().decode(TrailerLine.self, from: last)
    else { throw torn(path) }
    let trailer = line.trailer
    guard trailer.plan == planned.plan.digest, trailer.run == planned.plan.run,
      trailer.shard == shard
    else { throw foreign(path) }
    guard trailer.rows.bytes == Int64(bytes.count - last.count - 1) else { throw torn(path) }
    return trailer
  }

  private static func torn(_ path: String) -> ShardError {
    ShardError(.data, "cannot use \(path): it is torn; remove it and run its shard again")
  }

  private static func foreign(_ path: String) -> ShardError {
    ShardError(
      .data,
      "cannot use \(path): it is not of this plan; remove it and run its shard again"
    )
  }

  /// Commits a manifest: synced under a name of its own, then linked to the one that counts.
  ///
  /// A crash leaves no manifest or the whole one. Of several that commit the same shard one does.
  ///
  /// - Parameters:
  ///   - pictures: What became of each, in the plan's order.
  ///   - trailer: The last line; its `rows` are filled in.
  ///   - folder: The plan's folder.
  ///   - token: A name that no other process has.
  ///   - disk: Where bytes go.
  /// - Returns: Whether this one was committed; false when another had been.
  /// - Throws: ``CacheError``.
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
    var rows: [UInt8] = []
    for picture in pictures {
      guard let row = PictureRow(picture) else { continue }
      rows += try row.jsonLine() + [10]
    }
    var trailer = trailer
    trailer.rows = FileSum(of: rows)
    let file = try LineFile(temporary, in: folder, on: disk)
    file.append(rows)
    try file.append(line: TrailerLine(trailer: trailer))
    _ = try file.close()
    let mine = folder.stamp(of: temporary)
    if try !disk.link(temporary, in: folder, to: name, in: folder) {
      guard let there = folder.stamp(of: name) else {
        throw ShardError(
          .usage,
          "cannot commit \(folder.path)/\(name): the file system has no links; put the plan on "
            + "one that has"
        )
      }
      // On NFS the reply to a link that was made may be lost, and its repetition refused. (open(2), O_EXCL)
      guard there == mine else { return false }
    }
    try disk.sync(folder)
    return true
  }
}
