import Base
import Cache
import Catalog
import FoundationEssentials
import Glibc
import Hashing
import Pipeline

/// The plan of a sync that several machines carry out together.
///
/// This type is the content of the file `plan.json`.
///
/// A shard is the part of the pictures that one machine fetches. The plan is a folder with these files:
///
/// - `plan.json`, which is written last.
/// - `catalog.yaml`, a copy of the catalog file.
/// - `shard-0.ndjson`, `shard-1.ndjson` and so on: the list of each shard's pictures.
/// - `manifest-0.ndjson`, `manifest-1.ndjson` and so on: the results, which each shard adds at its end. See
///   ``ShardManifest``.
package struct ShardPlan: Codable, Sendable {
  /// One shard of the plan.
  package struct Shard: Codable, Sendable {
    /// The shard's number.
    ///
    /// The first shard has the number 0.
    package var shard: Int
    /// The number of pictures in the shard.
    package var urls: Int
    /// The length and digest of the shard's list, `shard-N.ndjson`.
    var list: FileSum
  }

  /// The version of the format of `plan.json` and its companion files.
  ///
  /// Larder reads only its own version.
  var format = Self.form
  /// The unique name of the run.
  ///
  /// It is part of the names of the shards' work folders in the cache.
  package var run: String
  /// The name of the catalog.
  package var catalog: String
  /// The length and digest of `catalog.yaml`.
  var catalogFile: FileSum
  /// The time when the plan was made, in seconds since 1970.
  var planned: Int64
  /// Whether a picture's shard depends on the picture's URL or on its host.
  package var shardBy: Partition
  /// The options of the sync that must be the same on every machine.
  var scope: SyncOptions
  /// The number of pictures in all shards together.
  package var urls: Int
  /// The shards.
  ///
  /// A shard's index in this array is its number.
  package var shards: [Shard]
  /// The SHA-256 of `plan.json` as hexadecimal text, which `shard plan` prints.
  ///
  /// The file itself lacks this member. ``PlannedRun/digest`` is the digest of a plan that was read from a file.
  package var digest: String?

  /// The version of the format that this larder writes and reads.
  static let form = 3

  static let fileName = "plan.json"
  static let catalogName = "catalog.yaml"
  static func listName(_ shard: Int) -> String { "shard-\(shard).ndjson" }
  static func manifestName(_ shard: Int) -> String { "manifest-\(shard).ndjson" }
}

/// A plan that was read from its folder.
package struct PlannedRun: Sendable {
  /// The content of `plan.json`.
  package let plan: ShardPlan
  /// The SHA-256 of `plan.json`, as hexadecimal text in lower case.
  package let digest: String
  /// The catalog, read from the plan's copy of the catalog file.
  package fileprivate(set) var catalog: CatalogFile
  /// The options of the sync.
  package var options: SyncOptions { plan.scope }
  /// The plan's folder.
  let folder: PlanFolder
  /// The plan's name in messages, for example its `s3://` location.
  var name: String { folder.name }

  /// The names of the files that are needed both to run a shard and to merge.
  package static let files = [ShardPlan.catalogName, ShardPlan.fileName]
  /// The name of the file that is written last.
  ///
  /// A folder without this file is not a plan.
  package static let last = ShardPlan.fileName

  /// The names of the further files that are needed to run a shard: its list, and its manifest if there is one.
  package func files(of shard: Int) -> [String] {
    [ShardPlan.listName(shard), ShardPlan.manifestName(shard)]
  }

  /// The names of the further files that are needed to merge.
  package var filesOfAll: [String] {
    plan.shards.indices.map(ShardPlan.manifestName)
  }

  /// Reads a plan and its copy of the catalog file.
  ///
  /// - Parameters:
  ///   - path: The path of the plan's folder.
  ///   - name: The plan's name in messages, if the folder is a local copy of a folder in an object store.
  /// - Throws: ``LarderError`` if there is no plan, or if the plan has another format version; ``CatalogError``.
  package init(_ path: String, called name: String? = nil) throws {
    folder = PlanFolder(path: path, name: name ?? path)
    let text = try folder.bytes(of: ShardPlan.fileName)
    guard let plan = try? JSONDecoder().decode(ShardPlan.self, from: text),
      plan.format == ShardPlan.form, plan.shards.map(\.shard) == Array(plan.shards.indices),
      !plan.shards.isEmpty,
      // It is a part of the names of folders.
      (1...64).contains(plan.run.utf8.count),
      plan.run.utf8.allSatisfy(PercentEncoding.isUnreserved)
    else {
      throw LarderError(
        .data,
        "cannot read \(folder.name)/\(ShardPlan.fileName): it is not a plan with format version \(ShardPlan.form), "
          + "which this larder reads; make a new plan, with one version of larder on all machines"
      )
    }
    self.plan = plan
    digest = FileSum(of: text).sha256
    let file = try folder.bytes(of: ShardPlan.catalogName, plan.catalogFile)
    catalog = try CatalogFile(
      parsing: [UInt8](file),
      file: "\(folder.name)/\(ShardPlan.catalogName)"
    )
  }

  /// The pictures of a shard.
  ///
  /// Each has the index row that it had when the plan was made.
  ///
  /// - Throws: ``LarderError`` if the shard's list has changed since the plan was made.
  func pictures(of shard: Int) throws(LarderError) -> [PictureEntry] {
    let name = ShardPlan.listName(shard)
    let bytes = try folder.bytes(of: name, plan.shards[shard].list)
    var pictures: [PictureEntry] = []
    pictures.reserveCapacity(plan.shards[shard].urls)
    try PictureRow.read(bytes, or: folder.changed(name)) { pictures.append($0) }
    return pictures
  }
}

