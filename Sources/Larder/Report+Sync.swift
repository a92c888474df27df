import Pipeline

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
