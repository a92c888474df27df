import Catalog
import CurlTransport
import Foundation
import Glibc
import Pipeline
import SampleStore
import Transport

/// The main job on the embedded sample store, step by step, with a word on each.
///
/// The store listens on a port that is free, but its URLs name a host of their own and reach it by
/// `connectTo`: so a second demo finds the pictures of the first in the cache.
struct Demonstration {
  let folder: String
  let faults: String?
  let cache: String
  let output: OutputOptions

  private static let host = "larder-sample-store.test"

  /// What goes wrong in the store unless a file says otherwise: one slow section, one picture that
  /// needs a second try.
  private static let hiccups = """
    path=*/soup delay=0.3
    path=/pictures/* hits=5 status=503 retry-after=0
    """

  func run() throws {
    let script =
      try faults.map { try FaultFile.read($0) } ?? FaultScript(text: Self.hiccups)
    let content = try StoreContent(folder: "\(folder)/store")
    let store = try SampleStore.start(content, faults: script)
    defer { store.stop() }
    let file = try CatalogFileOnDisk("\(folder)/catalog.yaml")

    step("1. Sync: three sections, their details, and every picture, from \(store.baseURL)")
    var syncs = [try sync(file, store)]

    step("2. Sync again: nothing changed, so nothing is fetched")
    syncs.append(try sync(file, store))

    step("3. The shop changes: one price falls, one item goes. Sync and see what is different")
    change(content)
    syncs.append(try sync(file, store))
    let reader = try CatalogReader(cache: cache, catalog: file.catalog.name)
    let (old, new, diff) = try reader.diff(from: nil, to: nil)
    tell(DiffDocument(old: old, new: new, diff).text(Terminal(output)))

    step("4. Order, and bring the order to the store's webhook")
    try order(reader, from: store)

    step("5. The first section, from the cache alone")
    store.stop()
    let sections = try reader.sections()
    let items = try reader.list(section: sections.first?.key)
    var table = ItemTable(sections: sections, Terminal(output))
    tell(table.lines(of: items))

    step("6. Check every byte of every picture")
    let report = try CacheCheck(cache, holder: nil).run(.full)
    tell(VerifyDocument(report).text(repaired: false))
    guard report.isClean else { throw CommandFailure(nil, .io) }

    step("7. The catalog, what changed and how runs went, as a page")
    try page(reader)

    if output.json {
      // Documents that larder wrote: put together as they are.
      let runs = syncs.map { String(decoding: $0.json(), as: UTF8.self) }.joined(separator: ",")
      let check = String(decoding: try VerifyDocument(report).json(), as: UTF8.self)
      Output.json(Array("{\"syncs\":[\(runs)],\"verify\":\(check)}".utf8))
    }
    tell(
      """

      The pictures are in \(cache)/images. Open \(cache)/report.html, or look further with
        larder list --cache \(cache)
        larder show \(items.first?.item.id ?? "ID") --cache \(cache)
        larder status --cache \(cache)
      """
    )
  }

  /// Writes the report beside the pictures.
  private func page(_ reader: CatalogReader) throws {
    let began = MonotonicTime.now()
    let file = ReportFile("\(cache)/report.html")
    try file.demandRoom(force: false)
    let report = PageSettings(nil).report(of: reader)
    guard let made = try report.make(folder: file.folder) else { return }
    try file.write(made)
    tell(ReportDocument(made, file, since: began).text)
  }

  private func step(_ words: String) {
    tell("\n\(Terminal(output).paint(words, .bold))")
  }

  /// Says something for people: on stdout, unless that is for a document.
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
    let signals = Signals { _ in run.stop() }
    let terminal = Terminal(output)
    let display = terminal.showsProgress ? ProgressDisplay(run.progress, of: transport) : nil
    let result = Result { try run.run(holder: "larder demo, process \(getpid())") }
    display?.end()
    let report = try result.get()
    let summary = SyncSummary(report, terminal)
    tell(summary.text)
    for warning in summary.warnings(all: false) { Log(output).warning(warning) }
    if report.outcome == .interrupted {
      throw CommandFailure(nil, ExitStatus(report, signal: signals.signal))
    }
    guard report.outcome == .complete || faults != nil else {
      throw CommandFailure("the demo did not go as it should", .failed)
    }
    return report
  }

  /// Lowers the first price of the first section and takes its last item away.
  private func change(_ content: StoreContent) {
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
