import Pipeline

extension Shop {
  /// What a sync did: the counts, what changed, and everything that could not be had.
  public struct Report: Sendable, Hashable {
    /// How the run as a whole ended.
    public enum Outcome: String, Sendable, Hashable {
      /// Everything is here and current.
      case complete
      /// Some sections, details or pictures failed or are unfinished.
      case partial
      /// The guards kept what the feed has lost: items, fields of items, details or whole sections.
      case withheld
      /// Nothing useful was done.
      case failed
      /// It was cancelled.
      case interrupted
    }

    /// Where something failed, or was left undone.
    public enum Stage: String, Sendable, Hashable {
      /// A section's page.
      case section
      /// An item's detail.
      case detail
      /// A picture.
      case picture
    }

    /// What the program that calls can do about something, by an option of the next sync.
    public enum Remedy: Sendable, Hashable {
      /// Let go what the feed lost, if the shop means it: ``Shop/SyncOptions/allowsRemovals``.
      case acceptRemovals
      /// Let more of a listing be unreadable: ``Shop/SyncOptions/maxSkipped``.
      case acceptSkipped
      /// Let hosts that only fetched data names have private addresses:
      /// ``Shop/SyncOptions/allowsPrivateAddresses``.
      case allowPrivateAddresses
    }

    /// One section.
    public struct Section: Sendable, Hashable {
      /// Where a section's items came from.
      public enum Source: String, Sendable, Hashable {
        /// A new body.
        case network
        /// The origin, or the body itself, said that nothing changed.
        case unchanged
        /// The last good one, because this time there was none.
        case stale
        /// The last good one, because the feed's looks like a fault.
        case withheld
        /// Nowhere: there never was a good one.
        case failed
      }

      /// Its key.
      public let key: String
      /// Its title.
      public let title: String
      /// How many items it shows.
      public let items: Int
      /// How many of the feed's items could not be read.
      public let skipped: Int
      /// How many items were left out because an earlier page of the section listed them.
      public let repeats: Int
      /// Where they came from.
      public let source: Source
      /// Why it failed, is stale, or was not taken as it came; nil when all is well.
      public let error: String?
      /// What helps; nil when nothing but correcting the catalog file does, or waiting.
      public let remedy: Remedy?
      /// How many items the feed no longer lists and the guard kept.
      public let withheld: Int
      /// The fields that the feed has lost, by their names in the catalog file, and that items keep.
      public let kept: [String]
      /// The ids of items that the feed lists, that cannot be read, and that are shown as they were.
      public let unread: [String]
      /// What may be wrong although the section is shown as it came: the shop says that its listing has more
      /// items or pages, and the catalog file has no paging.
      public let warning: String?
      /// Of what could not be read, how much is counted alone and not in ``Shop/Report/skipped``, by reason.
      public let skippedReasons: [String: Int]
    }

    /// The ids of items that came, went or stand elsewhere, an item counted once for each listing.
    public struct Items: Sendable, Hashable {
      /// How many are shown.
      public let total: Int
      /// Which are new.
      public let added: [String]
      /// Which are gone.
      public let removed: [String]
      /// Which the feed dropped and the guard kept.
      public let withheld: [String]
      /// What changed in those that stayed.
      public let changed: [Change]
    }

    /// One field of one item that changed.
    public struct Change: Sendable, Hashable {
      /// The item's id.
      public let id: String
      /// The field: section, title, description, badges, deliveryTypes, normalPrice, salePrice, thumbnail or
      /// images.
      public let field: String
      /// What it was, prices in minor units; nil for nothing.
      public let from: String?
      /// What it is.
      public let to: String?
    }

    /// The details, an item counted once.
    public struct Details: Sendable, Hashable {
      /// How many items were asked for.
      public let total: Int
      /// How many bodies came.
      public let fetched: Int
      /// How many are as they were.
      public let unchanged: Int
      /// How many items have none.
      public let missing: Int
      /// How many of those show what was held before.
      public let stale: Int
      /// How many could not be had.
      public let failed: Int
      /// The items whose details went missing with so many others that it looks like a fault.
      public let withheld: [String]
      /// The fields that all details have lost, by their names in the catalog file, and that they keep.
      public let kept: [String]
      /// Why fields were kept; nil when none were.
      public let error: String?
      /// What helps; nil when nothing but correcting the catalog file does, or waiting.
      public let remedy: Remedy?
    }

