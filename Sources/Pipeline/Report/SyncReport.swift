import Cache
import Catalog
import Transport

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
