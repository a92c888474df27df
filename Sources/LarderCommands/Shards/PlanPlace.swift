import Foundation
import ObjectStore
import Sharding

/// The place of a shard plan: a folder, or an object store with a temporary local copy.
///
/// A plan divides the pictures of a sync into shards, so that several machines can fetch them. Each shard ends with a
/// manifest, which is a list of the pictures that it fetched.
final class PlanPlace {
  /// The folder of the plan, or of its local copy.
  let folder: String
  /// The name of the place in messages, as the user gave it.
  let name: String
  private let stored: S3Folder?

  /// Opens a place.
  ///
  /// - Parameters:
  ///   - text: A folder, or `s3://bucket/prefix`.
  ///   - log: Receives a warning if a store is used without encryption.
  /// - Throws: ``CommandFailure``.
  init(_ text: String, _ log: Log) throws {
    name = text
    let place = try CachePlace(text, log)
    guard let store = place.store else {
      folder = text
      stored = nil
      return
    }
    let mark = "\(place.path).plan-"
    Self.sweep(mark)
    folder = "\(mark)\(getpid())-\(UInt32.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    stored = S3Folder(store, copy: folder)
  }

  /// Removes the local copy, if there is one.
  ///
  /// Call it before the process ends.
  func close() {
    if stored != nil { try? FileManager.default.removeItem(atPath: folder) }
  }

  /// Removes the local copies of processes that were killed.
  private static func sweep(_ mark: String) {
    let parent = (mark as NSString).deletingLastPathComponent
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
    let start = (mark as NSString).lastPathComponent
    for name in names where name.hasPrefix(start) {
      let process = name.dropFirst(start.count).prefix { $0 != "-" }
      guard let process = pid_t(process), kill(process, 0) != 0, errno == ESRCH else { continue }
      try? FileManager.default.removeItem(atPath: "\(parent)/\(name)")
    }
  }

  /// Checks that a new plan can be written here, as far as that is possible in advance.
  func demandNew() throws { try stored?.demandNew(PlannedRun.last) }

  /// Uploads the plan from the local copy, so that all machines see it.
  func put() throws { try stored?.putAll(last: PlannedRun.last) }

  /// Reads the plan.
  func plan() throws -> PlannedRun {
    if let first = try stored?.fetch(PlannedRun.files).first {
      throw CommandFailure(
        "cannot read \(name)/\(first): there is no such object; name the place that the plan was "
          + "written to",
        .data
      )
    }
    return try PlannedRun(folder, called: name)
  }

  /// Fetches the files that are needed besides the plan, from a store to the local copy.
  ///
  /// - Parameters:
  ///   - shard: The number of the shard. Pass nil if the command is a merge, because a merge needs the files of all
  ///     shards.
  ///   - planned: The plan.
  /// - Throws: The store's error.
  func fetch(_ shard: Int?, of planned: PlannedRun) throws {
    guard let stored else { return }
    // An unknown shard is not an error here, because `ShardRun` reports it.
    if let shard, !planned.plan.shards.indices.contains(shard) { return }
    try stored.fetch(shard.map(planned.files(of:)) ?? planned.filesOfAll)
  }

  /// A function that uploads a manifest, so that all machines see it; nil if the place is a folder.
  var publish: (@Sendable (String) throws -> Bool)? { stored.map { $0.commit } }
}
