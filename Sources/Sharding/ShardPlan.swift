import Base
import Cache
import Catalog
import Crypto
import FoundationEssentials
import Pipeline

/// The plan of a sync over many machines: the content of `plan.json`, key for key.
package struct ShardPlan: Codable, Equatable, Sendable {
  /// One shard.
  package struct Shard: Codable, Equatable, Sendable {
    /// The shard's number, from 0.
    package var shard: Int
    /// The number of its pictures.
    package var urls: Int
    /// The length and digest of its list, `shard-N.ndjson`.
    var list: FileSum
  }

  /// The scope of the sync.
  struct Scope: Codable, Equatable {
    var base: String?
    var thumbnailsOnly = false
    var noDetails = false
    var strict = false
    var allowRemovals = false
    var maxSkippedPercent: Double?
    var maxSkippedCount: Int?
  }

  /// The version of the plan's file format; larder reads only plans of its own version.
  var format = Self.form
  /// The run's unique name, which is part of the names of its work folders in the cache.
  package var run: String
  /// The catalog's name.
  package var catalog: String
  /// The length and digest of the plan's copy of the catalog file.
  var catalogFile: FileSum
  /// The time of planning, in seconds since 1970.
  var planned: Int64
  /// The key by which pictures are assigned to shards.
  package var shardBy: Partition
  /// Whether the plan has only pictures that the cache does not hold.
  package var onlyFailed: Bool
  /// The scope of the sync.
  var scope: Scope
  /// The length and digest of `documents.log`, the origin's answers to the requests for sections and details.
  var documents: FileSum
  /// The number of pictures in all shards.
  package var urls: Int
  /// The shards, by number.
  package var shards: [Shard]
  /// The SHA-256 of `plan.json`; empty in the file itself.
  package var digest = ""

  /// The version that this larder writes and reads.
  ///
  /// Since version 2, `documents.log` has a row for each document.
  static let form = 2

  /// The name of the plan's main file.
  static let fileName = "plan.json"
  static let catalogName = "catalog.yaml"
  static let documentsName = "documents.log"
  static func listName(_ shard: Int) -> String { "shard-\(shard).ndjson" }
  static func manifestName(_ shard: Int) -> String { "manifest-\(shard).ndjson" }

  private enum CodingKeys: String, CodingKey {
    case format, run, catalog, catalogFile, planned, shardBy, onlyFailed, scope, documents, urls
    case shards
  }
}

extension ShardPlan.Scope {
  /// The options that are the same for every machine.
  init(_ options: SyncOptions) {
    base = options.base
    thumbnailsOnly = options.thumbnailsOnly
    noDetails = options.noDetails
    strict = options.strict
    allowRemovals = options.allowRemovals
    switch options.maxSkipped {
    case .percent(let share): maxSkippedPercent = share
    case .count(let most): maxSkippedCount = most
    }
  }

  /// The options.
  var options: SyncOptions {
    var options = SyncOptions()
    options.base = base
    options.thumbnailsOnly = thumbnailsOnly
    options.noDetails = noDetails
    options.strict = strict
    options.allowRemovals = allowRemovals
    if let maxSkippedPercent { options.maxSkipped = .percent(maxSkippedPercent) }
    if let maxSkippedCount { options.maxSkipped = .count(maxSkippedCount) }
    return options
  }
}

/// A plan for `--json`: the members of `plan.json`, and that file's digest.
package struct PrintedPlan: Encodable {
  private let plan: ShardPlan

  private enum CodingKeys: String, CodingKey {
    case digest
  }

  /// Wraps a plan for printing.
  package init(_ plan: ShardPlan) {
    self.plan = plan
  }

  /// Writes the members in one object.
  package func encode(to encoder: any Encoder) throws {
    try plan.encode(to: encoder)
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(plan.digest, forKey: .digest)
  }
}

