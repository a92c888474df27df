/// A picture whose bytes wait in `partial/` for their group's commit.
///
/// A class, for it goes from hand to hand and each copy of its many parts would be counted in and out.
final class StagedPicture: Sendable {
  /// The row to write, complete.
  let entry: PictureEntry
  /// Where the file goes.
  let name: PictureName
  /// The file with the bytes, or nil when those in place are kept.
  let partial: OpenFile?
  /// Whether a note lies beside that file.
  let hasNote: Bool
  /// The SHA-256 of the bytes held before, if any.
  let before: [UInt8]?
  /// What to tell once it is durable.
  let outcome: PictureOutcome
  /// Whom to tell.
  let completion: @Sendable (PictureOutcome) -> Void

  init(
    entry: PictureEntry,
    partial: OpenFile?,
    hasNote: Bool = false,
    before: [UInt8]?,
    outcome: PictureOutcome,
    completion: @escaping @Sendable (PictureOutcome) -> Void
  ) {
    self.entry = entry
    name = entry.name
    self.partial = partial
    self.hasNote = hasNote
    self.before = before
    self.outcome = outcome
    self.completion = completion
  }
}

/// What is made ready together: its files are synced and renamed before any of its rows is written.
struct CommitGroup: Sendable {
  /// How many pictures may be in groups at once, those that lanes fill and the one that is being
  /// placed: what a crash costs at most.
  static let most = 64
  /// How many rows without bytes make a group full.
  private static let rowCapacity = 128

  var pictures: [StagedPicture] = []
  var rows: [PictureEntry] = []
  var details: [(detail: DetailEntry, catalog: Int64, document: DocumentEntry)] = []
  var completions: [@Sendable () -> Void] = []

  var isEmpty: Bool { pictures.isEmpty && rows.isEmpty && details.isEmpty }

  /// Whether `capacity` pictures are in it, or many rows.
  func isFull(_ capacity: Int) -> Bool {
    pictures.count >= capacity || rows.count + details.count >= Self.rowCapacity
  }

  mutating func add(_ picture: StagedPicture) {
    pictures.append(picture)
  }

  mutating func add(row: PictureEntry, completion: @escaping @Sendable () -> Void) {
    rows.append(row)
    completions.append(completion)
  }

  mutating func add(
    _ detail: DetailEntry,
    catalog: Int64,
    document: DocumentEntry,
    completion: @escaping @Sendable () -> Void
  ) {
    details.append((detail, catalog, document))
    completions.append(completion)
  }
}
