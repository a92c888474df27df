import ArgumentParser
import Base
import Cache
import Catalog
import CurlTransport
import Dispatch
import Foundation
import Glibc
import Larder
import Orders
import Pipeline
import SampleStore
import SystemPackage
import Transport

/// `larder demo`: runs the main commands, one after the other, on the sample store.
///
/// The sample store is a small shop, with items and pictures, that larder serves on this machine.
struct DemoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract:
      "Try the main commands on the embedded sample store: sync, crop, stamp, order, list, verify, report.",
    discussion: """
      Example:  larder demo
                larder demo --serve --port 8080    and in another terminal
                larder sync samples/catalog.yaml

      The store listens on this machine only, and some of its answers fail on purpose. \
      The demo ends by itself, except with --serve.
      """,
    statuses: [
      .done: "everything worked",
      .failed: "something failed, or no port is free",
      .io: "the disk is full, not writable or damaged",
      .tryAgain: "another run holds the cache",
    ],
    stops: true
  )

  @Option(
    path: "The sample store's folder. (default: LARDER_SAMPLES, else the installed one)",
    value: "dir"
  )
  var samples: String?

  @Flag(help: "Only serve the sample store, until Ctrl-C.")
  var serve = false

  @Option(
    "Serve on this port; 0 means any free one. (default: 8080)",
    value: "port",
    read: WholeNumber.reader(0...65_535)
  )
  var port = 8080

  @Option(path: "Make answers fail as this fault script says.", value: "file")
  var faults: String?

  @Option(path: "Log the orders posted to /orders in this file.", value: "file")
  var journal: String?

  @OptionGroup(title: Topic.cache) var cache: CacheOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let folder = try SampleFolder.find(named: samples)
    if serve { try serveSamples(in: folder) } else { try demonstrate(in: folder) }
  }
}

/// The steps of the demo: sync, crop, stamp, order, list, verify and report.
///
/// A line announces each step.
///
/// The store listens on any free port, but its URLs have a fixed host name. `connectTo` maps that name to the port.
/// Because the URLs stay the same, a second demo finds the pictures of the first demo in the cache.
extension DemoCommand {
  private static let host = "larder-sample-store.test"

  /// The faults of the store if `--faults` is not given: one slow section, and one picture that needs a second attempt.
  private static let hiccups = """
    path=*/soup delay=0.3
    path=/pictures/* hits=5 status=503 retry-after=0
    """

  /// Checks that the demo does not put its shop beside those of the user.
  ///
  /// - Throws: ``CommandFailure`` when the cache has another catalog, and was not named with `--cache`.
  private func demandOwnCache(for name: String) throws {
    guard cache.cache == nil, let index = try? Index(reading: cache.path),
      let other = try index.catalogs().first(where: { entry in
        entry.name != name || entry.source.map { !$0.contains(Self.host) } ?? true
      })
    else { return }
    throw CommandFailure(
      "cannot run the demo in \(cache.path): it holds the catalog \(other.name); "
        + "choose a folder of its own with --cache"
    )
  }

  private func demonstrate(in folder: String) throws {
    let cache = cache.path
    let script = try faults.map { try FaultScript(file: $0) } ?? FaultScript(text: Self.hiccups)
    let content = try SampleContent(folder: "\(folder)/store")
    let store = try SampleStore(content, faults: script)
    defer { store.stop() }
    let file = try CatalogFileOnDisk("\(folder)/catalog.yaml")
    try demandOwnCache(for: file.catalog.name)

    step("1. Sync: three sections, their details, and every picture, from \(store.baseURL)")
    var syncs = [try sync(file, store)]

    step("2. Sync again: nothing changed, so nothing is fetched")
    syncs.append(try sync(file, store))

    step("3. The shop changes: one price falls, one item is removed. Sync, and see the changes")
    try change(content, of: folder)
    syncs.append(try sync(file, store))
    let reader = try CatalogReader(cache: cache, catalog: file.catalog.name)
    tell(try changes(reader))

    step("4. Crop the first pictures to squares, and stamp them with the time")
    try pictures(reader)

    step("5. Place an order, and send it to the store's webhook")
    try order(reader, from: store)

    step("6. List the first section, offline, and verify every byte of every picture")
    store.stop()
    let sections = try reader.sections()
    let items = try reader.list(section: sections.first?.key)
    var table = ItemTable(sections: sections, Terminal(output))
    tell(table.lines(of: items))

    let report = try CacheCheck(cache, holder: nil).run(.full)
    tell(report.text(repaired: false))
    guard report.isClean else { throw CommandFailure(nil, .io) }

    step("7. The catalog, its changes and its runs as a page")
    let page = [
      "--cache", cache, "--catalog", reader.catalog.name, "--out", "\(cache)/report.html",
    ]
    try ReportCommand.parse(page + (output.json ? ["--quiet"] : [])).run()

    if output.json {
      // All parts are JSON that larder wrote, so the document can be put together as text.
      let runs = syncs.map { String(decoding: $0.json, as: UTF8.self) }.joined(separator: ",")
      let check = String(decoding: try report.jsonLine(), as: UTF8.self)
      Output.json(Array("{\"syncs\":[\(runs)],\"verify\":\(check)}".utf8))
    }
    tell(
      """

      The pictures are in \(cache)/images. Open \(cache)/report.html, or look further with
        larder list --cache \(cache)
        larder show \(items.first?.item.id ?? "ID") --cache \(cache)
        larder status --cache \(cache)
        larder serve --cache \(cache)
      """
    )
  }