/// A plan read from its folder.
package struct PlannedRun: Sendable {
  /// The plan.
  package let plan: ShardPlan
  /// The catalog.
  package private(set) var catalog: CatalogFile
  /// The options of the sync.
  package var options: SyncOptions { plan.scope.options }
  /// The folder.
  let folder: String
  /// The plan's name in messages, for example its `s3://` location.
  let name: String

  /// The names of the files that are needed both to run a shard and to merge.
  package static let files = [ShardPlan.catalogName, ShardPlan.fileName]
  /// The file that completes a plan's folder.
  package static let last = ShardPlan.fileName

  /// The further files that the run of a shard needs: its list, and its manifest if there is one.
  package func files(of shard: Int) -> [String] {
    [ShardPlan.listName(shard), ShardPlan.manifestName(shard)]
  }

  /// The further files that a merge needs.
  package var filesOfAll: [String] {
    plan.shards.indices.flatMap(files(of:)) + [ShardPlan.documentsName]
  }

  private struct Form: Decodable {
    var format: Int
  }

  /// Reads a plan and the catalog file in it.
  ///
  /// - Parameters:
  ///   - folder: The plan's folder.
  ///   - name: The name for messages, when the folder is a copy of another folder.
  /// - Throws: ``LarderError`` when there is no plan, or a plan of another version; ``CatalogError``.
  package init(_ folder: String, called name: String? = nil) throws {
    self.folder = folder
    self.name = name ?? folder
    let text = try Self.bytes(ShardPlan.fileName, in: folder)
    if let form = try? JSONDecoder().decode(Form.self, from: text).format, form != ShardPlan.form {
      throw LarderError(
        .data,
        "cannot use \(folder)/\(ShardPlan.fileName): it has format version \(form), and this larder "
          + "reads version \(ShardPlan.form); make a new plan, with one version of larder on all machines"
      )
    }
    guard var plan = try? JSONDecoder().decode(ShardPlan.self, from: text),
      plan.shards.map(\.shard) == Array(plan.shards.indices), !plan.shards.isEmpty
    else {
      throw LarderError(
        .data,
        "cannot read \(folder)/\(ShardPlan.fileName): it is not a plan that this larder knows; "
          + "make a new plan"
      )
    }
    plan.digest = FileSum(of: text).sha256
    let file = try Self.bytes(ShardPlan.catalogName, in: folder)
    try Self.demand(FileSum(of: file), plan.catalogFile, ShardPlan.catalogName, in: folder)
    catalog = try CatalogFile(
      parsing: [UInt8](file),
      file: "\(folder)/\(ShardPlan.catalogName)"
    )
    self.plan = plan
  }

  /// A copy of the plan without its catalog's command for new tokens.
  func withoutToken() -> Self {
    var planned = self
    planned.catalog.token = nil
    return planned
  }

  /// The pictures of a shard, each with its index row at the time of planning.
  ///
  /// - Throws: ``LarderError`` when the list has changed since the plan was made.
  func pictures(of shard: Int) throws -> [PictureEntry] {
    let name = ShardPlan.listName(shard)
    let bytes = try Self.bytes(name, in: folder)
    try Self.demand(FileSum(of: bytes), plan.shards[shard].list, name, in: folder)
    let decoder = JSONDecoder()
    return try bytes.split(separator: 10).map {
      try decoder.decode(PictureRow.self, from: $0).entry
    }
  }

  /// Reads the URLs of a shard's pictures from its list, a line at a time.
  struct URLs {
    private let reader: LineReader
    private let decoder = JSONDecoder()
    private let folder: String
    private let name: String
    private let list: FileSum
    /// The number of URLs read so far.
    private(set) var count = 0

    private struct Row: Decodable {
      var url: String
    }

    fileprivate init(_ name: String, in folder: String, _ list: FileSum) throws {
      reader = try LineReader("\(folder)/\(name)")
      (self.name, self.folder, self.list) = (name, folder, list)
    }

    /// The next URL; nil at the end.
    ///
    /// - Throws: ``LarderError`` at the end when the list has changed since the plan was made.
    mutating func next() throws -> String? {
      guard let line = try reader.line() else {
        try PlannedRun.demand(reader.sum, list, name, in: folder)
        return nil
      }
      count += 1
      // A malformed line changes the digest, so that the check at the end throws.
      return (try? decoder.decode(Row.self, from: Data(line)))?.url ?? ""
    }
  }

  /// The URLs of a shard's pictures.
  func urls(of shard: Int) throws -> URLs {
    try URLs(ShardPlan.listName(shard), in: folder, plan.shards[shard].list)
  }

  /// Requires that a file of the plan has its recorded length and digest.
  static func demand(_ found: FileSum, _ planned: FileSum, _ name: String, in folder: String)
    throws(LarderError)
  {
    guard found != planned else { return }
    throw LarderError(
      .data,
      "cannot use \(folder)/\(name): it has changed since it was planned; make a new plan"
    )
  }

  /// The content of a file of the plan.
  static func bytes(_ name: String, in folder: String) throws(LarderError) -> Data {
    do {
      return try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
    } catch {
      throw LarderError(
        .data,
        "cannot read \(folder)/\(name): \(systemMessage(of: error)); name the folder that the plan "
          + "was written to"
      )
    }
  }

  private static func systemMessage(of error: any Error) -> String {
    (error as? CocoaError)?.code == .fileReadNoSuchFile
      ? "there is no such file" : "it cannot be read"
  }
}

