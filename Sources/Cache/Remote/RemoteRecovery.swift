import Base

extension CacheLayout {
  /// Updates an index from the object store that has the cache's pictures.
  ///
  /// If the store no longer has a picture, the picture's row is marked as empty. If a picture has no row, or its row
  /// describes another upload, the row is written from the metadata in the store. In this way a lost index is rebuilt,
  /// and a machine learns of the uploads of other machines. Objects of other programs are ignored.
  ///
  /// The comparison takes one request for each thousand pictures, and one for each picture that differs.
  ///
  /// - Parameters:
  ///   - index: The index.
  ///   - listing: The list of the objects in the cache's object store.
  /// - Returns: The number of rows that were marked as empty, and the number of rows that were written.
  /// - Throws: ``LarderError`` when the store or the index cannot be read or written.
  func repair(
    _ index: Index,
    from listing: RemoteListing
  ) throws(LarderError) -> (forgotten: Int, adopted: Int) {
    var renewed: [PictureEntry] = []
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
    let paths = Array(known) + kept.keys.filter { PictureName.id(at: $0) != nil }
    let found = try listing.remote.rows(at: paths)
    for entry in doubtful {
      if let now = found[entry.name.path]?.row(of: entry) {
        renewed.append(now)
      } else if try digest(of: entry.name)?.sha256 != entry.sha256 {
        gone.append(entry.id)
      }
    }
    for (path, entry) in found where !known.contains(path) && entry.isRow(at: path) {
      renewed.append(entry)
    }
    try index.save(renewed, forgetting: gone)
    return (gone.count, renewed.count)
  }
}

extension PictureEntry {
  /// Whether this row, which was read from the metadata of an object, is the complete row of the object at `path`.
  package func isRow(at path: String) -> Bool {
    isHeld && !url.isEmpty && name.path == path
  }

  /// Converts this row, which was read from the metadata of an object, to a row of the known picture.
  ///
  /// It is nil if the metadata belongs to another picture, or if larder did not upload the object.
  package func row(of known: PictureEntry) -> PictureEntry? {
    guard isHeld, identity == known.identity || url.isEmpty else { return nil }
    var row = self
    (row.id, row.url, row.identity) = (known.id, known.url, known.identity)
    return row
  }
}
