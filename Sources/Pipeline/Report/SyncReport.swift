import Base
import Cache
import Catalog
import FoundationEssentials
import Transport

/// The report of a sync: its counts, the changes that it found, and everything that could not be fetched.
///
/// A section of the report is a list of items, such as all soups. A detail is the document about one item, with more
/// data than the item has in a section.
///
/// The JSON document of `larder sync --json` has the same members. A decoder reads it:
///
///     let report = try JSONDecoder().decode(SyncReport.self, from: document)
///     for failure in report.failures { print(failure.url, failure.reason) }
public struct SyncReport: Sendable, Hashable, Decodable {
  /// The outcome of a whole run.
  public enum Outcome: String, Sendable, Codable {
    /// Everything is in the cache and current.
    case complete
    /// Some sections, details or pictures failed or are unfinished.
    case partial
    /// A guard kept data that the shop no longer has, for example items or whole sections. A guard is a check that
    /// rejects a change if it looks like a fault of the shop.
    case withheld
    /// Nothing useful was done.
    case failed
    /// The run was ended by a signal, or because its task was cancelled.
    case interrupted
  }

  /// The place that a section's items come from.
  public enum Source: String, Sendable, Codable {
    /// A response with new bytes.
    case network
    /// The cache. The server confirmed that the cached version is current, or sent the same bytes again.
    case unchanged
    /// The last good run, because the section could not be fetched or read. This is not a failure if the shop's
    /// response allows it with `stale-if-error`.
    case stale
    /// The last good run, because the new items look like a fault of the shop.
    case withheld
    /// None. The section could not be fetched, and the cache has no items of it.
    case failed
  }

  /// A remedy for a problem: an option of the next sync.
  public enum Remedy: String, Sendable, Codable {
    /// Accept the removals, if the shop intended them. The option is `allowsRemovals`.
    case acceptRemovals = "accept-removals"
    /// Accept more unreadable items in a section. The option is `maxSkipped`.
    case acceptSkipped = "accept-skipped"
    /// Allow private addresses for hosts that appear only in fetched data. The option is `allowsPrivateAddresses`.
    case allowPrivateAddresses = "allow-private-addresses"
  }

  /// One section.
  public struct Section: Sendable, Hashable, Codable {
    /// The section's key.
    public package(set) var key: String
    /// The section's title.
    public package(set) var title: String
    /// The number of items that the section shows.
    public package(set) var items = 0
    /// The number of items that could not be read.
    ///
    /// An item does not count if only one of its fields could not be read.
    public package(set) var skipped = 0
    /// The number of items that were left out because an earlier page of the section lists them too.
    public package(set) var repeats = 0
    /// The place that the items come from.
    public package(set) var source: Source
    /// The reason why the section failed, or does not show the items that the shop lists now; nil if all is well.
    public package(set) var error: String?
    /// An option of the next sync that would help; nil if none would.
    public package(set) var remedy: Remedy?
    /// The number of items that the shop no longer lists, but a guard kept, because their removal looks like a fault.
    public package(set) var withheld = 0
    /// The names of the fields that made a guard reject the new items, for example `item.salePrice`.
    ///
    /// All new items have lost these fields, or have the same value in them.
    public package(set) var kept: [String] = []
    /// The ids of items that the shop lists but that cannot be read.
    ///
    /// Their last good versions are shown.
    public package(set) var unread: [String] = []
    /// A warning, for example that the section seems to have further pages that are not read; nil if there is no
    /// warning.
    public package(set) var warning: String?
    /// The numbers of unreadable items and fields that are not listed in ``SyncReport/skipped``, by reason.
    public package(set) var skippedReasons: [String: Int] = [:]
  }

  /// A changed field of an item.
  public struct Change: Sendable, Hashable, Decodable {
    /// The item's id.
    public package(set) var id: String
    /// The name of the field: `section`, `title`, `description`, `badges`, `deliveryTypes`, `normalPrice`, `salePrice`,
    /// `thumbnail` or `images`.
    public package(set) var field: String
    /// The value before, for example `7000`; nil if there was none.
    ///
    /// Prices are in minor units, such as cents.
    public package(set) var from: String?
    /// The value now, in the same form; nil if there is no value now.
    public package(set) var to: String?
  }

