import Base
import Cache
import Catalog
import Crypto
import FoundationEssentials
import Pipeline

/// A run over many machines, as it was planned: the text of `plan.json`, key for key.
package struct ShardPlan: Codable, Equatable, Sendable {
  /// One shard.
  package struct Shard: Codable, Equatable, Sendable {
    /// Its number, from 0.
    package var shard: Int
    /// How many pictures it has.
    package var urls: Int
    /// Its list.
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

  /// The form of the plan's files; a larder reads those of its own form alone.
  var format = Self.form
  /// The run's own name, by which its traces in a cache are known.
  package var run: String
  /// The catalog's name.
  package var catalog: String
  /// The catalog file; the plan has a copy of it.
  var catalogFile: FileSum
  /// When it was planned, in seconds since 1970.
  var planned: Int64
  /// The key of the partition.
  package var shardBy: Partition
  /// Whether only pictures that the cache does not hold are part of it.
  package var onlyFailed: Bool
  /// The scope of the sync.
  var scope: Scope
  /// The answers of the origin to requests for sections and details.
  var documents: FileSum
  /// How many pictures there are.
  package var urls: Int
  /// The shards, by number.
  package var shards: [Shard]
  /// The SHA-256 of the plan's file; empty in the file itself.
  package var digest = ""

  /// The form that this larder writes and reads: since 2 `documents.log` has a row a document.
  static let form = 2

  /// The names of the plan's files.
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

/// A plan as it is printed: its file's members, and the digest of that file.
package struct PrintedPlan: Encodable {
  private let plan: ShardPlan

  private enum CodingKeys: String, CodingKey {
    case digest
  }

  /// Prints a plan.
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
  /// As people call it.
  let name: String

  /// The names of the files that everybody needs, who runs a shard or merges.
  package static let files = [ShardPlan.catalogName, ShardPlan.fileName]
  /// The file that makes a folder a plan.
  package static let last = ShardPlan.fileName

  /// The names of the files that the run of a shard needs besides: its list, and the manifest if it was committed.
  package func files(of shard: Int) -> [String] {
    [ShardPlan.listName(shard), ShardPlan.manifestName(shard)]
  }

  /// The names of the files that a merge needs besides.
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
  ///   - name: Its displayed name, when it is the copy of another.
  /// - Throws: ``LarderError`` when there is no plan, or one of another form; ``CatalogError``.
  package init(_ folder: String, called name: String? = nil) throws {
    self.folder = folder
    self.name = name ?? folder
    let text = try Self.bytes(ShardPlan.fileName, in: folder)
    if let form = try? JSONDecoder().decode(Form.self, from: text).format, form != ShardPlan.form {
      throw LarderError(
        .data,
        "cannot use \(folder)/\(ShardPlan.fileName): it is a plan of form \(form), and this larder "
          + "takes form \(ShardPlan.form); plan anew, and have one version of larder on all machines"
      )
    }
    guard var plan = try? JSONDecoder().decode(ShardPlan.self, from: text),
      plan.shards.map(\.shard) == Array(plan.shards.indices), !plan.shards.isEmpty
    else {
      throw LarderError(
        .data,
        "cannot read \(folder)/\(ShardPlan.fileName): it is no plan that this larder knows; "
          + "plan anew"
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

  /// The same plan with a catalog that has no command for new tokens.
  func withoutToken() -> Self {
    var planned = self
    planned.catalog.token = nil
    return planned
  }

  /// The pictures of a shard, with their earlier entries.
  ///
  /// - Throws: ``LarderError`` when the list is not the one that was planned.
  func pictures(of shard: Int) throws -> [PictureEntry] {
    let name = ShardPlan.listName(shard)
    let bytes = try Self.bytes(name, in: folder)
    try Self.demand(FileSum(of: bytes), plan.shards[shard].list, name, in: folder)
    let decoder = JSONDecoder()
    return try bytes.split(separator: 10).map {
      try decoder.decode(PictureRow.self, from: $0).entry
    }
  }

  /// The URLs of a shard's pictures, a line of its list at a time.
  struct URLs {
    private let reader: LineReader
    private let decoder = JSONDecoder()
    private let folder: String
    private let name: String
    private let list: FileSum
    /// How many were read.
    private(set) var count = 0

    private struct Row: Decodable {
      var url: String
    }

    fileprivate init(_ name: String, in folder: String, _ list: FileSum) throws {
      reader = try LineReader("\(folder)/\(name)")
      (self.name, self.folder, self.list) = (name, folder, list)
    }

    /// The next; nil at the end.
    ///
    /// - Throws: ``LarderError`` at the end when the list is not the one that was planned.
    mutating func next() throws -> String? {
      guard let line = try reader.line() else {
        try PlannedRun.demand(reader.sum, list, name, in: folder)
        return nil
      }
      count += 1
      // A line that is none makes the digest another.
      return (try? decoder.decode(Row.self, from: Data(line)))?.url ?? ""
    }
  }

  /// The URLs of a shard's pictures.
  func urls(of shard: Int) throws -> URLs {
    try URLs(ShardPlan.listName(shard), in: folder, plan.shards[shard].list)
  }

  /// Demands that a file of the plan is as it was written.
  static func demand(_ found: FileSum, _ planned: FileSum, _ name: String, in folder: String)
    throws(LarderError)
  {
    guard found != planned else { return }
    throw LarderError(
      .data,
      "cannot use \(folder)/\(name): it is not as it was planned; plan anew"
    )
  }

  /// A file of the plan.
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

/// The key of the partition: a URL or its host.
package enum Partition: String, Sendable, Codable, CaseIterable {
  /// The URL: shards are of nearly one size.
  case url
  /// Its host and port: one shard alone asks a host.
  case host

  /// The shard of a URL, the same on every machine: the first 8 bytes of the SHA-256 of the text, big-endian,
  /// modulo the number of shards.
  ///
  /// - Parameters:
  ///   - url: The URL's text, as it is sent.
  ///   - host: Its host and port, as `host:port`.
  ///   - count: How many shards there are, at least 1.
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

/// The part of a machine that a plan may use: environment variables by name, and its rights to run a command.
///
/// The writer of the plan's folder controls the catalog file in it, and with it the hosts that get its headers.
package struct PlanTrust: Sendable {
  /// Why a plan is not used.
  package enum Fault: Equatable, Sendable {
    /// It is another plan than the one that was named, with its own digest.
    case digest(String)
    /// Its catalog file names a variable that is not allowed.
    case variable(String)
  }

  private let variables: Set<String>
  private let digest: String?

  /// Trusts a plan so far.
  ///
  /// - Parameters:
  ///   - variables: The names of the environment variables that it may use; those that no plan may use are left out.
  ///   - digest: The SHA-256 of the plan that is meant, in lower case; nil for any plan.
  package init(variables: Set<String>, digest: String? = nil) {
    self.variables = variables.filter(Self.mayBeAllowed)
    self.digest = digest
  }

  /// Whether a plan may be allowed a variable: never the credentials of a store, or those that larder reads itself.
  package static func mayBeAllowed(_ name: String) -> Bool {
    !["AWS_", "LARDER_"].contains { name.uppercased().hasPrefix($0) }
  }

  /// The first reason not to use a plan; nil when there is none.
  package func fault(of planned: PlannedRun) -> Fault? {
    if let digest, digest != planned.plan.digest { return .digest(planned.plan.digest) }
    return planned.catalog.variableNames.first { !variables.contains($0) }.map(Fault.variable)
  }

  /// The plan as it may be used: without its command for new tokens, unless its digest was named.
  package func admitted(_ planned: PlannedRun) -> PlannedRun {
    digest == nil ? planned.withoutToken() : planned
  }

  /// The environment of a plan's run.
  ///
  /// - Parameter environment: That of the process.
  /// - Returns: The variables that are allowed, and where programs and their files are found.
  package func environment(_ environment: [String: String]) -> [String: String] {
    environment.filter { variables.contains($0.key) || ["PATH", "HOME"].contains($0.key) }
  }
}
