import ArgumentParser
import Base
import Cache
import Catalog
import CurlTransport
import Dispatch
import Foundation
import Imaging
import Pipeline
import Synchronization
import Transport
import Web

/// `larder serve`: serves the catalog as a web store, a JSON interface for apps, and a mirror of the pictures.
struct ServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve the catalog: a web store, JSON for apps, and the pictures.",
    discussion: """
      Example:  larder serve shop.yaml
                larder serve shop.yaml --bind 0.0.0.0 --host shop.example --port 80

      / is the store; /api/sections, /api/sections/KEY, /api/items/ID and /api/search?q= answer as list \
      --json does, /openapi.json describes them; /images/… are the pictures, with ?square=N squares of \
      them; /healthz and /metrics are for monitoring. sync, warm and gc may run at the same time; \
      their changes are served at once.

      A picture of the catalog that the cache lacks is fetched from its origin, as sync would, stored \
      and served. The catalog file says which hosts may have private addresses; without it, none may.

      Only this machine can connect, unless you give --bind. After SIGTERM or Ctrl-C, requests in \
      progress have 10 s to finish. -v prints a line for each request on stderr.
      """,
    statuses: [
      .done: "never; a signal ends the server",
      .failed: "there is no cache, no such catalog, or the address is in use",
      .io: "the cache cannot be read",
      .configuration: "the catalog file is wrong",
    ],
    stops: true
  )

  @Argument(
    help: ArgumentHelp(
      "The catalog file that the cache was synced with, to fetch missing pictures.",
      valueName: "catalog"
    ),
    completion: .catalogFile,
    transform: PathArgument.read
  )
  var file: String?

  @Option(
    "The address to listen on; an address other than loopback lets others in.",
    value: "address"
  )
  var bind = "127.0.0.1"

  @Option(
    "The port; 0 takes a free one. (default: 8080)",
    value: "n",
    read: WholeNumber.reader(0...65_535)
  )
  var port = 8080

  @Option(
    "Another name of this server, such as its name in DNS; requests for unknown names are refused. May be repeated.",
    value: "name"
  )
  var host: [String] = []

  @Option(
    "The sizes of squares, in pixels, or none. (default: 128,256,512)",
    value: "n,…",
    read: Self.sizes
  )
  var squares = [128, 256, 512]

  @Option(
    "The most requests from one address. (default: 200/s, no limit on loopback)",
    value: "n/s"
  )
  var rate: RateArgument?

  @Flag(help: "Serve the cache, and fetch nothing.")
  var offline = false

  @Option("Use this URL instead of the catalog's base.", value: "url")
  var base: String?

  @Option("Refuse an order with a higher total.", value: "amount")
  var budget: String?

  @OptionGroup(title: Topic.limits) var room: RoomOptions
  @OptionGroup(title: Topic.connection) var connection: ConnectionOptions
  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup(title: Topic.cache) var catalog: CatalogOptions
  @OptionGroup(title: Topic.orders) var outbox: OutboxOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    for name in host where name.isEmpty || name.contains(where: { " /:*".contains($0) }) {
      throw ValidationError("--host takes a bare name such as shop.example, not \"\(name)\"")
    }
  }

  func run() throws {
    Descriptors.raiseLimit()
    let file = try file.map { try CatalogFileOnDisk($0) }
    let place = try cache.place(reading: true, Log(output))
    defer { withExtendedLifetime(place) {} }
    let served = try OpenCatalog(cache: place.path, catalog: catalog.catalog ?? file?.catalog.name)
    let origin =
      offline
      ? nil : try origin(file, of: served, place.remote, keeping: room.reserve(of: place.path))
    defer { origin?.transport.shutdown() }
    let log = AccessLog(output.logFormat, isWhole: output.verbose > 0)
    var content = ServerContent(cache: place.path, catalog: served, clock: { .now() })
    content.remote = place.remote
    content.squares = squares
    content.pictures = Workers.forPictures
    content.orders = try outbox.path()
    content.budget = try budget.map { try OrderPlaceCommand.budget($0, served.currency) }
    content.log = { log.note($0) }
    if let origin {
      do throws(LarderError) {
        try content.fetchMissing(by: origin.pull)
      } catch {
        Log(output).warning("missing pictures are not fetched: \(error.commandText)")
      }
    }
    try serve(content)
  }

  /// Parses sizes of squares, such as `128,256,512`, or `none`, into sides in pixels, in ascending order.
  @Sendable private static func sizes(_ argument: String) throws -> [Int] {
    if argument == "none" { return [] }
    let words = argument.split(separator: ",", omittingEmptySubsequences: false)
    let sides = words.compactMap { WholeNumber.read(String($0), in: 1...4096) }
    guard sides.count == words.count, sides.count <= 8 else {
      throw ValidationError("it takes none, or up to 8 numbers from 1 to 4096 with commas between")
    }
    return Set(sides).sorted()
  }

  /// Prepares to fetch the pictures that a client requests and the cache lacks.
  ///
  /// - Parameters:
  ///   - file: The catalog file. Hosts that it names are allowed to have private addresses. Without a file, every host
  ///     must have a public address.
  ///   - served: The served catalog.
  ///   - remote: The store that gets the pictures; nil if the cache's folder does.
  ///   - reserve: The disk space to leave free. Pass nil to use the whole disk.
  /// - Returns: The transport, and the function that makes the fetcher.
  /// - Throws: ``CommandFailure`` when the file belongs to another catalog, or an option is wrong.
  private func origin(
    _ file: CatalogFileOnDisk?,
    of served: OpenCatalog,
    _ remote: (any RemotePictures)?,
    keeping reserve: DiskReserve?
  ) throws -> (transport: CurlTransport, pull: (_ room: String) -> PicturePull) {
    let catalog = try file?.catalog ?? Self.catalog(withoutHosts: served.name)
    guard catalog.name == served.name else {
      throw CommandFailure(
        "cannot serve \(served.name) with the catalog file of \(catalog.name); give the file of \(served.name), or none"
      )
    }
    let named = try file?.namedHosts(base: base) ?? []
    let transport = try CurlTransport(try connection.transport(named: named))
    var options = SyncOptions()
    options.base = base
    return (
      transport,
      { [options] in
        PicturePull(
          SyncRun(
            catalog,
            cache: $0,
            options: options,
            transport: transport,
            environment: ProcessInfo.processInfo.environment,
            remote: remote,
            now: { .now() }
          ),
          reserve: reserve
        )
      }
    )
  }

  /// A catalog file with this name that names no host.
  private static func catalog(withoutHosts name: String) throws -> CatalogFile {
    let text =
      "{name: none, currency: KRW, sections: [{key: none, url: \"https://none.invalid/\"}]}"
    var catalog = try CatalogFile(parsing: Array(text.utf8), file: "none")
    (catalog.name, catalog.sections) = (name, [])
    return catalog
  }

  private func serve(_ content: ServerContent) throws {
    let ended = DispatchSemaphore(value: 0)
    let signals = Signals(patience: .seconds(11)) { ended.signal() }
    var limits = ServerLimits()
    limits.perAnyClient = rate?.perSecond
    let web = try WebServer(content, bind: bind, port: port, hosts: host, limits: limits)
    if !web.isLoopback {
      Log(output).warning(
        "anyone who can reach \(web.address) can see the catalog and place orders; a proxy that asks for "
          + "passwords keeps others out"
      )
    }
    try output.show(["url": web.url], text: "serving \(web.url)", always: true)
    ended.wait()
    web.stop()
    Output.end(signals.status ?? .interrupted)
  }
}

