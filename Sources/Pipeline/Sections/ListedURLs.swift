import Base
import Cache
import Catalog

extension Index {
  /// The items of a listing as their details are asked for: with the fields that the rule's places name, if any.
  func detailSubjects(
    of listing: ListingID,
    for rule: DetailRule
  ) throws(LarderError) -> [(id: String, fields: [String: String]?)] {
    // Keys are read without the items themselves.
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

/// Finds the URLs of pictures in the items of a listing, without reading the whole listing for each.
///
/// A caller that asks for pictures in the order in which the items show them has every item read about once.
struct ListedURLs {
  private let listing: ListingID
  private let index: Index
  /// The number of skipped items: the ones that are searched first come after them.
  private var passed = 0

  /// How many items are read at once.
  private static let batch = 512

  /// The pictures of a listing.
  init(_ listing: ListingID, _ index: Index) {
    (self.listing, self.index) = (listing, index)
  }

  /// Calls `found` with the URLs of pictures; URLs that none of the items shows are left out.
  ///
  /// - Parameters:
  ///   - wanted: The pictures.
  ///   - found: Called with each, once.
  /// - Throws: ``LarderError`` when the index cannot be read.
  mutating func find(
    _ wanted: Set<PictureID>,
    _ found: (PictureID, String) -> Void
  ) throws(LarderError) {
    var wanted = wanted
    let start = passed
    try find(&wanted, to: .max, found)
    // Items that were not requested in order come before.
    guard !wanted.isEmpty, start > 0 else { return }
    passed = 0
    try find(&wanted, to: start, found)
  }

  /// Looks into the items from those that were passed over on, to an item.
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
      // The last item may show pictures that are asked for next.
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
  /// The URLs of the sections as the file writes them, in order.
  var writtenSources: [String] {
    switch sections {
    case .listed(let sources): sources.map(\.url)
    case .combined(let plan): [plan.url]
    }
  }

  /// The URLs of the sections' first pages, in order.
  var sources: [String] {
    writtenSources.enumerated().map {
      paging(ofSource: $0)?.firstPage(of: $1, request(ofSource: $0)) ?? $1
    }
  }

  /// A digest of the settings that decide how the bodies of the source at a position of ``sources`` are read:
  /// when it changes, unchanged bodies are read again.
  ///
  /// Other listed sections have no part in it, so one that is added costs no other its body.
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

  /// A digest of all that decides how the bodies of details are read.
  var detailDigest: Int64 {
    var text = "\(currency)\ndetails\n\(mapping.fingerprint)"
    if let request = detail?.request { text += "\n\(request.fingerprint)" }
    text += pictureWords
    return ContentDigest.number(of: Array(text.utf8))
  }

  /// The rule for the identities of a body's pictures; empty when these are their URLs.
  private var pictureWords: String {
    switch pictures.identity {
    case .url: ""
    case .path: "\npictures path"
    case .without(let names): "\npictures without \(names.joined(separator: " "))"
    }
  }

  /// The reader of the source at a position of ``sources``.
  ///
  /// The index keeps a document for each reader of a URL, because each section decodes the body for itself.
  func reader(at position: Int) -> String {
    switch sections {
    case .listed(let sources) where sources[position].parts == nil:
      "\(name)\tsection\t\(sources[position].key)"
    // Several POSTs may have one URL: their bodies distinguish such sources.
    case .listed(let sources):
      "\(name)\tsections\t\(sources[position].key)\t\(request(ofSource: position).fingerprint)"
    case .combined: "\(name)\tsections"
    }
  }

  /// The key of the section that the source at a position of ``sources`` is; nil when it combines several.
  func sectionKey(at position: Int) -> String? {
    guard case .listed(let sources) = sections, !isMany(source: position) else { return nil }
    return sources[position].key
  }

  /// The reader of the details.
  var detailReader: String { "\(name)\tdetails" }

  /// The keys of the sections that the file names itself: no response may give them to another.
  package var namedKeys: Set<String> { Set(writtenSources.indices.compactMap(sectionKey)) }

  /// The file's title and subtitle of the section at a position of ``sources``.
  func sectionWords(at position: Int) -> (title: String?, subtitle: String?) {
    guard case .listed(let sources) = sections else { return (nil, nil) }
    return (sources[position].title, sources[position].subtitle)
  }
}

extension ItemRecord {
  /// A stored item whose pictures' URLs are absolute already.
  init(_ item: StoreItem) {
    self.init(
      key: item.id,
      body: item.encoded(),
      pictures: item.images.map { PictureID(url: $0.url) }
    )
  }
}