    /// The pictures, a URL counted once.
    public struct Pictures: Sendable, Hashable {
      /// How many there are.
      public let total: Int
      /// How often items refer to them.
      public let referenced: Int
      /// How many bodies came.
      public let fetched: Int
      /// How many held bodies the origin confirmed.
      public let revalidated: Int
      /// How many were fresh, so that no request was needed.
      public let fresh: Int
      /// How many could not be had.
      public let failed: Int
      /// How many have new bytes under an old URL.
      public let changed: Int
      /// Body bytes that came.
      public let bytesFetched: Int64
      /// Bytes of all of them that are held.
      public let bytesHeld: Int64
    }

    /// Something that could not be had; what was held of it before is still held.
    public struct Failure: Sendable, Hashable {
      /// Where.
      public let stage: Stage
      /// The section's key or the item's id.
      public let id: String?
      /// The URL, without secrets.
      public let url: String
      /// Why, as a stable word such as `http-404` or `timeout-connect`.
      public let reason: String
      /// The cause in words, when there is more to say.
      public let detail: String?
      /// What helps, when an option does.
      public let remedy: Remedy?
      /// How often it was tried.
      public let attempts: Int
      /// Whether the run before reported it too and it is expected to last: it alone makes no run partial.
      public let isKnown: Bool
    }

    /// An item, or a field of one, that could not be read.
    public struct Skipped: Sendable, Hashable {
      /// The key of the section.
      public let section: String
      /// The item's place in the feed, from 0; nil when the field is one of the item's detail.
      public let index: Int?
      /// The item's id; nil when it has none that can be read.
      public let id: String?
      /// The field that is wrong; nil when the item as a whole is.
      public let field: String?
      /// Whether the whole item is lost, and not only the field.
      public let isItemLost: Bool
      /// What is wrong with it.
      public let reason: String
    }

    /// The squares that ``Shop/SyncOptions/square`` asks for.
    public struct Squares: Sendable, Hashable {
      /// Pixels along a side.
      public let side: Int
      /// How many were made.
      public let made: Int
      /// How many were there already.
      public let fresh: Int
      /// How many files went, because their picture did or changed.
      public let removed: Int
      /// How many pictures none can be made of.
      public let unfit: Int
      /// Those of the unfit that were not known to be.
      public let failures: [SquareFailure]
      /// How many were not looked at, because the run had to end.
      public let unfinished: Int
    }

    /// A picture that no square can be made of.
    public struct SquareFailure: Sendable, Hashable {
      /// The picture's path in the cache.
      public let path: String
      /// Why.
      public let reason: String
    }

    /// Something that the deadline, a limit or the cancellation kept from being done.
    public struct Unfinished: Sendable, Hashable {
      /// Where.
      public let stage: Stage
      /// The URL, without secrets.
      public let url: String
    }

    /// The catalog's name.
    public let catalog: String
    /// The run's number, for ``Shop/changes(from:to:)``; nil when none was entered.
    public let run: Shop.Run.ID?
    /// How it ended.
    public let outcome: Outcome
    /// The sections in the catalog's order.
    public let sections: [Section]
    /// The items.
    public let items: Items
    /// The details.
    public let details: Details
    /// The pictures.
    public let pictures: Pictures
    /// The squares; nil when none were asked for.
    public let squares: Squares?
    /// What could not be had: the first thousand of each stage, by URL.
    public let failures: [Failure]
    /// What else could not be had, by stage and reason.
    public let failuresOmitted: [Stage: [String: Int]]
    /// What could not be read: at most a thousand rows of a section.
    public let skipped: [Skipped]
    /// What was not done.
    public let unfinished: [Unfinished]
    /// How many requests were made, repetitions included.
    public let requests: Int
    /// How long it took.
    public let duration: Duration
    /// The same as the JSON document that `larder sync --json` prints, in UTF-8.
    public let json: [UInt8]
  }
}

