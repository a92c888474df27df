import Catalog

/// What a sync did, key for key what `sync --json` prints.
public struct SyncReport: Sendable, Equatable, Decodable {
  /// How a run as a whole ended.
  public enum Outcome: String, Sendable, Decodable {
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

  /// One section.
  public struct Section: Sendable, Equatable {
    /// Its key.
    public var key: String
    /// Its title.
    public var title: String
    /// How many listings it shows.
    public var items: Int
    /// How many of the feed's items could not be read; those that lost a field alone do not count.
    public var skipped: Int
    /// How many items were left out because an earlier page of the section listed them.
    public var repeats = 0
    /// Where they came from.
    public var source: Source
    /// Why it failed, is stale, was not taken as it came or is not all of the feed's.
    public var error: String?
    /// How many items the feed no longer lists and the shrink guard kept.
    public var withheld = 0
    /// The fields that the feed has lost, by their names in the catalog file, and that items keep.
    public var kept: [String] = []
    /// The ids of items that the feed lists, that cannot be read, and that are shown as they were.
    public var unread: [String] = []
  }

  /// One field of one item that changed.
  public struct Change: Sendable, Equatable, Decodable {
    /// The item.
    public var id: String
    /// The field's name in `list --json`.
    public var field: String
    /// What it was.
    public var from: String?
    /// What it is.
    public var to: String?
  }

  /// The items of all sections, a listing counted once.
  public struct Items: Sendable, Equatable, Decodable {
    /// How many are shown.
    public var total = 0
    /// Which are new.
    public var added: [String] = []
    /// Which are gone.
    public var removed: [String] = []
    /// Which the feed dropped and the shrink guard kept.
    public var withheld: [String] = []
    /// Which stand elsewhere.
    public var moved: [String] = []
    /// What changed in those that stayed.
    public var changed: [Change] = []
  }

  /// The details, an item counted once.
  public struct Details: Sendable, Equatable {
    /// How many items were asked for.
    public var total = 0
    /// How many bodies came.
    public var fetched = 0
    /// How many are as they were.
    public var unchanged = 0
    /// How many items have none.
    public var missing = 0
    /// How many of those show what was held before.
    public var stale = 0
    /// How many could not be had.
    public var failed = 0
    /// The items whose details went missing with so many others that it looks like a fault.
    public var withheld: [String] = []
  }

  /// The pictures.
  public struct Images: Sendable, Equatable, Decodable {
    /// How often pictures are referred to.
    public var referenced = 0
    /// How many URLs that is.
    public var unique = 0
    /// How many bodies came.
    public var fetched = 0
    /// How many the origin vouched for.
    public var revalidated = 0
    /// How many of those it only seemed to vouch for: their rows were lost, and it sends no date to
    /// ask with, but a body of their length.
    public var assumed = 0
    /// How many needed no question.
    public var fresh = 0
    /// How many could not be had.
    public var failed = 0
    /// How many have new bytes under an old URL.
    public var changed = 0
    /// Body bytes that came.
    public var bytesFetched: Int64 = 0
    /// Bytes of all the catalog's pictures that are held.
    public var bytesHeld: Int64 = 0
  }

  /// Where something failed.
  public enum Stage: String, Sendable, Decodable {
    /// A section's page.
    case section
    /// An item's detail.
    case detail
    /// A picture.
    case image
  }

  /// Something that could not be had.
  public struct Failure: Sendable, Equatable, Decodable {
    /// Where.
    public var stage: Stage
    /// The section's key or the item's id.
    public var id: String?
    /// The URL, without secrets.
    public var url: String
    /// The stable word for why.
    public var reason: String
    /// How often it was tried.
    public var attempts: Int
    /// The cause in words.
    public var detail: String?
  }

  /// An item, or a field of one, that could not be read.
  public struct Skipped: Sendable, Equatable {
    /// The key of the section; of a field of a detail, the first section that lists the item.
    public var section: String
    /// The item's place in the feed, from 0; nil when the field is one of the item's detail.
    public var index: Int?
    /// The field that is wrong, or nil when the whole item is.
    public var field: String?
    /// The item's id; nil when it has none that can be read.
    public var id: String?
    /// Whether the item is lost, or the item is here without this field.
    public var lost: SkippedItem.Loss
    /// What is wrong with it.
    public var reason: String

    /// A row from its parts.
    public init(
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
  public struct Squares: Sendable, Equatable, Decodable {
    /// Pixels along a side.
    public var size: Int
    /// How many were made.
    public var made = 0
    /// How many were there already.
    public var fresh = 0
    /// How many files went, because their picture did or changed.
    public var removed = 0
    /// How many pictures none can be made of.
    public var unfit = 0
    /// How many were not looked at, because the run had to end.
    public var unfinished = 0
    /// Those of the unfit that were not known to be.
    public var failures: [SquareFailure] = []
  }

  /// A picture that no square can be made of.
  public struct SquareFailure: Sendable, Equatable, Decodable {
    /// The picture's path in the cache.
    public var path: String
    /// Why.
    public var reason: String
  }

  /// Something that the deadline or a signal kept from being done.
  public struct Unfinished: Sendable, Equatable, Decodable {
    /// Where.
    public var stage: Stage
    /// The URL, without secrets.
    public var url: String
  }

  /// The catalog's name.
  public var catalog: String
  /// The run's number, nil when none was entered.
  public var run: Int64?
  /// How it ended.
  public var outcome: Outcome = .complete
  /// The sections in the catalog's order.
  public var sections: [Section] = []
  /// The items.
  public var items = Items()
  /// The details.
  public var details = Details()
  /// The pictures.
  public var images = Images()
  /// The squares; nil when none were asked for.
  public var squares: Squares?
  /// What could not be had.
  public var failures: [Failure] = []
  /// What could not be read.
  public var skipped: [Skipped] = []
  /// What was not done.
  public var unfinished: [Unfinished] = []
  /// How many requests were made, retries included.
  public var requests = 0
  /// How long it took.
  public var durationSeconds = 0.0

  /// An empty report.
  public init(catalog: String) {
    self.catalog = catalog
  }
}
