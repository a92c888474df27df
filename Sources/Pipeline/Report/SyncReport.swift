import Base
import Cache
import Catalog
import FoundationEssentials

/// A sync's counts, its changes, and everything that could not be fetched.
///
/// The JSON document of `larder sync --json` has the same members; a decoder reads it:
///
///     let report = try JSONDecoder().decode(SyncReport.self, from: document)
///     for failure in report.failures { print(failure.url, failure.reason) }
public struct SyncReport: Sendable, Hashable, Decodable {
  /// How a run as a whole ended.
  public enum Outcome: String, Sendable, Decodable {
    /// Everything is here and current.
    case complete
    /// Some sections, details or pictures failed or are unfinished.
    case partial
    /// The guards kept lost data: items, fields of items, details or whole sections.
    case withheld
    /// Nothing useful was done.
    case failed
    /// A signal ended it, or its task was cancelled.
    case interrupted
  }

  /// Where a section's items came from.
  public enum Source: String, Sendable, Decodable {
    /// A new body.
    case network
    /// The origin, or the body itself, said that nothing changed.
    case unchanged
    /// The last good one, because this time there was none; no failure if the origin's own
    /// `stale-if-error` lets it stand in.
    case stale
    /// The last good one, because the feed's looks like a fault.
    case withheld
    /// Nowhere: there never was a good one.
    case failed
  }

  /// A remedy besides correcting the catalog file: an option of the next sync.
  public enum Remedy: String, Sendable, Codable {
    /// Accept the removals, if the shop means them: `allowsRemovals`.
    case acceptRemovals = "accept-removals"
    /// Let more of a listing be unreadable: `maxSkipped`.
    case acceptSkipped = "accept-skipped"
    /// Let hosts that only fetched data names have private addresses: `allowsPrivateAddresses`.
    case allowPrivateAddresses = "allow-private-addresses"
  }

  /// One section.
  public struct Section: Sendable, Hashable, Decodable {
    /// Its key.
    public package(set) var key: String
    /// Its title.
    public package(set) var title: String
    /// How many listings it shows.
    public package(set) var items: Int
    /// How many of the feed's items could not be read; those that lost a field alone do not count.
    public package(set) var skipped: Int
    /// How many items were left out because an earlier page of the section listed them.
    public package(set) var repeats = 0
    /// Where they came from.
    public package(set) var source: Source
    /// Why it failed, is stale, was not taken as it came or is not all of the feed's; nil when all is well.
    public package(set) var error: String?
    /// Advice; nil when only correcting the catalog file helps, or waiting.
    public package(set) var remedy: Remedy?
    /// How many items the feed no longer lists and the shrink guard kept.
    public package(set) var withheld = 0
    /// The fields for which the listing was not taken, by their names in the catalog file: gone from all items, or
    /// with one value in all of them.
    public package(set) var kept: [String] = []
    /// The ids of items that the feed lists, that cannot be read, and that are shown as they were.
    public package(set) var unread: [String] = []
    /// A possible fault although the section is shown unchanged: the listing has pages that are not read.
    public package(set) var warning: String?
    /// The unreadable items that are counted and have no row in ``SyncReport/skipped``, by reason.
    public package(set) var skippedReasons: [String: Int] = [:]
  }

  /// One field of one item that changed.
  public struct Change: Sendable, Hashable, Decodable {
    /// The item's id.
    public package(set) var id: String
    /// The field: section, title, description, badges, deliveryTypes, normalPrice, salePrice, thumbnail or images.
    public package(set) var field: String
    /// The value before, prices in minor units; nil for nothing.
    public package(set) var from: String?
    /// The new value.
    public package(set) var to: String?
  }

  /// The items of all sections, a listing counted once.
  public struct Items: Sendable, Hashable, Decodable {
    /// How many are shown.
    public package(set) var total = 0
    /// Which are new.
    public package(set) var added: [String] = []
    /// Which are gone.
    public package(set) var removed: [String] = []
    /// Which the feed dropped and the shrink guard kept.
    public package(set) var withheld: [String] = []
    /// The changes in those that stayed.
    public package(set) var changed: [Change] = []
  }

