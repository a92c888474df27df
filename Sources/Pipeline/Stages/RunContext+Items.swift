import Cache
import Catalog
import Transport

extension RunContext {
  /// Which pictures an item refers to, with their URLs as they will be sent.
  ///
  /// What is no URL that larder fetches is a picture that fails: now, and in every run until the feed is mended.
  func references(to images: [ImageReference], base: WebURL?) -> [PictureReference] {
    images.map { image in
      do throws(TransferFailure) {
        let url = try parse(named: image.url, relativeTo: base)
        return PictureReference(id: PictureID(url: url.text), url: .success(url))
      } catch {
        return PictureReference(id: PictureID(url: image.url), url: .failure(error))
      }
    }
  }

  /// Parses a URL that fetched data names, with the environment's values out of it.
  func parse(
    named text: String,
    relativeTo base: WebURL?
  ) throws(TransferFailure) -> WebURL {
    guard !variables.isEmpty else { return try transport.parse(text, relativeTo: base) }
    let url = try transport.parse(URLVariables.defused(text), relativeTo: base)
    return variables.veiled(url, transport)
  }

  /// The items of a listing.
  func items(_ listing: ListingID) throws(CacheError) -> [StoreItem] {
    try index.storeItems(listing: listing)
  }
}

extension [ImageReference] {
  /// Makes each absolute, as it will be sent; what is no URL stays as the feed wrote it.
  mutating func resolve(_ references: some Sequence<PictureReference>) {
    for (place, reference) in zip(indices, references) {
      guard case .success(let url) = reference.url else { continue }
      self[place] = ImageReference(role: self[place].role, url: url.text)
    }
  }
}

extension Sequence<ImageReference> {
  /// The pictures' URLs by their identities.
  var urlsByID: [PictureID: String] {
    Dictionary(map { (PictureID(url: $0.url), $0.url) }) { first, _ in first }
  }
}

extension Index {
  /// The items of a listing, decoded.
  func storeItems(listing: ListingID) throws(CacheError) -> [StoreItem] {
    var decoded: [StoreItem] = []
    for record in try items(listing: listing) { decoded.append(try record.storeItem()) }
    return decoded
  }

  /// The items of a listing as their details are asked for: with the fields that the rule's places name, if any.
  func detailSubjects(
    of listing: ListingID,
    for rule: DetailRule
  ) throws(CacheError) -> [(id: String, fields: [String: String]?)] {
    // Keys are read without the items themselves.
    if rule.places.isSubset(of: [.id]) {
      return try itemKeys(listing: listing).map { ($0, nil) }
    }
    return try storeItems(listing: listing).map { ($0.id, $0.placeValues) }
  }
}

extension ItemRecord {
  /// The item, decoded.
  func storeItem() throws(CacheError) -> StoreItem {
    do throws(CatalogError) {
      return try StoreItem(decoding: body)
    } catch {
      throw CacheError(
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

  /// What decides how the bodies of the source at a position of ``sources`` are read: when it changes, unchanged
  /// ones are read again.
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
    return ContentDigest.number(of: Array(text.utf8))
  }

  /// A digest of all that decides how the bodies of details are read.
  var detailDigest: Int64 {
    var text = "\(currency)\ndetails\n\(mapping.fingerprint)"
    if let request = detail?.request { text += "\n\(request.fingerprint)" }
    return ContentDigest.number(of: Array(text.utf8))
  }

  /// The reader of the source at a position of ``sources``.
  ///
  /// The index keeps a document for each reader of a URL, because each section decodes the body for itself.
  func reader(at position: Int) -> String {
    switch sections {
    case .listed(let sources): "\(name)\tsection\t\(sources[position].key)"
    case .combined: "\(name)\tsections"
    }
  }

  /// The key of the section that the source at a position of ``sources`` is; nil when it combines several.
  func sectionKey(at position: Int) -> String? {
    guard case .listed(let sources) = sections else { return nil }
    return sources[position].key
  }

  /// Who reads the details.
  var detailReader: String { "\(name)\tdetails" }

  /// The sections that a source stands for when it could not be read.
  func sectionNames(at position: Int, held: [String: RunSection], order: [String])
    -> [(key: String, title: String, subtitle: String?)]
  {
    switch sections {
    case .listed(let sources):
      let source = sources[position]
      return [
        (
          source.key, source.title ?? held[source.key]?.title ?? source.key,
          source.subtitle ?? held[source.key]?.subtitle
        )
      ]
    case .combined:
      return order.compactMap { held[$0] }.map { ($0.key, $0.title, $0.subtitle) }
    }
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
