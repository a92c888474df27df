import Base
import Cache
import Catalog

extension Index {
  /// The ids of a listing's items, with the fields for the placeholders of a detail's URL.
  ///
  /// The fields are nil if the URL needs only the id.
  func detailSubjects(
    of listing: ListingID,
    for rule: DetailRule
  ) throws(LarderError) -> [(id: String, fields: [String: String]?)] {
    // Only the ids are needed, so the items are not read.
    if rule.places.isSubset(of: [.id]) {
      return try itemKeys(listing: listing).map { ($0, nil) }
    }
    var subjects: [(id: String, fields: [String: String]?)] = []
    try forEachBatch(of: listing) { records throws(LarderError) in
      for record in records {
        let item = try record.storeItem()
        subjects.append((item.id, item.placeValues))
      }
    }
    return subjects
  }
}

/// Finds the URLs of pictures in the items of a listing.
///
/// If a caller looks for pictures in the order of the items, each item is read about once, and not once for each
/// picture.
struct ListedURLs {
  private let listing: ListingID
  private let index: Index
  /// The position of the item at which the next search begins.
  private var passed = 0

  /// The number of items read at once.
  private static let batch = 512

  /// Prepares searches in a listing.
  init(_ listing: ListingID, _ index: Index) {
    (self.listing, self.index) = (listing, index)
  }

  /// Calls `found` with the URL of each picture that an item of the listing shows.
  ///
  /// - Parameters:
  ///   - wanted: The pictures.
  ///   - found: Called once for each picture that was found.
  /// - Throws: ``LarderError`` when the index cannot be read.
  mutating func find(
    _ wanted: Set<PictureID>,
    _ found: (PictureID, String) -> Void
  ) throws(LarderError) {
    var wanted = wanted
    let start = passed
    try find(&wanted, to: .max, found)
    // Search the items before the start for the pictures that were not found after it.
    guard !wanted.isEmpty, start > 0 else { return }
    passed = 0
    try find(&wanted, to: start, found)
  }

  /// Searches the items from `passed` to `end`.
  private mutating func find(
    _ wanted: inout Set<PictureID>,
    to end: Int,
    _ found: (PictureID, String) -> Void
  ) throws(LarderError) {
    while passed < end {
      let versions = try index.versions(listing: listing, from: passed, count: Self.batch)
      for record in try index.items(versions, of: listing)
      where record.pictures.contains(where: wanted.contains) {
        for image in try record.storeItem().images {
          let id = PictureID(url: image.url)
          if wanted.remove(id) != nil { found(id, image.url) }
        }
      }
      // The next search starts at this batch again, because its items may also show the next pictures.
      if wanted.isEmpty { return }
      guard versions.count == Self.batch else { return }
      passed += versions.count
    }
  }
}

extension ItemRecord {
  /// The item, decoded.
  func storeItem() throws(LarderError) -> StoreItem {
    do throws(CatalogError) {
      return try StoreItem(decoding: body)
    } catch {
      throw LarderError(
        .damaged,
        "cannot read item \(key) in the index: \(error.description)",
        remedy: .repair
      )
    }
  }
}

extension CatalogFile {
  /// The URLs of the sections as written in the file, in the file's order.
  var writtenSources: [String] {
    switch sections {
    case .listed(let sources): sources.map(\.url)
    case .combined(let plan): [plan.url]
    }
  }

  /// The URLs of the sections' first pages, in the file's order.
  var sources: [String] {
    writtenSources.enumerated().map {
      paging(ofSource: $0)?.firstPage(of: $1, request(ofSource: $0)) ?? $1
    }
  }

  /// A digest of the settings that decide how the bodies of the source at a position in ``sources`` are decoded.
  ///
  /// When the digest changes, unchanged bodies are fetched and decoded again.
  ///
  /// The digest does not depend on the other sections in the file, so a new section does not invalidate the bodies of
  /// the others.
  func listingDigest(at position: Int) -> Int64 {
    let own: SectionPlan =
      switch sections {
      case .listed(let sources): .listed([sources[position]])
      case .combined: sections
      }
    var text = "\(currency)\n\(own.fingerprint)\n\(mapping(ofSource: position).fingerprint)"
    if let paging = paging(ofSource: position) { text += "\n\(paging.fingerprint)" }
    let request = request(ofSource: position)
    if request.method == .post { text += "\n\(request.fingerprint)" }
    text += pictureWords
    return ContentDigest.number(of: Array(text.utf8))
  }

  /// A digest of the settings that decide how the bodies of details are decoded.
  var detailDigest: Int64 {
    var text = "\(currency)\ndetails\n\(mapping.fingerprint)"
    if let request = detail?.request { text += "\n\(request.fingerprint)" }
    text += pictureWords
    return ContentDigest.number(of: Array(text.utf8))
  }

  /// The rule for the identities of pictures, as a part of a digest; empty if an identity is the whole URL.
  private var pictureWords: String {
    switch pictures.identity {
    case .url: ""
    case .path: "\npictures path"
    case .without(let names): "\npictures without \(names.joined(separator: " "))"
    }
  }

  /// The name of the reader, or decoder, of the source at a position in ``sources``.
  ///
  /// The index stores a document once for each reader of a URL, because each section decodes the body for itself.
  func reader(at position: Int) -> String {
    switch sections {
    case .listed(let sources) where sources[position].parts == nil:
      "\(name)\tsection\t\(sources[position].key)"
    // Several POSTs may have the same URL, so the body is a part of the name.
    case .listed(let sources):
      "\(name)\tsections\t\(sources[position].key)\t\(request(ofSource: position).fingerprint)"
    case .combined: "\(name)\tsections"
    }
  }

  /// The key of the section at a position in ``sources``; nil when that source combines several sections.
  func sectionKey(at position: Int) -> String? {
    guard case .listed(let sources) = sections, !isMany(source: position) else { return nil }
    return sources[position].key
  }

  /// The name of the reader, or decoder, of the details.
  var detailReader: String { "\(name)\tdetails" }

  /// The keys of the sections in the catalog file, which no section in a response may use.
  package var namedKeys: Set<String> { Set(writtenSources.indices.compactMap(sectionKey)) }

  /// The title and subtitle in the file for the section at a position in ``sources``.
  func sectionWords(at position: Int) -> (title: String?, subtitle: String?) {
    guard case .listed(let sources) = sections else { return (nil, nil) }
    return (sources[position].title, sources[position].subtitle)
  }
}

extension ItemRecord {
  /// The record of an item whose picture URLs are already absolute.
  init(_ item: StoreItem) {
    self.init(
      key: item.id,
      body: item.encoded(),
      pictures: item.images.map { PictureID(url: $0.url) }
    )
  }
}
