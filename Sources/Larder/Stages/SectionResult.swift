/// A section as this run found it, before the report is written.
struct SectionResult: Sendable {
  var key: String
  var title: String
  var subtitle: String?
  var source: SyncReport.Source
  /// What is shown: the feed's items and those the shrink guard kept.
  var listing: Int64?
  var withheld: [String] = []
  var skipped: [SyncReport.Skipped] = []
  var error: String?
}