  /// The details, an item counted once.
  public struct Details: Sendable, Hashable, Decodable {
    /// How many items were asked for.
    public package(set) var total = 0
    /// How many bodies came.
    public package(set) var fetched = 0
    /// How many are as they were.
    public package(set) var unchanged = 0
    /// How many items have none.
    public package(set) var missing = 0
    /// The number of those that show an earlier version.
    public package(set) var stale = 0
    /// The number that could not be fetched.
    public package(set) var failed = 0
    /// The items whose details went missing with many others, which looks like a fault.
    public package(set) var withheld: [String] = []
    /// The fields that all details have lost, by their names in the catalog file, and that they keep.
    public package(set) var kept: [String] = []
    /// Why fields were kept; nil when none were.
    public package(set) var error: String?
    /// Advice; nil when only correcting the catalog file helps, or waiting.
    public package(set) var remedy: Remedy?
  }

  /// The pictures, a URL counted once.
  public struct Pictures: Sendable, Hashable, Decodable {
    /// How often items refer to them.
    public package(set) var referenced = 0
    /// How many there are.
    public package(set) var total = 0
    /// How many bodies came.
    public package(set) var fetched = 0
    /// How many held bodies the origin confirmed.
    public package(set) var revalidated = 0
    /// How many were fresh, so that no request was needed.
    public package(set) var fresh = 0
    /// The number that could not be fetched.
    public package(set) var failed = 0
    /// How many have new bytes under an old URL.
    public package(set) var changed = 0
    /// Body bytes that came.
    public package(set) var bytesFetched: Int64 = 0
    /// Bytes of all the catalog's pictures that are held.
    public package(set) var bytesHeld: Int64 = 0

    private enum CodingKeys: String, CodingKey {
      case referenced, fetched, revalidated, fresh, failed, changed, bytesFetched, bytesHeld
      case total = "unique"
    }
  }

  /// Where something failed, or was left undone.
  public enum Stage: String, Sendable, Codable, CodingKeyRepresentable, CaseIterable {
    /// A section's page.
    case section
    /// An item's detail.
    case detail
    /// A picture.
    case picture = "image"
  }

  /// How many failures of a stage are listed in full.
  package static let mostFailures = 1000
  /// Failures by stage and reason.
  public typealias FailureCounts = [Stage: [String: Int]]

  /// Something that could not be fetched; its held version stays.
  public struct Failure: Sendable, Hashable, Codable {
    /// Where.
    public package(set) var stage: Stage
    /// The section's key or the item's id.
    public package(set) var id: String?
    /// The URL, without secrets.
    public package(set) var url: String
    /// Why, as a stable word such as `http-404` or `timeout-connect`.
    public package(set) var reason: String
    /// How often it was tried.
    public package(set) var attempts: Int
    /// The cause in words, when there is more to say.
    public package(set) var detail: String?
    /// Advice; nil when only correcting the catalog file helps, or waiting.
    public package(set) var remedy: Remedy?
    /// Whether the run before this one reported it too, and it is expected to last: such a failure alone does not make
    /// a run partial.
    public package(set) var isKnown = false

    private enum CodingKeys: String, CodingKey {
      case stage, id, url, reason, attempts, detail, remedy
      case isKnown = "known"
    }
  }

  /// An item, or a field of one, that could not be read.
  public struct Skipped: Sendable, Hashable, Decodable {
    /// The key of the section; of a field of a detail, the first section that lists the item.
    public package(set) var section: String
    /// The item's place in the feed, from 0; nil when the field is one of the item's detail.
    public package(set) var index: Int?
    /// The field that is wrong, or nil when the whole item is.
    public package(set) var field: String?
    /// The item's id; nil when it has none that can be read.
    public package(set) var id: String?
    /// Whether the item is lost, or the item is here without this field.
    package var lost: SkippedItem.Loss
    /// The reason code, for example `http-404`.
    public package(set) var reason: String

    /// Whether the whole item is lost, and not only the field.
    public var isItemLost: Bool { lost == .item }

    /// A row from its parts.
    package init(
      section: String,
      index: Int?,
      field: String?,
      id: String? = nil,
      lost: SkippedItem.Loss,
      reason: String
    ) {
      self.section = section
      self.index = index
      self.field = field
      self.id = id
      self.lost = lost
      self.reason = reason
    }
  }

  /// The squares that were asked for.
  public struct Squares: Sendable, Hashable, Decodable {
    /// Pixels along a side.
    public package(set) var side: Int
    /// How many were made.
    public package(set) var made = 0
    /// How many were there already.
    public package(set) var fresh = 0
    /// How many files went, because their picture did or changed.
    public package(set) var removed = 0
    /// How many pictures none can be made of.
    public package(set) var unfit = 0
    /// How many were not looked at, because the run had to end.
    public package(set) var unfinished = 0
    /// Those of the unfit that were not known to be.
    public package(set) var failures: [SquareFailure] = []

