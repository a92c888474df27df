import Cache
import FoundationEssentials
import Pipeline
import Synchronization
import SystemPackage
import Transport

/// The pictures of a plan on their way into the lists of their shards.
///
/// What is gathered waits in files once it is much, so that memory holds one shard's list at most. Safe on any thread.
final class ShardLists: Sendable {
  private struct State {
    /// The URLs of each shard that are in no file yet, a line each.
    var pending: [[UInt8]]
    var size = 0
    /// How much of each shard is in its file.
    var spilled: [Int: Int64] = [:]
    var failure: CacheError?
  }

  private let partition: Partition
  private let spool: String
  private let most: Int
  private let disk: any Disk
  private let state: Mutex<State>

  /// How many rows are looked up at once.
  private static let batch = 1024

  /// Lists without a picture.
  ///
  /// - Parameters:
  ///   - partition: What decides on the shard.
  ///   - count: How many lists.
  ///   - spool: A folder for what is gathered; made when it is needed, and left to the caller to remove.
  ///   - most: How many bytes of URLs are gathered in memory.
  ///   - disk: Where bytes go.
  init(
    _ partition: Partition,
    among count: Int,
    spool: String,
    most: Int = 64 << 20,
    on disk: any Disk
  ) {
    self.partition = partition
    self.spool = spool
    self.most = most
    self.disk = disk
    state = Mutex(State(pending: [[UInt8]](repeating: [], count: count)))
  }

  /// Adds a picture; a failure is told by ``write(to:known:)``.
  func add(_ url: WebURL) {
    state.withLock { state in
      let host = "\(url.hostPort)"
      let shard = partition.shard(of: url.text, host: host, among: state.pending.count)
      state.pending[shard] += url.text.utf8
      state.pending[shard].append(10)
      state.size += url.text.utf8.count + 1
      if state.size > most { spill(&state) }
    }
  }

  /// Writes a file a list: each picture once, by URL, whatever order they came in.
  ///
  /// - Parameters:
  ///   - folder: The plan's folder.
  ///   - known: Finds what an index knows of pictures.
  /// - Returns: What is in the lists.
  /// - Throws: ``CacheError``; what the encoder throws.
  func write(
    to folder: Folder,
    known: ([PictureID]) throws(CacheError) -> [PictureID: PictureEntry]
  ) throws -> [ShardPlan.Shard] {
    try state.withLock { state in
      if let failure = state.failure { throw failure }
      var shards: [ShardPlan.Shard] = []
      for shard in state.pending.indices {
        let urls = try urls(of: shard, &state)
        let file = try LineFile(ShardPlan.listName(shard), in: folder, on: disk)
        for start in stride(from: 0, to: urls.count, by: Self.batch) {
          let batch = urls[start..<min(start + Self.batch, urls.count)]
          let ids = batch.map { PictureID(url: $0) }
          let rows = try known(ids)
          for (id, url) in zip(ids, batch) {
            try file.append(line: PictureRow(rows[id] ?? PictureEntry(id: id, url: url)))
          }
        }
        shards.append(ShardPlan.Shard(shard: shard, urls: urls.count, list: try file.close()))
      }
      return shards
    }
  }

  /// The URLs of a shard in order, which are let go.
  private func urls(of shard: Int, _ state: inout State) throws -> [String] {
    var text = state.pending[shard]
    state.pending[shard] = []
    if let size = state.spilled[shard] {
      let file = try FileDescriptor.open(
        FilePath("\(spool)/\(shard)"),
        .readOnly,
        options: .closeOnExec
      )
      defer { try? file.close() }
      text = try file.bytes(from: 0, count: Int(size)) + text
    }
    var urls = text.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
    urls.sort()
    var last: String?
    urls.removeAll { url in
      defer { last = url }
      return url == last
    }
    return urls
  }

  private func spill(_ state: inout State) {
    guard state.failure == nil else { return }
    do throws(CacheError) {
      let folder = try Folder(path: spool, creating: true)
      for shard in state.pending.indices where !state.pending[shard].isEmpty {
        let size = state.spilled[shard] ?? 0
        let file =
          size == 0
          ? try disk.create("\(shard)", in: folder)
          : try disk.reopen("\(shard)", in: folder, keeping: ByteCount(size))
        let bytes = state.pending[shard]
        try disk.append(bytes.span.bytes, to: file)
        state.spilled[shard] = size + Int64(bytes.count)
        state.pending[shard] = []
      }
      state.size = 0
    } catch {
      state.failure = error
    }
  }
}
