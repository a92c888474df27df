import Base
import Cache
import Catalog
import CurlTransport
import Pipeline
import Support
import Synchronization

/// One run of a soak test: its options, and the requests that the origin received.
struct SoakRun: Sendable {
  /// The ways in which a run is interrupted.
  enum Cut: Sendable, Hashable {
    /// A stop, as by a signal, after this many requests.
    case stop(after: Int)
    /// All disk operations fail, beginning with this one.
    case crash(at: Int)
    /// One disk operation fails.
    case diskError(at: Int)

    /// Whether larder had no chance to clean up.
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
  /// The plan of `--dry-run` before the run.
  var plan: SyncPlan?

  /// Whether the run may have ended early.
  var wasCut: Bool { cut != nil }

  /// The requests for a section's pages and their answers, for messages.
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

  /// Syncs the catalog from the shop into the cache of a folder.
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
    let run = SyncRun(
      try file(),
      folder: folder.path,
      cache: folder.path("cache"),
      options: options,
      transport: transport,
      disk: FaultyDisk(fault),
      now: { moment }
    )
    plan = try SyncPlan(run)
    started.withLock { $0 = run }
    defer { exchanges = origin.exchanges }
    do {
      report = try run.run(holder: "a test")
    } catch {
      // A disk error ends the run.
      guard let cause = error as? LarderError, wasCut,
        cause.code == .disk || cause.code == .diskFull
      else { throw error }
    }
  }

  /// The catalog file.
  private func file() throws -> CatalogFile {
    // Without a base, relative URLs in a response are relative to its final URL.
    let base = "http://shop.test/\(catalog.name)/"
    let sections =
      switch catalog.shape {
      case .combined: "{url: \"\(base)all\", each: \"$.sections[*]\", key: $.key}"
      case .listed, .paged:
        "["
          + catalog.sections.map { "{key: \($0.key), url: \"\(base)\($0.key)\"}" }
          .joined(separator: ", ") + "]"
      }
    var text = """
      name: \(catalog.name)
      currency: KRW
      sections: \(sections)
      items: $.items[*]
      item: {id: $.id, title: $.title, salePrice: $.price, images: {thumbnail: $.image}}

      """
    if catalog.hasDetails {
      text += """
        detail: {url: "\(base)detail/{id}", id: $.id, description: $.text, images: {gallery: "$.images[*]"}}

        """
    }
    if case .paged = catalog.shape { text += "paging: {parameter: page}\n" }
    return try CatalogFile(parsing: Array(text.utf8), file: "soak.yaml")
  }
}
