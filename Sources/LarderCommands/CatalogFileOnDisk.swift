import Base
import Catalog
import CurlTransport
import Foundation
import Larder
import Pipeline
import Synchronization
import SystemPackage
import Transport

/// A catalog file that was read from disk, with its folder.
///
/// Local paths in the file, such as `file: main.json`, are relative to that folder.
struct CatalogFileOnDisk: Sendable {
  let catalog: CatalogFile
  let folder: String
  /// The environment variables that replace `${NAME}` in the file.
  let environment: [String: String]
  /// The text of the file; empty for a catalog file that a shard plan contains.
  var bytes: [UInt8] = []
  /// The path of the format file that the catalog file names, if any.
  var format: FilePath?
}

extension CatalogFileOnDisk {
  /// Reads and checks the file at `path`.
  init(_ path: String) throws {
    if path.contains("://") {
      throw CommandFailure(
        "cannot read catalog file \(path): it is a URL, not a file; larder catalog init "
          + "\(path) writes a file for it"
      )
    }
    let bytes = try FileReading.bytes(
      path,
      what: "catalog file",
      limit: 1 << 20,
      tooLong: .configuration
    )
    if let kind = Self.mistaken(bytes) {
      throw CommandFailure(
        "cannot read catalog file \(path): it is \(kind), not YAML or JSON; "
          + "larder catalog init writes a file from a shop's response",
        .configuration
      )
    }
    let folder = FilePath(path).removingLastComponent()
    let formats = BoundedReading.formatFiles(beside: path)
    let format = Mutex<FilePath?>(nil)
    let catalog = try CatalogFile(parsing: bytes, file: path) { name throws(CatalogError) in
      format.withLock { $0 = folder.pushing(FilePath(name)).lexicallyNormalized() }
      return try formats(name)
    }
    try catalog.demandTrust(ofFile: path)
    self.init(
      catalog: catalog,
      folder: folder.string,
      environment: ProcessInfo.processInfo.environment,
      bytes: bytes,
      format: format.withLock(\.self)
    )
  }

  /// The kind of the file, such as "binary data", if it certainly is not a catalog file; nil if it is possibly one.
  private static func mistaken(_ bytes: [UInt8]) -> String? {
    if bytes.prefix(1024).contains(0) { return "binary data" }
    let first = bytes.first { $0 != 0x20 && !(0x09...0x0D).contains($0) }
    return first == UInt8(ascii: "<") ? "a page or XML" : nil
  }

  /// The hosts that the catalog names.
  ///
  /// If `base` is given, it replaces the catalog's own base URL.
  func namedHosts(base: String?) throws -> Set<HostPort> {
    try addresses(base) { try $0.namedHosts() }
  }

  /// Whether sections or details are local files.
  func readsFiles(base: String?) throws -> Bool {
    try addresses(base) { try $0.readsFiles() }
  }

  /// Refuses a catalog whose sections or details are local files, because other machines do not have these files.
  func demandOrigins(base: String?) throws {
    guard try readsFiles(base: base) else { return }
    throw CommandFailure(
      "cannot plan \(catalog.name): its sections or details are local files, which other machines cannot read; "
        + "use larder sync"
    )
  }

  private func addresses<Value>(
    _ base: String?,
    _ read: (CatalogAddresses) throws -> Value
  ) throws -> Value {
    let addresses = try CatalogAddresses(
      catalog,
      folder: folder,
      base: base,
      environment: environment,
      CurlURLParser()
    )
    do { return try read(addresses) } catch let error as TransferFailure {
      throw LarderError(error)
    }
  }

  /// Syncs the catalog by the clock of this machine, with a progress line and warnings on stderr.
  ///
  /// - Parameters:
  ///   - command: The words for the cache's lock, for example `sync banchan`.
  ///   - cache: The cache.
  ///   - options: The options of the sync.
  ///   - transport: The transport.
  ///   - output: The output options.
  ///   - signals: The handler of the signals that end the run early.
  ///   - shared: The differences from a plain sync.
  /// - Returns: The report.
  /// - Throws: The error that prevented the run.
  func sync(
    as command: String,
    cache: CachePlace,
    _ options: SyncOptions,
    _ transport: CurlTransport,
    _ output: OutputOptions,
    _ signals: Signals,
    shared: SharedSync = SharedSync()
  ) throws -> SyncReport {
    let run = run(cache, options, transport, output, shared: shared)
    signals.stop.whenRaised { run.stop() }
    return try ProgressDisplay.during(run.progress, of: transport, output) {
      try run.run(holder: "larder \(command), process \(getpid())")
    }
  }

  /// Prints the plan of a run, for `--dry-run`, and changes nothing.
  func printPlan(
    cache: CachePlace,
    _ options: SyncOptions,
    _ transport: CurlTransport,
    _ output: OutputOptions
  ) throws -> ExitStatus {
    let plan = try SyncPlan(run(cache, options, transport, output))
    try output.show(plan, text: plan.text, always: true)
    return .done
  }

  /// The sync of this catalog, which has not begun.
  func run(
    _ cache: CachePlace,
    _ options: SyncOptions,
    _ transport: CurlTransport,
    _ output: OutputOptions,
    shared: SharedSync = SharedSync()
  ) -> SyncRun {
    SyncRun(
      catalog,
      folder: folder,
      cache: cache.path,
      options: options,
      transport: transport,
      environment: environment,
      shared: shared,
      remote: cache.remote,
      now: { UnixTime.now() },
      notice: { Log(output).warning($0) }
    )
  }
}

extension SyncPlan {
  /// The plan as text: a line for each request that the run would send, then the counts.
  fileprivate var text: String {
    var lines = sections.map {
      "\($0.action)  \($0.method == "GET" ? "" : "\($0.method) ")\($0.url)"
    }
    lines += details.fetch.map { "fetch  \($0)" }
    lines += details.revalidate.map { "revalidate  \($0)" }
    lines += images.fetch.map { "fetch  \($0)" }
    lines += images.revalidate.map { "revalidate  \($0)" }
    lines += sweep.map { "sweep  \($0)" }
    lines.append(
      "\(catalog): \(Quantities.count(sections.count, "section")); "
        + "details: \(counts(details)); pictures: \(counts(images)); "
        + "\(sweep.count) to sweep. Nothing was changed; the items of new sections are "
        + "not known yet."
    )
    return lines.map(PlainText.row).joined(separator: "\n")
  }

  private func counts(_ work: Work) -> String {
    "\(work.fetch.count) to fetch, \(work.revalidate.count) to revalidate, \(work.fresh) fresh"
  }
}
