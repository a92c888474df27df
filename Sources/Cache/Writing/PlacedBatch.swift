import FoundationEssentials
import GRDB
import Transport

/// Pictures whose files are in place, and rows, that wait for one transaction together.
struct PlacedBatch: Sendable {
  /// A picture with its new row.
  ///
  /// What was staged without its open file: 256 of those at once would be 256 descriptors.
  final class Picture: Sendable {
    let entry: PictureEntry
    let before: [UInt8]?
    let outcome: PictureOutcome
    let completion: @Sendable (PictureOutcome) -> Void

    /// `stamp` is that of the file in its place.
    init(_ staged: StagedPicture, _ stamp: FileStamp?) {
      var entry = staged.entry
      entry.stamp = stamp
      self.entry = entry
      before = staged.before
      outcome = staged.outcome
      completion = staged.completion
    }
  }

  private(set) var pictures: [Picture] = []
  private var refused: [(PictureOutcome, @Sendable (PictureOutcome) -> Void)] = []
  private var rows: [PictureEntry] = []
  private var details: [(detail: DetailEntry, catalog: Int64, document: DocumentEntry)] = []
  private var completions: [@Sendable () -> Void] = []
  private var byContent: [Int64: Picture] = [:]

  /// How many have come through batches so far, this one included.
  private(set) var total = 0

  var isEmpty: Bool { pictures.isEmpty && refused.isEmpty && completions.isEmpty }
  var count: Int { pictures.count + rows.count + details.count }

  /// An empty batch that goes on counting.
  var successor: PlacedBatch {
    var next = PlacedBatch()
    next.total = total
    return next
  }

  mutating func add(_ picture: Picture) {
    pictures.append(picture)
    total += 1
  }

  mutating func add(
    refused outcome: PictureOutcome,
    _ completion: @escaping @Sendable (PictureOutcome) -> Void
  ) {
    refused.append((outcome, completion))
    total += 1
  }

  /// Adds what a group has besides pictures.
  mutating func add(_ group: CommitGroup) {
    rows += group.rows
    details += group.details
    completions += group.completions
    total += group.completions.count
  }

  /// Notes that a picture's file is in place, ahead of its row, for those with equal bytes.
  mutating func note(_ picture: Picture) {
    if let digest = picture.entry.sha256 { byContent[ContentDigest.prefix(digest)] = picture }
  }

  /// The picture of this batch that holds these bytes, ahead of its row.
  func entry(holding content: Int64) -> PictureEntry? {
    byContent[content]?.entry
  }

  /// Writes everything, in a transaction that the caller holds.
  func save(in db: Database, run: Int64) throws {
    var writer = try PictureRowWriter(db)
    for picture in pictures {
      try writer.save(picture.entry)
      if let before = picture.before, let after = picture.entry.sha256, before != after {
        try Index.note(picture.entry.id, before: before, after: after, run: run, in: db)
      }
    }
    for entry in rows { try writer.save(entry) }
    for (detail, catalog, document) in details {
      try Index.save(document, in: db)
      try Index.save(detail, catalog: catalog, in: db)
    }
  }

  /// Tells everybody how it ended; a failure of the transaction refuses all pictures.
  func tell(_ failure: CacheError?) {
    for picture in pictures {
      let refusal = failure.map { PictureOutcome.refused(.disk, detail: $0.description) }
      picture.completion(refusal ?? picture.outcome)
    }
    for (outcome, completion) in refused { completion(outcome) }
    for completion in completions { completion() }
  }
}