/// A folder with the files of a plan.
struct PlanFolder: Sendable {
  let path: String
  /// The plan's name in messages.
  let name: String

  /// Reads a file whose length and digest the plan recorded.
  ///
  /// - Throws: ``LarderError`` if the file does not exist or has changed.
  func bytes(of file: String, _ planned: FileSum) throws(LarderError) -> Data {
    let bytes = try bytes(of: file)
    guard FileSum(of: bytes) == planned else { throw changed(file) }
    return bytes
  }

  /// The error for a file that differs from the plan.
  func changed(_ file: String) -> LarderError {
    LarderError(
      .data,
      "cannot use \(name)/\(file): it has changed since it was planned; make a new plan"
    )
  }

  /// Reads a file.
  ///
  /// - Throws: ``LarderError`` if the file does not exist.
  func bytes(of file: String) throws(LarderError) -> Data {
    if let bytes = try contents(of: file) { return bytes }
    throw unread(file, "there is no such file")
  }

  private func unread(_ file: String, _ reason: String) -> LarderError {
    LarderError(
      .data,
      "cannot read \(name)/\(file): \(reason); name the folder that the plan was written to"
    )
  }

  /// Reads a file, or its first `most` bytes if it is longer; nil if it does not exist.
  func contents(of name: String, most: Int = .max) throws(LarderError) -> Data? {
    let file = open("\(path)/\(name)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if file < 0, errno == ENOENT { return nil }
    defer { if file >= 0 { close(file) } }
    var status = stat()
    guard file >= 0, fstat(file, &status) == 0 else { throw unread(name, systemMessage(errno)) }
    // Another machine made it. A FIFO would never end, and a folder cannot be read.
    guard [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else {
      throw unread(name, "it is not a regular file")
    }
    do throws(SystemError) {
      return Data(try Files.bytes(of: file, min(Int(status.st_size), most)))
    } catch {
      throw unread(name, systemMessage(error.code))
    }
  }
}

/// The part of a URL that decides which shard fetches a picture.
package enum Partition: String, Sendable, Codable, CaseIterable {
  /// The whole URL.
  ///
  /// All shards get nearly the same number of pictures.
  case url
  /// The URL's host and port.
  ///
  /// Each host gets requests from only one shard.
  case host

  /// The number of the shard that a URL is assigned to.
  ///
  /// Every machine computes the same number.
  ///
  /// The number is the first 8 bytes of the SHA-256 of the URL or of its host, read as a big-endian integer, modulo the
  /// number of shards.
  ///
  /// - Parameters:
  ///   - url: The text of the URL, as it is sent in the request.
  ///   - host: The URL's host and port, for example `cdn.example:443`.
  ///   - count: The number of shards, at least 1.
  /// - Returns: A number from 0 to `count - 1`.
  package func shard(of url: String, host: String, among count: Int) -> Int {
    var text = self == .url ? url : host
    return text.withUTF8 { utf8 in
      SHA256.digest(of: UnsafeRawBufferPointer(utf8).bytes).withUnsafeBytes { digest in
        Int(UInt64(bigEndian: digest.loadUnaligned(as: UInt64.self)) % UInt64(count))
      }
    }
  }
}

/// Limits the environment variables that a plan can use, and decides whether the plan's token command is allowed to
/// run.
///
/// A token command is a program that the catalog file names, and that larder runs to get a new token for the shop.
/// Anyone who can write to the plan's folder controls the catalog file in it. So they also control the hosts that
/// receive headers with secrets.
package struct PlanTrust: Sendable {
  /// The reason to refuse a plan.
  package enum Fault: Equatable, Sendable {
    /// The plan has this digest, but the user gave another one.
    case digest(String)
    /// The plan's catalog file uses this environment variable, but the user did not allow it.
    case variable(String)
  }

  private let variables: Set<String>
  private let digest: String?

  /// Makes the limits for a plan.
  ///
  /// - Parameters:
  ///   - variables: The names of the environment variables that the plan is allowed to use. Names that
  ///     ``mayBeAllowed(_:)`` rejects are ignored.
  ///   - digest: The SHA-256 of the only plan to accept, in lower case, or nil to accept any plan.
  package init(variables: Set<String>, digest: String? = nil) {
    self.variables = variables.filter(Self.mayBeAllowed)
    self.digest = digest
  }

  /// Whether a user is allowed to let plans use the environment variable with this name.
  ///
  /// The answer is no for names that begin with `AWS_` or `LARDER_`, because larder reads these variables itself.
  package static func mayBeAllowed(_ name: String) -> Bool {
    !["AWS_", "LARDER_"].contains { name.uppercased().hasPrefix($0) }
  }

  /// The first reason to refuse a plan, or nil if the plan can be used.
  package func fault(of planned: PlannedRun) -> Fault? {
    if let digest, digest != planned.digest { return .digest(planned.digest) }
    return planned.catalog.variableNames.first { !variables.contains($0) }.map(Fault.variable)
  }

  /// A copy of the plan without the token command, or the plan itself if the user gave the plan's digest.
  package func admitted(_ planned: PlannedRun) -> PlannedRun {
    var planned = planned
    if digest == nil { planned.catalog.token = nil }
    return planned
  }

  /// The environment variables for the run of a plan.
  ///
  /// - Parameter environment: The environment of the process.
  /// - Returns: The allowed variables, and also `PATH` and `HOME`.
  package func environment(_ environment: [String: String]) -> [String: String] {
    environment.filter { variables.contains($0.key) || ["PATH", "HOME"].contains($0.key) }
  }
}