extension Shop.Report {
  init(_ report: SyncReport) {
    catalog = report.catalog
    run = report.run.map(Shop.Run.ID.init)
    outcome = Outcome(report.outcome)
    sections = report.sections.map(Section.init)
    items = Items(report.items)
    details = Details(report.details)
    pictures = Pictures(report.images)
    squares = report.squares.map(Squares.init)
    failures = report.failures.map(Failure.init)
    failuresOmitted = Dictionary(
      uniqueKeysWithValues: report.failuresOmitted.map { (Stage($0), $1) }
    )
    skipped = report.skipped.map(Skipped.init)
    unfinished = report.unfinished.map(Unfinished.init)
    requests = report.requests
    duration = .seconds(report.durationSeconds)
    json = report.json()
  }
}

extension Shop.Report.Outcome {
  fileprivate init(_ outcome: SyncReport.Outcome) {
    self =
      switch outcome {
      case .complete: .complete
      case .partial: .partial
      case .withheld: .withheld
      case .failed: .failed
      case .interrupted: .interrupted
      }
  }
}

extension Shop.Report.Stage {
  fileprivate init(_ stage: SyncReport.Stage) {
    self =
      switch stage {
      case .section: .section
      case .detail: .detail
      case .image: .picture
      }
  }
}

extension Shop.Report.Remedy {
  fileprivate init(_ remedy: SyncReport.Remedy) {
    self =
      switch remedy {
      case .acceptRemovals: .acceptRemovals
      case .acceptSkipped: .acceptSkipped
      case .allowPrivateAddresses: .allowPrivateAddresses
      }
  }
}

extension Shop.Report.Section {
  fileprivate init(_ section: SyncReport.Section) {
    key = section.key
    title = section.title
    items = section.items
    skipped = section.skipped
    repeats = section.repeats
    source = Source(section.source)
    error = section.error
    remedy = section.remedy.map(Shop.Report.Remedy.init)
    withheld = section.withheld
    kept = section.kept
    unread = section.unread
    warning = section.warning
    skippedReasons = section.skippedReasons
  }
}

extension Shop.Report.Section.Source {
  fileprivate init(_ source: SyncReport.Source) {
    self =
      switch source {
      case .network: .network
      case .unchanged: .unchanged
      case .stale: .stale
      case .withheld: .withheld
      case .failed: .failed
      }
  }
}

extension Shop.Report.Items {
  fileprivate init(_ items: SyncReport.Items) {
    total = items.total
    added = items.added
    removed = items.removed
    withheld = items.withheld
    changed = items.changed.map {
      Shop.Report.Change(id: $0.id, field: $0.field, from: $0.from, to: $0.to)
    }
  }
}

extension Shop.Report.Details {
  fileprivate init(_ details: SyncReport.Details) {
    total = details.total
    fetched = details.fetched
    unchanged = details.unchanged
    missing = details.missing
    stale = details.stale
    failed = details.failed
    withheld = details.withheld
    kept = details.kept
    error = details.error
    remedy = details.remedy.map(Shop.Report.Remedy.init)
  }
}

extension Shop.Report.Pictures {
  fileprivate init(_ images: SyncReport.Images) {
    total = images.unique
    referenced = images.referenced
    fetched = images.fetched
    revalidated = images.revalidated
    fresh = images.fresh
    failed = images.failed
    changed = images.changed
    bytesFetched = images.bytesFetched.count
    bytesHeld = images.bytesHeld.count
  }
}

extension Shop.Report.Squares {
  fileprivate init(_ squares: SyncReport.Squares) {
    side = squares.size
    made = squares.made
    fresh = squares.fresh
    removed = squares.removed
    unfit = squares.unfit
    failures = squares.failures.map {
      Shop.Report.SquareFailure(path: $0.path, reason: $0.reason)
    }
    unfinished = squares.unfinished
  }
}

extension Shop.Report.Failure {
  fileprivate init(_ failure: SyncReport.Failure) {
    stage = Shop.Report.Stage(failure.stage)
    id = failure.id
    url = failure.url
    reason = failure.reason
    detail = failure.detail
    remedy = failure.remedy.map(Shop.Report.Remedy.init)
    attempts = failure.attempts
    isKnown = failure.isKnown
  }
}

extension Shop.Report.Skipped {
  fileprivate init(_ row: SyncReport.Skipped) {
    section = row.section
    index = row.index
    id = row.id
    field = row.field
    isItemLost = row.lost == .item
    reason = row.reason
  }
}

extension Shop.Report.Unfinished {
  fileprivate init(_ row: SyncReport.Unfinished) {
    stage = Shop.Report.Stage(row.stage)
    url = row.url
  }
}