  /// The items of all sections.
  ///
  /// An item in two sections counts twice.
  public struct Items: Sendable, Hashable, Decodable {
    /// The number of items.
    public package(set) var total = 0
    /// The ids of new items.
    public package(set) var added: [String] = []
    /// The ids of removed items.
    public package(set) var removed: [String] = []
    /// The ids of items that the shop no longer lists, but a guard kept, because their removal looks like a fault.
    public package(set) var withheld: [String] = []
    /// The changed fields of items that are neither new nor removed.
    public package(set) var changed: [Change] = []
  }

  /// The details.
  ///
  /// An item in two sections counts once.
  public struct Details: Sendable, Hashable, Codable {
    /// The number of items that can have a detail.
    public package(set) var total = 0
    /// The number of details that were fetched.
    public package(set) var fetched = 0
    /// The number of details that are now shown with other values than before the run, or no longer shown.
    public package(set) var changed = 0
    /// The number of details that the shop confirmed, or sent again with the same bytes.
    public package(set) var unchanged = 0
    /// The number of items without a detail at the shop.
    public package(set) var missing = 0
    /// The number of items whose detail is no longer at the shop.
    ///
    /// The earlier version of the detail is still shown.
    public package(set) var stale = 0
    /// The number of details that could not be fetched or read.
    public package(set) var failed = 0
    /// The ids of items whose details are suddenly missing.
    ///
    /// The cached versions are kept, because the loss of many details at once looks like a fault.
    public package(set) var withheld: [String] = []
    /// The names of the fields that all details have lost.
    ///
    /// The details that lost a field stay as they were.
    public package(set) var kept: [String] = []
    /// The reason why details that lost fields stay as they were; nil if none do.
    public package(set) var error: String?
    /// An option of the next sync that would help; nil if none would.
    public package(set) var remedy: Remedy?
  }

  /// The pictures.
  ///
  /// A picture that several items show counts once, except in `referenced`.
  public struct Pictures: Sendable, Hashable, Codable {
    /// The number of times that items and details refer to a picture.
    public package(set) var referenced = 0
    /// The number of different pictures.
    public package(set) var total = 0
    /// The number of pictures that were fetched.
    public package(set) var fetched = 0
    /// The number of cached pictures that the server confirmed as current.
    public package(set) var revalidated = 0
    /// The number of pictures that needed no request, because their cached versions are fresh.
    public package(set) var fresh = 0
    /// The number of pictures that could not be fetched or read.
    public package(set) var failed = 0
    /// The number of pictures whose bytes in the cache were replaced by different ones.
    public package(set) var changed = 0
    /// The number of bytes of the fetched pictures.
    public package(set) var bytesFetched: Int64 = 0
    /// The number of bytes of all cached pictures of the catalog.
    public package(set) var bytesHeld: Int64 = 0

    /// Starts with all counts at 0.
    package init() {}

    private enum CodingKeys: String, CodingKey {
      case referenced, fetched, revalidated, fresh, failed, changed, bytesFetched, bytesHeld
      case total = "unique"
    }
  }

  /// The stage at which something failed or was left unfinished.
  public enum Stage: String, Sendable, Codable, CodingKeyRepresentable, CaseIterable {
    /// A section's page.
    case section
    /// An item's detail.
    case detail
    /// A picture.
    case picture = "image"
  }

  /// The number of failures of each stage that are listed.
  ///
  /// Further failures are only counted.
  package static let mostFailures = 1000
  /// Numbers of failures, by stage and reason.
  public typealias FailureCounts = [Stage: [String: Int]]

  /// A document or picture that could not be fetched.
  ///
  /// If the cache has an earlier version of it, that version is kept.
  public struct Failure: Sendable, Hashable, Codable {
    /// The stage.
    public package(set) var stage: Stage
    /// The section's key or the item's id; nil if it is not known.
    public package(set) var id: String?
    /// The URL, without secrets.
    public package(set) var url: String
    /// The stable reason code, such as `http-404` or `timeout-connect`.
    public package(set) var reason: String
    /// The number of attempts.
    public package(set) var attempts: Int
    /// An explanation; nil if the reason code says everything.
    public package(set) var detail: String?
    /// An option of the next sync that would help; nil if none would.
    public package(set) var remedy: Remedy?
    /// Whether the previous run had the same failure, and the failure is likely to last, such as a 404.
    ///
    /// Known failures alone do not make a run partial.
    public package(set) var isKnown = false

    private enum CodingKeys: String, CodingKey {
      case stage, id, url, reason, attempts, detail, remedy
      case isKnown = "known"
    }
  }

