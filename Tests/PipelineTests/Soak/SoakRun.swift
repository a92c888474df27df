import Base
import Cache
import Catalog
import CurlTransport
import Pipeline
import Support
import Synchronization

/// One run of a soak: what was asked of larder, and what the origin saw of it.
struct SoakRun: Sendable {
  /// How a run is brought to an early end.
  enum Cut: Sendable, Hashable {
    /// As by a signal, when so many requests have come.
    case stop(after: Int)
    /// The disk is gone from one operation on.
    case crash(at: Int)
    /// One operation of the disk fails.
    case diskError(at: Int)

    /// Whether it gave larder no time to put things in order.
    var isCrash: Bool {
      if case .stop = self { false } else { true }
    }
  }

  let catalog: SoakShop.Catalog
  let isWarm: Bool
  let allowsRemovals: Bool
  /// The clock of the machine that larder runs on.
  let now: Int64
  let cut: Cut?
  var exchanges: [String: [SoakOrigin.Exchange]] = [:]
  var report: SyncReport?
  /// What `--dry-run` says before the run.
  var plan: SyncPlan?

  /// Whether it may have ended before all was done.
  var wasCut: Bool { cut != nil }

  /// The requested data the pages of a section and how that was answered, for whoever has to find out what
  /// went wrong.
  func pages(of section: String) -> [String] {
    exchanges.keys.sorted().filter { $0.contains("/\(section)") || $0.hasSuffix("/all") }.map {
      url in
      let words = (exchanges[url] ?? []).map { exchange in
        let proof = exchange.request.ifNoneMatch ?? exchange.request.ifModifiedSince ?? "-"
        return "\(proof): \(exchange.answer.status) \(exchange.answer.worth.words)"
      }
      return "\(url): \(words)"
    }
  }

  /// Lets larder sync the catalog from the shop into the cache of a folder.
  mutating func perform(_ shop: SoakShop, in folder: TemporaryFolder) throws {
    let started = Mutex<SyncRun?>(nil)
    var interruption: (after: Int, call: @Sendable () -> Void)?
    if case .stop(let count) = cut { interruption = (count, { started.withLock { $0 }?.stop() }) }
    let origin = SoakOrigin(shop, interruption: interruption)
    defer { origin.close() }
    let transport = try CurlTransport(origin.transportOptions)
    defer { transport.shutdown() }
    let fault: FaultyDisk.Fault =
      switch cut {
      case .crash(let operation): .crash(at: operation)
      case .diskError(let operation): .fail(at: operation, errno: 28)
      case .stop, nil: .none
      }
    var options = SyncOptions()
    options.onlyDue = isWarm
    options.allowRemovals = allowsRemovals
    let moment = UnixTime(now)
    plan = try SyncPlan(
      try file(),
      folder: folder.path,
      cache: folder.path("cache"),
      options: options,
      transport: transport,
      now: moment
    )
    let run = SyncRun(
      try file(),
      folder: folder.path,
      cache: folder.path("cache"),
      options: options,
      transport: transport,
      disk: FaultyDisk(fault),
      now: { moment }
    )
    started.withLock { $0 = run }
    defer { exchanges = origin.exchanges }
    do {
      report = try run.run(holder: "a test")
    } catch {
      // A disk that fails ends the run.
      guard let cause = error as? LarderError, wasCut,
        cause.code == .disk || cause.code == .diskFull
      else { throw error }
    }
  }

  /// The catalog file.
  private func file() throws -> CatalogFile {
    let sections =
      switch catalog.shape {
      case .combined: "{url: all, each: \"$.sections[*]\", key: $.key}"
      case .listed, .paged:
        "[" + catalog.sections.map { "{key: \($0.key), url: \($0.key)}" }.joined(separator: ", ")
          + "]"
      }
    var text = """
      name: \(catalog.name)
      currency: KRW
      base: http://shop.test/\(catalog.name)/
      sections: \(sections)
      items: $.items[*]
      item: {id: $.id, title: $.title, salePrice: $.price, images: {thumbnail: $.image}}

      """
    if catalog.hasDetails {
      text += """
        detail: {url: "detail/{id}", id: $.id, description: $.text, images: {gallery: "$.images[*]"}}

        """
    }
    if case .paged = catalog.shape { text += "paging: {parameter: page}\n" }
    return try CatalogFile(parsing: Array(text.utf8), file: "soak.yaml")
  }
}