  /// The removed items and the new prices of the last run, for example `changed    Tofu: 900원 → 800원`.
  private func changes(_ reader: CatalogReader) throws -> String {
    let before = try reader.lastRuns().before
    let removed = try reader.diff(from: nil, to: nil).items.removed.map(\.id)
    let titles = try reader.titles(of: Set(removed.map(\.exact)), in: before)
    var lines = removed.map { "removed    \(PlainText.line(titles[$0.exact] ?? $0))" }
    for change in try reader.netChanges(after: before) {
      guard let old = change.price, let new = change.newPrice, old != new else { continue }
      let title = PlainText.line(change.item?.title ?? change.id)
      lines.append("changed    \(title): \(old.formatted()) → \(new.formatted())")
      if try reader.lowestPrice(of: change.id, days: 30)?.price == new {
        lines.append("           the price fell to \(new.formatted()), the lowest in 30 days")
      }
    }
    return lines.isEmpty ? "nothing" : lines.joined(separator: "\n")
  }

  /// Crops and stamps the first three pictures in the cache.
  ///
  /// The results go into the cache's folder `demo`.
  private func pictures(_ reader: CatalogReader) throws {
    let held = try reader.list().compactMap { $0.thumbnail?.path }.prefix(3)
    let inputs = held.map { "\(cache.path)/\($0)" }
    guard !inputs.isEmpty else { return }
    let (squares, stamped) = ("\(cache.path)/demo/squares", "\(cache.path)/demo/stamped")
    let count = Quantities.count(inputs.count, "picture")
    let words = ["--quiet", "--force"] + inputs
    let crop = try CropCommand.parse(["--out", squares, "--size", "256"] + words)
    let status = try crop.make()
    guard status == .done else { throw CommandFailure(nil, status) }
    tell("cropped    \(count) to 256 × 256 in \(squares)")
    let stamp = try StampCommand.parse(["--out", stamped, "--time", "now"] + words)
    // Stamping needs Pango and fonts; without them the demo continues.
    let isStamped = (try? stamp.make()) == .done
    tell(
      isStamped
        ? "stamped    \(count) in \(stamped)"
        : "stamped    nothing: larder stamp needs Pango and a font"
    )
  }

  private func step(_ words: String) {
    tell("\n\(Terminal(output).paint(words, .bold))")
  }

  /// Prints text on stdout; with `--json`, on stderr.
  private func tell(_ text: String) {
    if output.json { Output.note(text) } else { Output.data(text) }
  }

  private func sync(_ file: CatalogFileOnDisk, _ store: SampleStore) throws -> SyncReport {
    let words = ["--connect-to", "\(Self.host):80:127.0.0.1:\(store.port)", "--proxy", "none"]
    let connection = try ConnectionOptions.parse(words)
    let named = [HostPort(host: Self.host, port: 80)]
    let transport = try CurlTransport(try connection.transport(named: Set(named)))
    defer { transport.shutdown() }
    var options = SyncOptions()
    options.base = "http://\(Self.host)/develop/baminchan/"
    let place = CachePlace(path: cache.path, store: nil)
    let signals = Signals()
    let report = try file.sync(as: "demo", cache: place, options, transport, output, signals)
    let summary = SyncSummary(report: report, terminal: Terminal(output))
    tell(summary.text)
    for warning in summary.warnings(all: false) { Log(output).warning(warning) }
    if report.outcome == .interrupted {
      throw CommandFailure(nil, ExitStatus(report, signal: signals.signal))
    }
    guard report.outcome == .complete || faults != nil else {
      throw CommandFailure("the demo failed", .failed)
    }
    return report
  }

