import Base

/// Brings an index in step with the store that keeps its pictures.
///
/// Rows without a picture are forgotten. Pictures without a row, or with a differing one, get the row from their
/// metadata: so a lost index is rebuilt, and one machine learns of another's uploads. Objects of other programs are
/// left alone.
struct RemoteRecovery {
  /// Pictures that are gone from the store.
  private(set) var gone: [PictureID] = []
  /// Rows as the store has them.
  private(set) var renewed: [PictureEntry] = []

  /// Compares; costs a request for every thousand pictures and one for each that differs.
  ///
  /// - Parameters:
  ///   - layout: The cache.
  ///   - listing: The list of its store.
  ///   - index: The index.
  /// - Throws: ``LarderError`` when the store or the index cannot be read.
  init(
    _ layout: CacheLayout,
    _ listing: RemoteListing,
    _ index: Index
  ) throws(LarderError) {
    var kept = try listing.objects()
    var doubtful: [PictureEntry] = []
    var gone: [PictureID] = []
    try index.forEachPicture { entry in
      let path = entry.name.path
      switch FileAgreement(row: entry.stamp, file: kept[path]?.stamp) {
      case .empty: return
      case .agreed: break
      case .gone: gone.append(entry.id)
      case .doubtful: doubtful.append(entry)
      }
      kept[path] = nil
    }
    let known = Set(doubtful.map(\.name.path))
    let paths = Array(known) + kept.keys.filter(PictureName.isAnyLarders)
    let found = try listing.remote.rows(at: paths)
    for entry in doubtful {
      if let now = found[entry.name.path]?.row(of: entry) {
        renewed.append(now)
      } else if try layout.digest(of: entry.name)?.sha256 != entry.sha256 {
        gone.append(entry.id)
      }
    }
    for (path, entry) in found where !known.contains(path) && entry.isRow(at: path) {
      var entry = entry
      if entry.name.path != path { entry.older = path }
      renewed.append(entry)
    }
    self.gone = gone
  }

  /// Updates the rows, and gives pictures of an older larder their present path.
  func write(to index: Index, _ layout: CacheLayout) throws(LarderError) {
    try index.renew(renewed, forgetting: gone)
    try index.takeOver(layout, on: SystemDisk())
  }
}

extension PictureEntry {
  /// Whether a store gave a whole row for the object at a path, which an older larder may have named.
  package func isRow(at path: String) -> Bool {
    isHeld && !url.isEmpty && PictureName.paths(url: identity).contains(path)
  }

  /// The row that a store gave for a picture whose URL is known; nil when it is another's, or larder did not put it.
  package func row(of known: PictureEntry) -> PictureEntry? {
    guard isHeld else { return nil }
    guard identity == known.identity || url.isEmpty else { return nil }
    var row = PictureEntry(id: known.id, url: known.url, identity: known.identity)
    row.sha256 = sha256
    row.bytes = bytes
    row.type = type
    row.stamp = stamp
    row.response = response
    row.expiry = expiry
    row.fetched = fetched
    row.checked = checked
    return row
  }
}
