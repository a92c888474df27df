/// The files below `images/`, and which of them no row names.
struct PictureFiles {
  private let layout: CacheLayout

  init(_ layout: CacheLayout) {
    self.layout = layout
  }

  /// Every file that lies where pictures do, sorted.
  func all() throws(CacheError) -> [String] {
    if let listing = layout.listing { return try listing.objects().keys.sorted() }
    var files: [String] = []
    for number in try layout.existingFolders() {
      let folder = try layout.folder(number, creating: false)
      files += try folder.names().map { "images/\(PictureName.folderName(number))/\($0)" }
    }
    return files.sorted()
  }

  /// The files that no held row of this index names, sorted.
  ///
  /// A folder at a time, so that memory is for a 256th of the names. A folder's rows are read after its files, so
  /// that what is committed meanwhile counts as known.
  func orphans(_ index: Index) throws(CacheError) -> [String] {
    if let keeper = layout.keeper {
      let all = try all()
      let known = try index.heldPictures(at: all)
      let others = all.filter { known[$0] == nil }
      // What was put with its row is the next run's to enter, not nobody's.
      let rows = try keeper.rows(at: others)
      return others.filter { path in !(rows[path]?.isRow(at: path) ?? false) }
    }
    var files: [String] = []
    for name in try layout.images.names() {
      guard let number = layout.pictureFolder(name),
        let folder = try layout.existingFolder(number)
      else {
        files.append("images/\(name)")
        continue
      }
      var names = Set(try folder.names())
      guard !names.isEmpty else { continue }
      try index.forEachHeldFile(inFolder: number) { names.remove($0) }
      files += names.map { "images/\(name)/\($0)" }
    }
    return files.sorted()
  }
}
