import Base
import Cache
import Catalog
import FoundationEssentials

/// What a sync did, key for key what `sync --json` prints.
package struct SyncReport: Sendable, Equatable, Decodable {
  /// How a run as a whole ended.
  package enum Outcome: String, Sendable, Decodable {
    /// Everything is here and current.
    case complete
    /// Some sections, details or pictures failed or are unfinished.
    case partial
    /// The guards kept what the feed has lost: items, fields of items, details or whole sections.
    case withheld
    /// Nothing useful was done.
    case failed
    /// A signal ended it.
    case interrupted
  }

  /// Where a section's items came from.
  package enum Source: String, Sendable, Decodable {
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

  /// What a user can do about something, besides correcting the catalog file.
  package enum Remedy: String, Sendable, Codable {
    /// Let go what the feed lost, if the shop means it.
    case acceptRemovals = "accept-removals"
    /// Let more of a listing be unreadable.
    case acceptSkipped = "accept-skipped"
    /// Let hosts that only fetched data names have private addresses.
    case allowPrivateAddresses = "allow-private-addresses"
  }

  /// One section.
  package struct Section: Sendable, Equatable, Decodable {
    /// Its key.
    package var key: String
    /// Its title.
    package var title: String
    /// How many listings it shows.
    package var items: Int
    /// How many of the feed's items could not be read; those that lost a field alone do not count.
    package var skipped: Int
    /// How many items were left out because an earlier page of the section listed them.
    package var repeats = 0
    /// Where they came from.
    package var source: Source
    /// Why it failed, is stale, was not taken as it came or is not all of the feed's.
    package var error: String?
    /// What helps.
    package var remedy: Remedy?
    /// How many items the feed no longer lists and the shrink guard kept.
    package var withheld = 0
    /// The fields for which the listing was not taken, by their names in the catalog file: gone from all items, or
    /// with one value in all of them.
    package var kept: [String] = []
    /// The ids of items that the feed lists, that cannot be read, and that are shown as they were.
    package var unread: [String] = []
    /// What may be wrong although the section is shown as it came: the listing has pages that are not read.
    package var warning: String?
    /// Of what could not be read, how much is counted here and has no row in ``SyncReport/skipped``, by reason.
    @OrEmpty package var skippedReasons: [String: Int] = [:]
  }

  /// One field of one item that changed.
  package struct Change: Sendable, Equatable, Decodable {
    /// The item.
    package var id: String
    /// The field's name in `list --json`.
    package var field: String
    /// What it was.
    package var from: String?
    /// What it is.
    package var to: String?
  }

  /// The items of all sections, a listing counted once.
  package struct Items: Sendable, Equatable, Decodable {
    /// How many are shown.
    package var total = 0
    /// Which are new.
    package var added: [String] = []
    /// Which are gone.
    package var removed: [String] = []
    /// Which the feed dropped and the shrink guard kept.
    package var withheld: [String] = []
    /// What changed in those that stayed.
    package var changed: [Change] = []
  }

  /// The details, an item counted once.
  package struct Details: Sendable, Equatable, Decodable {
    /// How many items were asked for.
    package var total = 0
    /// How many bodies came.
    package var fetched = 0
    /// How many are as they were.
    package var unchanged = 0
    /// How many items have none.
    package var missing = 0
    /// How many of those show what was held before.
    package var stale = 0
    /// How many could not be had.
    package var failed = 0
    /// The items whose details went missing with so many others that it looks like a fault.
    package var withheld: [String] = []
    /// The fields that all details have lost, by their names in the catalog file, and that they keep.
    package var kept: [String] = []
    /// Why fields were kept.
    package var error: String?
    /// What helps.
    package var remedy: Remedy?
  }

  /// The pictures.
  package struct Images: Sendable, Equatable, Decodable {
    /// How often pictures are referred to.
    package var referenced = 0
    /// How many URLs that is.
    package var unique = 0
    /// How many bodies came.
    package var fetched = 0
    /// How many held bodies the origin confirmed.
    package var revalidated = 0
    /// How many needed no question.
    package var fresh = 0
    /// How many could not be had.
    package var failed = 0
    /// How many have new bytes under an old URL.
    package var changed = 0
    /// Body bytes that came.
    package var bytesFetched: ByteCount = 0
    /// Bytes of all the catalog's pictures that are held.
    package var bytesHeld: ByteCount = 0
  }

  /// Where something failed.
  package enum Stage: String, Sendable, Codable, CodingKeyRepresentable, CaseIterable {
    /// A section's page.
    case section
    /// An item's detail.
    case detail
    /// A picture.
    case image
  }

  /// How many failures of a stage are listed in full.
  package static let mostFailures = 1000
  /// Failures by stage and reason.
  package typealias FailureCounts = [Stage: [String: Int]]

  /// Something that could not be had.
  package struct Failure: Sendable, Equatable, Codable {
    /// Where.
    package var stage: Stage
    /// The section's key or the item's id.
    package var id: String?
    /// The URL, without secrets.
    package var url: String
    /// The stable word for why.
    package var reason: String
    /// How often it was tried.
    package var attempts: Int
    /// The cause in words.
    package var detail: String?
    /// What helps.
    package var remedy: Remedy?
    /// Whether the run before this one reported it too, and it is expected to last: such a failure alone does not make
    /// a run partial.
    @OrEmpty package var isKnown = false

    enum CodingKeys: String, CodingKey {
      case stage, id, url, reason, attempts, detail, remedy
      case isKnown = "known"
    }
  }

  /// An item, or a field of one, that could not be read.
  package struct Skipped: Sendable, Equatable, Decodable {
    /// The key of the section; of a field of a detail, the first section that lists the item.
    package var section: String
    /// The item's place in the feed, from 0; nil when the field is one of the item's detail.
    package var index: Int?
    /// The field that is wrong, or nil when the whole item is.
    package var field: String?
    /// The item's id; nil when it has none that can be read.
    package var id: String?
    /// Whether the item is lost, or the item is here without this field.
    package var lost: SkippedItem.Loss
    /// What is wrong with it.
    package var reason: String

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

  /// The squares that `--square` asks for.
  package struct Squares: Sendable, Equatable, Decodable {
    /// Pixels along a side.
    package var size: Int
    /// How many were made.
    package var made = 0
    /// How many were there already.
    package var fresh = 0
    /// How many files went, because their picture did or changed.
    package var removed = 0
    /// How many pictures none can be made of.
    package var unfit = 0
    /// How many were not looked at, because the run had to end.
    package var unfinished = 0
    /// Those of the unfit that were not known to be.
    package var failures: [SquareFailure] = []
  }

  /// A picture that no square can be made of.
  package struct SquareFailure: Sendable, Equatable, Decodable {
    /// The picture's path in the cache.
    package var path: String
    /// Why.
    package var reason: String
  }

  /// Something that the deadline or a signal kept from being done.
  package struct Unfinished: Sendable, Equatable, Decodable {
    /// Where.
    package var stage: Stage
    /// The URL, without secrets.
    package var url: String
  }

  /// The catalog's name.
  package var catalog: String
  /// The run's number, nil when none was entered.
  package var run: RunID?
  /// How it ended.
  package var outcome: Outcome = .complete
  /// The sections in the catalog's order.
  package var sections: [Section] = []
  /// The items.
  package var items = Items()
  /// The details.
  package var details = Details()
  /// The pictures.
  package var images = Images()
  /// The squares; nil when none were asked for.
  package var squares: Squares?
  /// What could not be had: the first ``mostFailures`` of each stage, by URL.
  package var failures: [Failure] = []
  /// What else could not be had.
  @OrEmpty package var failuresOmitted: FailureCounts = [:]
  /// What could not be read: the first rows of each section.
  package var skipped: [Skipped] = []
  /// What was not done.
  package var unfinished: [Unfinished] = []
  /// How many requests were made, retries included.
  package var requests = 0
  /// How long it took.
  package var durationSeconds = 0.0

  /// An empty report.
  package init(catalog: String) {
    self.catalog = catalog
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
  /// The report as one line of JSON.
  ///
  /// A first sync of a million items names each: Codable's encoder takes 0.75 s of processor time and 54 MiB for the ids alone.
  package func json() -> [UInt8] {
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
        $0.value(failuresOmitted[.image] ?? [:])
        $0.name("section")
        $0.value(failuresOmitted[.section] ?? [:])
      }
      $0.name("images")
      $0.value(images)
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

  /// Reads what ``json()`` wrote.
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

  fileprivate mutating func value(_ images: SyncReport.Images) {
    object {
      $0.member("bytesFetched", images.bytesFetched.count)
      $0.member("bytesHeld", images.bytesHeld.count)
      $0.member("changed", images.changed)
      $0.member("failed", images.failed)
      $0.member("fetched", images.fetched)
      $0.member("fresh", images.fresh)
      $0.member("referenced", images.referenced)
      $0.member("revalidated", images.revalidated)
      $0.member("unique", images.unique)
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
      $0.member("size", squares.size)
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