/// The key by which pictures are assigned to shards: the URL or its host.
package enum Partition: String, Sendable, Codable, CaseIterable {
  /// The URL; all shards have nearly the same size.
  case url
  /// The URL's host and port; each host gets requests from only one shard.
  case host

  /// The shard of a URL, the same on every machine.
  ///
  /// It is the first 8 bytes of the SHA-256 of the URL or of its host, big-endian, modulo the number of shards.
  ///
  /// - Parameters:
  ///   - url: The URL's text, as in the request.
  ///   - host: The URL's host and port, as `host:port`.
  ///   - count: The number of shards, at least 1.
  /// - Returns: A number from 0 to `count - 1`.
  package func shard(of url: String, host: String, among count: Int) -> Int {
    var text = self == .url ? url : host
    return text.withUTF8 { utf8 in
      SHA256.hash(data: UnsafeRawBufferPointer(utf8)).withUnsafeBytes { digest in
        Int(UInt64(bigEndian: digest.loadUnaligned(as: UInt64.self)) % UInt64(count))
      }
    }
  }
}

/// Restricts a plan to allowed environment variables, and decides whether it may run the catalog's command for new
/// tokens.
///
/// Anyone who can write to the plan's folder controls its catalog file, and thereby the hosts that get secrets in
/// headers.
package struct PlanTrust: Sendable {
  /// The reason to refuse a plan.
  package enum Fault: Equatable, Sendable {
    /// The plan has this digest, and not the one that the user gave.
    case digest(String)
    /// The plan's catalog file uses this variable, which is not allowed.
    case variable(String)
  }

  private let variables: Set<String>
  private let digest: String?

  /// Makes the restrictions for a plan.
  ///
  /// - Parameters:
  ///   - variables: The names of the environment variables that the plan may use; names that ``mayBeAllowed(_:)``
  ///     rejects are ignored.
  ///   - digest: The SHA-256 of the only plan to accept, in lower case; nil for any plan.
  package init(variables: Set<String>, digest: String? = nil) {
    self.variables = variables.filter(Self.mayBeAllowed)
    self.digest = digest
  }

  /// Whether a user may allow a plan to use a variable.
  ///
  /// Variables that larder reads itself, `AWS_…` and `LARDER_…`, are never allowed.
  package static func mayBeAllowed(_ name: String) -> Bool {
    !["AWS_", "LARDER_"].contains { name.uppercased().hasPrefix($0) }
  }

  /// The first reason to refuse a plan; nil when there is none.
  package func fault(of planned: PlannedRun) -> Fault? {
    if let digest, digest != planned.plan.digest { return .digest(planned.plan.digest) }
    return planned.catalog.variableNames.first { !variables.contains($0) }.map(Fault.variable)
  }

  /// The plan without its command for new tokens, unless the user gave the plan's digest.
  package func admitted(_ planned: PlannedRun) -> PlannedRun {
    digest == nil ? planned.withoutToken() : planned
  }

  /// The environment variables for the run of a plan.
  ///
  /// - Parameter environment: The environment of the process.
  /// - Returns: The allowed variables, and `PATH` and `HOME`.
  package func environment(_ environment: [String: String]) -> [String: String] {
    environment.filter { variables.contains($0.key) || ["PATH", "HOME"].contains($0.key) }
  }
}
