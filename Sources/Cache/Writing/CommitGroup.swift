/// What is made ready together: its files are synced and renamed before any of its rows is written.
struct CommitGroup: Sendable {
  /// The most pictures that may be in groups at once, filling or being placed; a crash loses no more.
  static let most = 64
  /// How many rows without bytes make a group full.
  private static let rowCapacity = 128

  var pictures: [StagedPicture] = []
  var rows: [PictureEntry] = []
  var details: [(detail: DetailEntry, catalog: CatalogID, document: DocumentEntry)] = []
  var completions: [@Sendable () -> Void] = []

  var isEmpty: Bool { count == 0 }
  var count: Int { pictures.count + rows.count + details.count }

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
    catalog: CatalogID,
    document: DocumentEntry,
    completion: @escaping @Sendable () -> Void
  ) {
    details.append((detail, catalog, document))
    completions.append(completion)
  }
}
