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
import Transport
import Web

/// `larder demo`: runs the main commands, one after the other, on the sample store.
///
/// The sample store is a small shop, with items and pictures, that larder serves on this machine.
struct DemoCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "everything worked",
      .failed: "something failed, or no port is free",
      .io: "the disk is full, not writable or damaged",
      .tryAgain: "another run holds the cache",
    ],
    stops: true
  )

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

      \(statuses.text)
      """
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

  @Option(
    name: .customLong("journal"),
    help: ArgumentHelp("Log the orders posted to /orders in this file.", valueName: "file"),
    transform: PathArgument.read
  )
  var journal: String?

  @Flag(help: "Serve a generated picture for each picture path that the store lacks.")
  var anyPicture = false

  @Option(path: "Serve HTTPS with this certificate (PEM).", value: "file")
  var certificate: String?

  @Option(path: "The certificate's key (PEM).", value: "file")
  var key: String?

  @OptionGroup(title: Topic.cache) var cache: CacheOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    if (certificate == nil) != (key == nil) {
      throw ValidationError("--certificate and --key go together")
    }
  }

  func run() throws {
    let folder = try SampleFolder.find(named: samples)
    do {
      if serve {
        try serveSamples(in: folder)
      } else {
        try Demonstration(folder: folder, faults: faults, cache: cache.path, output: output).run()
      }
    } catch let error as SampleError {
      throw CommandFailure(error.description, .failed)
    }
  }
}

/// The steps of the demo: sync, crop, stamp, order, list, verify and report.
///
/// A line announces each step.
///
/// The store listens on any free port, but its URLs have a fixed host name. `connectTo` maps that name to the port.
/// Because the URLs stay the same, a second demo finds the pictures of the first demo in the cache.
struct Demonstration {
  let folder: String
  let faults: String?
  let cache: String
  let output: OutputOptions

  private static let host = "larder-sample-store.test"

  /// The faults of the store if `--faults` is not given: one slow section, and one picture that needs a second attempt.
  private static let hiccups = """
    path=*/soup delay=0.3
    path=/pictures/* hits=5 status=503 retry-after=0
    """

  func run() throws {
    let script =
      try faults.map { try FaultFile.read($0) } ?? FaultScript(text: Self.hiccups)
    let content = try SampleContent(folder: "\(folder)/store")
    let store = try SampleStore.start(content, faults: script)
    defer { store.stop() }
    let file = try CatalogFileOnDisk("\(folder)/catalog.yaml")

    step("1. Sync: three sections, their details, and every picture, from \(store.baseURL)")
    var syncs = [try sync(file, store)]

    step("2. Sync again: nothing changed, so nothing is fetched")
    syncs.append(try sync(file, store))

    step("3. The shop changes: one price falls, one item is removed. Sync, and see the changes")
    let before = try CatalogReader(cache: cache, catalog: file.catalog.name).list()
    change(content)
    syncs.append(try sync(file, store))
    let reader = try CatalogReader(cache: cache, catalog: file.catalog.name)
    tell(try differences(reader, before: before))

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
    try page(reader)

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

  /// The changes of the last run as text, with titles and amounts instead of ids and minor units.
  private func differences(_ reader: CatalogReader, before: [ShownItem]) throws -> String {
    let diff = try reader.diff(from: nil, to: nil).items
    let now = try reader.list()
    let titles = Dictionary((before + now).map { ($0.id, PlainText.line($0.title)) }) { $1 }
    func amount(_ units: String?) -> String {
      let price = units.flatMap { Int($0) }
        .map { Price(minorUnits: $0, currency: reader.catalog.currency) }
      return price?.formatted() ?? "no price"
    }
    var lines = diff.removed.map { "removed    \(titles[$0.id] ?? $0.id)" }
    lines += diff.added.map { "new        \(titles[$0.id] ?? $0.id)" }
    for change in diff.changed {
      let isPrice = change.field == "salePrice" || change.field == "normalPrice"
      let values =
        isPrice ? ": \(amount(change.from)) → \(amount(change.to))" : ": new \(change.field)"
      lines.append("changed    \(titles[change.id] ?? change.id)\(values)")
      if isPrice, let price = Self.lowest(of: change.id, before: before, now: now) {
        lines.append("           the price fell to \(price.formatted()), the lowest in 30 days")
      }
    }
    return lines.isEmpty ? "nothing" : lines.map(PlainText.row).joined(separator: "\n")
  }

  /// The price of an item, if it fell and is now the lowest of the last 30 days; otherwise nil.
  private static func lowest(
    of id: String,
    before: [ShownItem],
    now: [ShownItem]
  ) -> Price? {
    guard let old = before.first(where: { $0.id == id })?.price,
      let item = now.first(where: { $0.id == id }), let price = item.price,
      price.currency == old.currency, price.minorUnits < old.minorUnits,
      price == item.lowest30Days?.price
    else { return nil }
    return price
  }

  /// Crops and stamps the first three pictures in the cache.
  ///
  /// The results go into the cache's folder `demo`.
  private func pictures(_ reader: CatalogReader) throws {
    let held = try reader.list().compactMap { $0.thumbnail?.path }.prefix(3)
    let inputs = held.map { "\(cache)/\($0)" }
    guard !inputs.isEmpty else { return }
    let (squares, stamped) = ("\(cache)/demo/squares", "\(cache)/demo/stamped")
    let words = ["--quiet", "--force"] + inputs
    let crop = try CropCommand.parse(["--out", squares, "--size", "256"] + words)
    let status = try crop.make()
    guard status == .done else { throw CommandFailure(nil, status) }
    tell("cropped    \(Quantities.count(inputs.count, "picture")) to 256 × 256 in \(squares)")
    let stamp = try StampCommand.parse(["--out", stamped, "--time", "now"] + words)
    // Stamping needs Pango and fonts; without them the demo continues.
    let isStamped = (try? stamp.make()) == .done
    tell(
      isStamped
        ? "stamped    \(Quantities.count(inputs.count, "picture")) in \(stamped)"
        : "stamped    nothing: larder stamp needs Pango and a font"
    )
  }

  /// Writes the report beside the pictures.
  private func page(_ reader: CatalogReader) throws {
    let began = MonotonicTime.now()
    let file = ReportFile("\(cache)/report.html")
    try file.demandRoom(force: false)
    guard let made = try ReportRun(of: reader, nil).make(folder: file.folder) else { return }
    try file.write(made)
    tell(ReportDocument(made, file, since: began).text)
  }

  private func step(_ words: String) {
    tell("\n\(Terminal(output).paint(words, .bold))")
  }

  /// Prints text on stdout; with `--json`, on stderr.
  func tell(_ text: String) {
    if output.json { Output.note(text) } else { Output.data(text) }
  }

  private func sync(_ file: CatalogFileOnDisk, _ store: SampleStore) throws -> SyncReport {
    var options = SyncOptions()
    options.base = "http://\(Self.host)/develop/baminchan/"
    var transportOptions = TransportOptions()
    transportOptions.connectTo = ["\(Self.host):80:127.0.0.1:\(store.port)"]
    transportOptions.userAgent = "larder/\(LarderCommand.version)"
    transportOptions.namedHosts = [HostPort(host: Self.host, port: 80)]
    let transport = try CurlTransport(transportOptions)
    defer { transport.shutdown() }
    let run = SyncRun(
      file.catalog,
      folder: file.folder,
      cache: cache,
      options: options,
      transport: transport,
      now: { UnixTime.now() }
    )
    let signals = Signals { run.stop() }
    let report = try ProgressDisplay.during(run.progress, of: transport, output) {
      try run.run(holder: "larder demo, process \(getpid())")
    }
    let summary = SyncSummary(report, Terminal(output))
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
  private func change(_ content: SampleContent) {
    let path = "/develop/baminchan/main.json"
    guard let data = FileManager.default.contents(atPath: "\(folder)/store\(path)"),
      var items = try? JSONSerialization.jsonObject(with: data) as? [[String: Any]],
      items.count > 1
    else { return }
    items[0]["s_price"] = "5,900원"
    items.removeLast()
    guard let changed = try? JSONSerialization.data(withJSONObject: items) else { return }
    content[path] = Resource([UInt8](changed), type: "application/json")
  }
}

extension Demonstration {
  /// Orders the first item that is not sold out, sends the order to the store's webhook, and lists the order.
  ///
  /// The order is not real, so it is kept in a temporary file. The file is removed afterwards.
  func order(_ reader: CatalogReader, from store: SampleStore) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "larder-demo-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    guard let item = try reader.list().first(where: { !$0.item.isSoldOut })?.item else { return }
    let clock = SystemSenderClock()
    let language = try OutboxOptions.parse([]).language
    let draft = OrderRequest(
      by: "Jiyeon",
      items: [OrderRequest.Item(item.id, quantity: 2)],
      locale: language.rawValue
    )
    let order = try OrderFromCatalog(draft, reader, at: clock.now()).order
    let outbox = try Outbox(folder.appending(path: "orders.sqlite").path)
    try outbox.place(order)
    tell("placed     \(order.line)")

    let webhook = try Orders.Webhook(
      store.baseURL + "/orders",
      payload: .slack,
      parser: CurlURLParser()
    )
    // The embedded store is on this machine, so LARDER_PROXY is ignored.
    let options = try WebhookOptions.parse(["--proxy", "none"])
    let (report, signal) = try OrderSending(outbox, webhook, options).run()
    tell("received   \(Self.text(of: store.orders.last?.body ?? []))")
    for warning in SendSummary(report, host: webhook.host).warnings {
      Log(output).warning(warning)
    }
    if signal != nil { throw CommandFailure(nil, ExitStatus(report, signal: signal)) }
    let terminal = Terminal(output)
    let table = OrderTable(
      orders: try outbox.orders(),
      language: language,
      now: clock.now(),
      terminal: terminal
    )
    tell("listed     \(table.text)")
    guard report.delivered == [order.id] || faults != nil else {
      throw CommandFailure("the demo failed", .failed)
    }
  }
}

extension Demonstration {
  /// The readable part of a posted order: the text of Slack's payload.
  static func text(of body: [UInt8]) -> String {
    let payload = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
    return PlainText.line(payload?["text"] as? String ?? "nothing")
  }
}

extension DemoCommand {
  /// Serves the sample store until SIGINT or SIGTERM.
  private func serveSamples(in folder: String) throws {
    let content = try SampleContent(folder: "\(folder)/store")
    if anyPicture { content.fallback = try Self.pictures(folder) }
    var identity: TLSIdentity?
    if let certificate, let key {
      identity = try TLSIdentity(certificateFile: certificate, keyFile: key)
    }
    let store = try SampleStore.start(
      content,
      faults: try FaultFile.read(faults),
      tls: identity,
      port: port,
      orders: OrderIntake(file: journal)
    )
    defer { store.stop() }
    let ended = DispatchSemaphore(value: 0)
    let signals = Signals { ended.signal() }
    let url = "\(store.baseURL)/develop/baminchan/"
    try output.show(json: ["url": url].jsonLine(), text: url, always: true)
    ended.wait()
    withExtendedLifetime(signals) {}
  }

  /// Makes a picture for each path that ends with the extension of a picture format, such as `.jpg` or `.png`.
  ///
  /// Two paths get two different pictures.
  private static func pictures(_ folder: String) throws -> SampleContent.Fallback {
    func base(_ name: String) throws -> Picture {
      let bytes = try FileReading.bytes("\(folder)/\(name)", what: "picture", limit: 1 << 20)
      return try Picture(bytes)
    }
    let jpeg = try base("store/pictures/shared/parcel.jpg")
    let png = try base("store/pictures/soup/tteokguk.png")
    return { path in
      let name = path.lowercased()
      if name.hasSuffix(".png") { return png.resource(path) }
      let suffixes = [".jpg", ".jpeg", ".webp", ".gif", ".avif"]
      return suffixes.contains { name.hasSuffix($0) } ? jpeg.resource(path) : nil
    }
  }
}

/// Reads the value of `--faults`.
enum FaultFile {
  /// The fault script in the file; an empty script if `path` is nil.
  static func read(_ path: String?) throws -> FaultScript {
    guard let path else { return .none }
    let bytes = try FileReading.bytes(path, what: "fault script", limit: 1 << 20)
    return try FaultScript(text: String(decoding: bytes, as: UTF8.self))
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
    if let named = named ?? OutboxOptions.variable("LARDER_SAMPLES") {
      guard holdsStore(named) else {
        throw CommandFailure(
          "cannot find the sample store in \(named): there is no catalog.yaml; "
            + "give its folder with --samples",
          .usage
        )
      }
      return named
    }
    let program = program()
    let folders = folders(above: program)
    // The files of PREFIX/bin/larder are in PREFIX/share/larder.
    let installed = (folders.dropFirst().first ?? "") + "/share/larder/samples"
    // A development build is in .build of its source tree.
    if let found = ([installed] + folders.map { $0 + "/samples" }).first(where: holdsStore) {
      return found
    }
    throw CommandFailure(
      "cannot find the sample store: there is no \(installed), and no folder samples above "
        + "\(program); give its folder with --samples",
      .usage
    )
  }

  /// The folders that contain a path, the innermost first.
  ///
  /// The root folder is the empty string.
  private static func folders(above path: String) -> [String] {
    var parts = path.split(separator: "/")[...]
    var folders: [String] = []
    while parts.popLast() != nil {
      folders.append(parts.map { "/" + $0 }.joined())
    }
    return folders
  }

  private static func holdsStore(_ path: String) -> Bool {
    access(path + "/catalog.yaml", R_OK) == 0 && access(path + "/store", X_OK) == 0
  }

  /// This program's path, with symbolic links resolved.
  static func program() -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    return String(
      decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) },
      as: UTF8.self
    )
  }
}