  /// An item, or a field of one, that could not be read.
  public struct Skipped: Sendable, Hashable, Codable {
    /// The key of the section.
    ///
    /// For a field of a detail, it is the first section that lists the item.
    public package(set) var section: String
    /// The item's position in the section, from 0; nil if the field is one of a detail.
    public package(set) var index: Int?
    /// The name of the unreadable field; nil if the whole item is unreadable.
    public package(set) var field: String?
    /// The item's id; nil if it cannot be read.
    public package(set) var id: String?
    /// Whether the whole item was left out, or only this field.
    package var lost: SkippedItem.Loss
    /// The reason, as text for people.
    public package(set) var reason: String
  }

  /// The square versions of pictures, which a run makes if its options request them.
  public struct Squares: Sendable, Hashable, Codable {
    /// The length of a square's side in pixels.
    public package(set) var side: Int
    /// The number of squares that were made.
    public package(set) var made = 0
    /// The number of squares that were made by an earlier run and are still current.
    public package(set) var fresh = 0
    /// The number of squares that were removed because their pictures were removed or changed.
    public package(set) var removed = 0
    /// The number of pictures that cannot be made into squares.
    public package(set) var unfit = 0
    /// The number of pictures whose squares were not finished before the run ended.
    public package(set) var unfinished = 0
    /// The pictures that could not be made into squares.
    ///
    /// Pictures that an earlier run listed are left out.
    public package(set) var failures: [SquareFailure] = []

    private enum CodingKeys: String, CodingKey {
      case made, fresh, removed, unfit, unfinished, failures
      case side = "size"
    }
  }

  /// A picture that cannot be made into a square.
  public struct SquareFailure: Sendable, Hashable, Codable {
    /// The picture's path in the cache.
    public package(set) var path: String
    /// The reason.
    public package(set) var reason: String
  }

  /// A request that was not completed because of the deadline or a signal.
  public struct Unfinished: Sendable, Hashable, Codable {
    /// The stage.
    public package(set) var stage: Stage
    /// The URL, without secrets.
    public package(set) var url: String
  }

  /// The catalog's name.
  public package(set) var catalog: String
  /// The run's number; nil if nothing was synced, so that the run was not recorded.
  public package(set) var run: RunID?
  /// The outcome.
  public package(set) var outcome: Outcome = .complete
  /// The sections in the catalog's order.
  public package(set) var sections: [Section] = []
  /// The items.
  public package(set) var items = Items()
  /// The details.
  public package(set) var details = Details()
  /// The pictures.
  public package(set) var pictures = Pictures()
  /// The squares; nil if the options request none.
  public package(set) var squares: Squares?
  /// The failures.
  ///
  /// Each stage has at most a thousand, the first ones in the order of their URLs.
  public package(set) var failures: [Failure] = []
  /// The numbers of further failures, by stage and reason.
  public package(set) var failuresOmitted: FailureCounts = [:]
  /// The unreadable items and fields.
  ///
  /// Each section has at most a thousand.
  public package(set) var skipped: [Skipped] = []
  /// The requests that were not completed before the run ended.
  ///
  /// Each stage has at most a thousand.
  public package(set) var unfinished: [Unfinished] = []
  /// The numbers of further unfinished requests, by stage.
  public package(set) var unfinishedOmitted: [Stage: Int] = [:]
  /// The limit that left requests unfinished, such as `bytes-limit`; nil if none did, and in the report of an earlier run.
  package var limit: FailureReason?
  /// The number of requests, retries included.
  public package(set) var requests = 0
  /// The duration of the run in seconds.
  package var durationSeconds = 0.0
  /// The duration of the run.
  public var duration: Duration { .seconds(durationSeconds) }

  private enum CodingKeys: String, CodingKey {
    case catalog, run, outcome, sections, items, details, squares, failures, failuresOmitted
    case skipped, unfinished, unfinishedOmitted, requests, durationSeconds
    case pictures = "images"
  }
}

// Every key of the JSON form is present. The synthesized `encode(to:)` calls these functions for optional values.
extension KeyedEncodingContainer {
  /// Writes a text, or null.
  fileprivate mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    try encode(value, forKey: key)
  }

  /// Writes a remedy, or null.
  fileprivate mutating func encodeIfPresent(
    _ value: SyncReport.Remedy?,
    forKey key: Key
  ) throws { try encode(value, forKey: key) }

  /// Writes a number, or null.
  fileprivate mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    try encode(value, forKey: key)
  }
}