/// The access log on stderr.
///
/// It has a line for each answered request, or only for each internal failure.
///
/// Lines are written on a separate queue, so that a slow reader of stderr does not delay the server. When 10,000 lines
/// are waiting, further lines are dropped and counted.
final class AccessLog: Sendable {
  private let format: LogFormat
  private let isWhole: Bool
  /// The last logged failure.
  ///
  /// If the next failure has the same cause, it is not logged.
  private let told = Mutex<String?>(nil)
  private let queue = DispatchQueue(label: "larder.access")
  /// The free places in the queue.
  private let places = DispatchSemaphore(value: 10_000)
  private let lost = Atomic<Int>(0)

  /// Creates a log.
  ///
  /// - Parameters:
  ///   - format: The format of the lines.
  ///   - isWhole: Whether to log every request. If false, only internal failures are logged, and not the same one twice
  ///     in a row.
  init(_ format: LogFormat, isWhole: Bool) {
    (self.format, self.isWhole) = (format, isWhole)
  }

  /// Queues the line about a request for writing.
  func note(_ record: RequestRecord) {
    guard isWhole || isNews(record) else { return }
    guard places.wait(timeout: .now()) == .success else {
      lost.add(1, ordering: .relaxed)
      return
    }
    let time = UnixTime.now()
    queue.async { [self] in
      places.signal()
      let missed = lost.exchange(0, ordering: .relaxed)
      if missed > 0 { Log(format).warning("\(missed) requests were not logged") }
      Output.note(line(record, time))
    }
  }

  /// Whether a request failed internally, with a cause that differs from the last logged cause.
  private func isNews(_ record: RequestRecord) -> Bool {
    guard record.status >= 500, let cause = record.cause else { return false }
    return told.withLock { told in
      defer { told = cause }
      return told != cause
    }
  }

  private func line(_ record: RequestRecord, _ time: UnixTime) -> String {
    guard format == .text else {
      var line = JSONMembers([
        "time": time.rfc3339, "level": record.cause == nil ? "info" : "error",
        "client": record.client, "method": record.method, "target": record.target,
        "status": record.status, "bytes": record.bytes, "seconds": record.seconds,
      ])
      if let cause = record.cause { line.values["cause"] = cause }
      return TerminalJSON.text((try? line.jsonLine()) ?? [])
    }
    let milliseconds = (record.seconds * 10_000).rounded() / 10
    return PlainText.row(
      "\(time.rfc3339) \(record.client) \(record.method) \(record.target) \(record.status) "
        + "\(record.bytes) B \(milliseconds) ms" + (record.cause.map { ": \($0)" } ?? "")
    )
  }
}
