import Foundation
import ObjectStore
import Sharding

/// The place of a plan: a folder, or a place in a store with a temporary copy on this machine.
final class PlanPlace {
  /// The folder, or the copy.
  let folder: String
  /// As people call it.
  let name: String
  private let stored: (folder: S3Folder, cache: S3Cache)?

  /// Opens a place.
  ///
  /// - Parameters:
  ///   - text: A folder, or `s3://bucket/prefix`.
  ///   - log: Where it is said that a store is asked without encryption.
  /// - Throws: ``CommandFailure``.
  init(_ text: String, _ log: Log) throws {
    name = text
    guard text.contains("://") else {
      folder = text
      stored = nil
      return
    }
    let cache = try S3Cache(text, log)
    let mark = "\(cache.folder).plan-"
    Self.sweep(mark)
    folder = "\(mark)\(getpid())-\(UInt32.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    stored = (S3Folder(cache.store, copy: folder), cache)
  }

  /// Removes the copy, if there is one; the process is about to end.
  func close() {
    if stored != nil { try? FileManager.default.removeItem(atPath: folder) }
  }

  /// Removes the copies of processes that were killed.
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

  /// Demands that a plan may be written here, as far as that shows before it is made.
  ///
  /// - Returns: A remark about the place.
  func demandNew() throws -> String? {
    guard let stored, try !stored.folder.demandNew(PlannedRun.last) else { return nil }
    return
      "\(name): this store heeds If-None-Match only for what was there before; of two runs of a shard "
      + "that end at one moment both may say that they committed it, and the merge counts one"
  }

  /// Puts the plan that was made in the folder where all machines see it.
  func put() throws { try stored?.folder.putAll(last: PlannedRun.last) }

  /// Reads the plan.
  func plan() throws -> PlannedRun {
    if let missing = try stored?.folder.fetch(PlannedRun.files), let first = missing.first {
      throw CommandFailure(
        "cannot read \(name)/\(first): there is no such object; name the place that the plan was "
          + "written to",
        .data
      )
    }
    return try PlannedRun(folder, called: name)
  }

  /// Fetches the files that a shard, or with nil a merge, needs besides the plan.
  func fetch(_ shard: Int?, of planned: PlannedRun) throws {
    guard let stored else { return }
    // An unknown shard is the run's to refuse.
    if let shard, !planned.plan.shards.indices.contains(shard) { return }
    try stored.folder.fetch(shard.map(planned.files(of:)) ?? planned.filesOfAll)
  }

  /// Commits a manifest where all machines see it; nil when the folder is that place.
  var publish: (@Sendable (String) throws -> Bool)? {
    guard let folder = stored?.folder else { return nil }
    return { name in try folder.commit(name) }
  }
}