    private enum CodingKeys: String, CodingKey {
      case made, fresh, removed, unfit, unfinished, failures
      case side = "size"
    }
  }

  /// A picture that no square can be made of.
  public struct SquareFailure: Sendable, Hashable, Decodable {
    /// The picture's path in the cache.
    public package(set) var path: String
    /// Why.
    public package(set) var reason: String
  }

  /// Something that the deadline or a signal kept from being done.
  public struct Unfinished: Sendable, Hashable, Decodable {
    /// Where.
    public package(set) var stage: Stage
    /// The URL, without secrets.
    public package(set) var url: String
  }

  /// The catalog's name.
  public package(set) var catalog: String
  /// The run's number, nil when none was entered.
  public package(set) var run: RunID?
  /// How it ended.
  public package(set) var outcome: Outcome = .complete
  /// The sections in the catalog's order.
  public package(set) var sections: [Section] = []
  /// The items.
  public package(set) var items = Items()
  /// The details.
  public package(set) var details = Details()
  /// The pictures.
  public package(set) var pictures = Pictures()
  /// The squares; nil when none were asked for.
  public package(set) var squares: Squares?
  /// The failures: the first thousand of each stage, by URL.
  public package(set) var failures: [Failure] = []
  /// The number of further failures, by stage and reason.
  public package(set) var failuresOmitted: FailureCounts = [:]
  /// The rows that could not be read: the first thousand of each section.
  public package(set) var skipped: [Skipped] = []
  /// The work that was not done.
  public package(set) var unfinished: [Unfinished] = []
  /// How many requests were made, repetitions included.
  public package(set) var requests = 0
  package var durationSeconds = 0.0
  /// How long it took.
  public var duration: Duration { .seconds(durationSeconds) }

  private enum CodingKeys: String, CodingKey {
    case catalog, run, outcome, sections, items, details, squares, failures, failuresOmitted
    case skipped, unfinished, requests, durationSeconds
    case pictures = "images"
  }

  /// An empty report.
  package init(catalog: String) {
    self.catalog = catalog
  }
}

// A document of an earlier larder may lack counts and flags.
extension KeyedDecodingContainer {
  /// Reads counts, none where they are absent; the compiler's coding calls this.
  fileprivate func decode(_ type: [String: Int].Type, forKey key: Key) throws -> [String: Int] {
    try decodeIfPresent(type, forKey: key) ?? [:]
  }

  /// Reads counts by stage, none where they are absent.
  fileprivate func decode(
    _ type: SyncReport.FailureCounts.Type,
    forKey key: Key
  ) throws -> SyncReport.FailureCounts {
    try decodeIfPresent(type, forKey: key) ?? [:]
  }

  /// Reads a flag, false where it is absent.
  fileprivate func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try decodeIfPresent(type, forKey: key) ?? false
  }
}

extension SyncReport {
  /// All failures, listed or not, by stage and reason.
  package var failureCounts: FailureCounts {
    failures.reduce(into: failuresOmitted) {
      $0[$1.stage, default: [:]][$1.reason, default: 0] += 1
    }
  }

  /// The failures that are known, or those that are not, by stage and reason.
  ///
  /// A failure that is only counted is known when all listed ones of its stage and reason are.
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

  /// How many failures there are, listed or not.
  package var failureCount: Int {
    failures.count + failuresOmitted.values.reduce(0) { $0 + $1.values.reduce(0, +) }
  }

  /// How many elements and fields could not be read and have no row.
  package var skippedOmitted: Int {
    sections.reduce(0) { $0 + $1.skippedReasons.values.reduce(0, +) }
  }
}

// The contract: every key is present, null when there is nothing to say, and equal reports have equal bytes, so keys
// are sorted.

