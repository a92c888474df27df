import FoundationEssentials
import GRDB
import Transport

/// Pictures whose files are in place, and rows, that wait for one transaction together.
struct PlacedBatch: Sendable {
  /// The pictures whose files are in place, and the rows.
  private(set) var contents = CommitGroup()
  private var refused: [(PictureOutcome, @Sendable (PictureOutcome) -> Void)] = []
  private var byContent: [Int64: StagedPicture] = [:]

  var isEmpty: Bool { contents.isEmpty && refused.isEmpty }
  var count: Int { contents.count }

  mutating func add(_ picture: StagedPicture) {
    contents.add(picture)
  }

  mutating func add(
    refused outcome: PictureOutcome,
    _ completion: @escaping @Sendable (PictureOutcome) -> Void
  ) {
    refused.append((outcome, completion))
  }

  /// Adds what a group has besides pictures.
  mutating func add(rowsOf group: CommitGroup) {
    contents.rows += group.rows
    contents.details += group.details
    contents.completions += group.completions
  }

  /// Notes that a picture's file is in place, ahead of its row, for those with equal bytes.
  mutating func note(_ picture: StagedPicture) {
    if let digest = picture.entry.sha256 { byContent[ContentDigest.prefix(digest)] = picture }
  }

  /// The picture of this batch that holds these bytes, ahead of its row.
  func entry(holding content: Int64) -> PictureEntry? {
    byContent[content]?.entry
  }

  /// Writes everything, in a transaction that the caller holds.
  func save(in db: Database, run: RunID) throws {
    var writer = try PictureRowWriter(db)
    for picture in contents.pictures {
      try writer.save(picture.entry, before: picture.before, run: run, in: db)
    }
    for entry in contents.rows { try writer.save(entry) }
    for (detail, catalog, document) in contents.details {
      try document.insert(db)
      try DetailRow(catalog: catalog, detail: detail).insert(db)
    }
  }

  /// Tells everybody how it ended; a failure of the transaction refuses all pictures.
  func tell(_ failure: CacheError?) {
    for picture in contents.pictures {
      let refusal = failure.map { PictureOutcome.refused(.disk, detail: $0.description) }
      picture.completion(refusal ?? picture.outcome)
    }
    for (outcome, completion) in refused { completion(outcome) }
    for completion in contents.completions { completion() }
  }
}