  /// Lowers the price of the first item in the first section of the store, and removes the last item of that section.
  private func change(_ content: SampleContent, of folder: String) throws {
    let path = "/develop/baminchan/main.json"
    guard let data = FileManager.default.contents(atPath: "\(folder)/store\(path)"),
      var items = try JSONSerialization.jsonObject(with: data) as? [[String: Any]],
      items.count > 1
    else { return }
    items[0]["s_price"] = "5,900원"
    items.removeLast()
    let changed = try JSONSerialization.data(withJSONObject: items)
    content[path] = Resource([UInt8](changed), type: "application/json")
  }

  /// Orders the first item that is not sold out, sends the order to the store's webhook, and lists the order.
  ///
  /// The order is not real, so it is kept in a temporary file. The file is removed afterwards.
  private func order(_ reader: CatalogReader, from store: SampleStore) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "larder-demo-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    guard let item = try reader.list().first(where: { !$0.item.isSoldOut })?.item else { return }
    let clock = SystemSenderClock()
    let language = try OutboxOptions.parse([]).language
    let items = [OrderRequest.Item(item.id, quantity: 2)]
    let draft = OrderRequest(by: "Jiyeon", items: items, locale: language.rawValue)
    let order = try draft.order(from: reader, at: clock.now())
    let outbox = try Outbox(folder.appending(path: "orders.sqlite").path)
    try outbox.place(order)
    tell("placed     \(order.line)")

    let url = "\(store.baseURL)/orders"
    let webhook = try Orders.Webhook(url, payload: .slack, parser: CurlURLParser())
    // The embedded store is on this machine, so LARDER_PROXY is ignored.
    let options = try WebhookOptions.parse(["--proxy", "none"])
    let sent = try options.send(of: outbox, to: webhook)
    let payload = try? JSONSerialization.jsonObject(with: Data(store.orders.last?.body ?? []))
    let text = (payload as? [String: Any])?["text"] as? String
    tell("received   \(PlainText.line(text ?? "nothing"))")
    sent.warn(output)
    if sent.signal != nil { throw CommandFailure(nil, sent.status) }
    let table = OrderTable(
      orders: try outbox.orders(),
      language: language,
      now: clock.now(),
      terminal: Terminal(output)
    )
    tell("listed     \(table.text)")
    guard sent.report.delivered == [order.id] || faults != nil else {
      throw CommandFailure("the demo failed", .failed)
    }
  }

  /// Serves the sample store until SIGINT or SIGTERM.
  private func serveSamples(in folder: String) throws {
    let store = try SampleStore(
      SampleContent(folder: "\(folder)/store"),
      faults: try faults.map { try FaultScript(file: $0) } ?? [],
      port: port,
      journal: journal
    )
    defer { store.stop() }
    let ended = DispatchSemaphore(value: 0)
    let signals = Signals { ended.signal() }
    let url = "\(store.baseURL)/develop/baminchan/"
    try output.show(["url": url], text: url, always: true)
    ended.wait()
    withExtendedLifetime(signals) {}
  }
}

extension FaultScript {
  /// Reads the file of `--faults`.
  fileprivate init(file path: String) throws {
    let bytes = try FileReading.bytes(path, what: "fault script", limit: 1 << 20)
    try self.init(text: String(decoding: bytes, as: UTF8.self))
  }
}

/// Finds the folder of the sample store: given by the user, installed with larder, or in larder's source tree.
enum SampleFolder {
  /// The folder with `catalog.yaml` and `store/`.
  ///
  /// - Parameter named: The value of `--samples`; nil if it was not given.
  /// - Returns: The folder's path.
  /// - Throws: ``CommandFailure`` when no such folder exists.
  static func find(named: String?) throws -> String {
    let named = try named ?? OutboxOptions.path("LARDER_SAMPLES")
    let program = program()
    let folder = FilePath(program).removingLastComponent()
    // The files of PREFIX/bin/larder are in PREFIX/share/larder.
    let installed = folder.removingLastComponent().appending("share/larder/samples").string
    // A development build is in .build of its source tree.
    let above = sequence(first: folder) {
      $0.components.isEmpty ? nil : $0.removingLastComponent()
    }.map { $0.appending("samples").string }
    let places = named.map { [$0] } ?? [installed] + above
    if let found = places.first(where: holdsStore) { return found }
    let lack =
      named.map { " in \($0): there is no catalog.yaml" }
      ?? ": there is no \(installed), and no folder samples above \(program)"
    throw CommandFailure(
      "cannot find the sample store\(lack); give its folder with --samples"
    )
  }

  private static func holdsStore(_ path: String) -> Bool {
    access(path + "/catalog.yaml", R_OK) == 0 && access(path + "/store", X_OK) == 0
  }

  /// This program's path, with symbolic links resolved.
  static func program() -> String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
  }
}