extension SyncReport {
  /// The JSON document that `larder sync --json` prints, in UTF-8; encoded again with each call.
  ///
  /// A first sync of a million items names each: Codable's encoder takes 0.75 s of processor time and 54 MiB for the ids alone.
  public var json: [UInt8] {
    var writer = StoredFormWriter()
    writer.object {
      $0.member("catalog", catalog)
      $0.name("details")
      $0.value(details)
      $0.member("durationSeconds", (durationSeconds * 1000).rounded() / 1000)
      $0.name("failures")
      $0.array { for failure in failures { $0.value(failure) } }
      $0.name("failuresOmitted")
      $0.object {
        // In the order of their names, as everywhere.
        $0.name("detail")
        $0.value(failuresOmitted[.detail] ?? [:])
        $0.name("image")
        $0.value(failuresOmitted[.picture] ?? [:])
        $0.name("section")
        $0.value(failuresOmitted[.section] ?? [:])
      }
      $0.name("images")
      $0.value(pictures)
      $0.name("items")
      $0.value(items)
      $0.member("outcome", outcome.rawValue)
      $0.member("requests", requests)
      $0.member("run", run?.rawValue)
      $0.name("sections")
      $0.array { for section in sections { $0.value(section) } }
      $0.name("skipped")
      $0.value(skipped)
      $0.name("squares")
      if let squares { $0.value(squares) } else { $0.value(nil as String?) }
      $0.name("unfinished")
      $0.array { for item in unfinished { $0.value(item) } }
    }
    return writer.bytes
  }

  /// Parses the output of ``json``.
  package init(json: [UInt8]) throws {
    self = try JSONDecoder().decode(SyncReport.self, from: Data(json))
    // The document has every stage, the value those alone that have counts.
    failuresOmitted = failuresOmitted.filter { !$0.value.isEmpty }
  }
}

extension StoredFormWriter {
  fileprivate mutating func value(_ section: SyncReport.Section) {
    object {
      $0.member("error", section.error)
      $0.member("items", section.items)
      $0.member("kept", section.kept)
      $0.member("key", section.key)
      $0.member("remedy", section.remedy?.rawValue)
      $0.member("repeats", section.repeats)
      $0.member("skipped", section.skipped)
      $0.name("skippedReasons")
      $0.value(section.skippedReasons)
      $0.member("source", section.source.rawValue)
      $0.member("title", section.title)
      $0.member("unread", section.unread)
      $0.member("warning", section.warning)
      $0.member("withheld", section.withheld)
    }
  }

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

  fileprivate mutating func value(_ details: SyncReport.Details) {
    object {
      $0.member("error", details.error)
      $0.member("failed", details.failed)
      $0.member("fetched", details.fetched)
      $0.member("kept", details.kept)
      $0.member("missing", details.missing)
      $0.member("remedy", details.remedy?.rawValue)
      $0.member("stale", details.stale)
      $0.member("total", details.total)
      $0.member("unchanged", details.unchanged)
      $0.member("withheld", details.withheld)
    }
  }

  fileprivate mutating func value(_ pictures: SyncReport.Pictures) {
    object {
      $0.member("bytesFetched", pictures.bytesFetched)
      $0.member("bytesHeld", pictures.bytesHeld)
      $0.member("changed", pictures.changed)
      $0.member("failed", pictures.failed)
      $0.member("fetched", pictures.fetched)
      $0.member("fresh", pictures.fresh)
      $0.member("referenced", pictures.referenced)
      $0.member("revalidated", pictures.revalidated)
      $0.member("unique", pictures.total)
    }
  }

  fileprivate mutating func value(_ squares: SyncReport.Squares) {
    object {
      $0.name("failures")
      $0.array {
        for failure in squares.failures {
          $0.object {
            $0.member("path", failure.path)
            $0.member("reason", failure.reason)
          }
        }
      }
      $0.member("fresh", squares.fresh)
      $0.member("made", squares.made)
      $0.member("removed", squares.removed)
      $0.member("size", squares.side)
      $0.member("unfinished", squares.unfinished)
      $0.member("unfit", squares.unfit)
    }
  }

  fileprivate mutating func value(_ failure: SyncReport.Failure) {
    object {
      $0.member("attempts", failure.attempts)
      $0.member("detail", failure.detail)
      $0.member("id", failure.id)
      $0.member("known", failure.isKnown)
      $0.member("reason", failure.reason)
      $0.member("remedy", failure.remedy?.rawValue)
      $0.member("stage", failure.stage.rawValue)
      $0.member("url", failure.url)
    }
  }

  fileprivate mutating func value(_ item: SyncReport.Unfinished) {
    object {
      $0.member("stage", item.stage.rawValue)
      $0.member("url", item.url)
    }
  }

  /// Writes items that could not be read.
  mutating func value(_ skipped: [SyncReport.Skipped]) {
    array {
      for item in skipped {
        $0.object {
          $0.member("field", item.field)
          $0.member("id", item.id)
          $0.member("index", item.index)
          $0.member("lost", item.lost.rawValue)
          $0.member("reason", item.reason)
          $0.member("section", item.section)
        }
      }
    }
  }
}