extension SyncReport {
  /// The numbers of failures, listed or not, by stage and reason.
  package var failureCounts: FailureCounts {
    failures.reduce(into: failuresOmitted) {
      $0[$1.stage, default: [:]][$1.reason, default: 0] += 1
    }
  }

  /// The numbers of known failures, or of new ones, by stage and reason.
  ///
  /// A failure is known if the previous run had it too.
  ///
  /// A failure that is not listed counts as known if all listed failures of the same stage and reason are known.
  package func failureCounts(known: Bool) -> FailureCounts {
    var counts: FailureCounts = [:]
    for failure in failures where failure.isKnown == known {
      counts[failure.stage, default: [:]][failure.reason, default: 0] += 1
    }
    for (stage, omitted) in failuresOmitted {
      for (reason, count) in omitted {
        let listed = failures.filter { $0.stage == stage && $0.reason == reason }
        let isKnown = !listed.isEmpty && listed.allSatisfy(\.isKnown)
        if isKnown == known { counts[stage, default: [:]][reason, default: 0] += count }
      }
    }
    return counts
  }

  /// The number of failures, listed or not.
  package var failureCount: Int {
    failures.count + failuresOmitted.values.reduce(0) { $0 + $1.values.reduce(0, +) }
  }

  /// The numbers of unfinished requests, listed or not, by stage.
  package var unfinishedCounts: [Stage: Int] {
    unfinished.reduce(into: unfinishedOmitted) { $0[$1.stage, default: 0] += 1 }
  }

  /// The number of unfinished requests, listed or not.
  package var unfinishedCount: Int { unfinishedCounts.values.reduce(0, +) }

  /// The number of unreadable items and fields that are not listed.
  package var skippedOmitted: Int {
    sections.reduce(0) { $0 + $1.skippedReasons.values.reduce(0, +) }
  }
}

// In the JSON form, every key is present, and a missing value is null. Keys are sorted, so that equal reports have
// equal bytes.

extension SyncReport {
  /// The JSON document that `larder sync --json` prints, in UTF-8.
  ///
  /// Every access encodes it again.
  ///
  /// `JSONEncoder` does not encode the items, because after a first sync of a million items it would take 0.75 s of
  /// processor time and 54 MiB of memory just for their ids.
  public var json: [UInt8] {
    // Encoding cannot fail, because only NaN and infinity cannot be encoded.
    var items = StoredFormWriter()
    items.value(self.items)
    // The items can take 100 MB, so they are copied once only.
    var json = Array("{".utf8)
    json.reserveCapacity(items.bytes.count + 4096)
    func member(_ name: String, _ value: some Encodable) {
      json += "\(json.count == 1 ? "" : ",")\"\(name)\":".utf8
      json += (try? value.jsonLine()) ?? Array("null".utf8)
    }
    member("catalog", catalog)
    member("details", details)
    member("durationSeconds", (durationSeconds * 1000).rounded() / 1000)
    member("failures", failures)
    let omitted = Stage.allCases.map { ($0.rawValue, failuresOmitted[$0] ?? [:]) }
    member("failuresOmitted", Dictionary(omitted) { first, _ in first })
    member("images", pictures)
    json += ",\"items\":".utf8
    json += items.bytes
    member("outcome", outcome)
    member("requests", requests)
    member("run", run)
    member("sections", sections)
    member("skipped", skipped)
    member("squares", squares)
    member("unfinished", unfinished)
    member("unfinishedOmitted", unfinishedOmitted)
    json += "}".utf8
    return json
  }

  /// Parses the output of ``json``.
  package init(json: [UInt8]) throws {
    self = try JSONDecoder().decode(SyncReport.self, from: Data(json))
    // The document has a key for every stage, but the value has only the stages with counts.
    failuresOmitted = failuresOmitted.filter { !$0.value.isEmpty }
  }
}

extension StoredFormWriter {
  fileprivate mutating func value(_ items: SyncReport.Items) {
    object {
      $0.member("added", items.added)
      $0.name("changed")
      $0.array { for change in items.changed { $0.value(change) } }
      $0.member("removed", items.removed)
      $0.member("total", items.total)
      $0.member("withheld", items.withheld)
    }
  }

  private mutating func value(_ change: SyncReport.Change) {
    object {
      $0.member("field", change.field)
      $0.member("from", change.from)
      $0.member("id", change.id)
      $0.member("to", change.to)
    }
  }
}
