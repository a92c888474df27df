import Base
import Cache
import Catalog

extension ItemRecord {
  /// Decodes the item.
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
  /// The URLs of the sections as they are written in the file, in its order.
  var writtenSources: [String] { sections.map(\.url) }

  /// The URLs of the sections' first pages, in the file's order.
  var sources: [String] {
    writtenSources.enumerated().map {
      paging(ofSource: $0)?.firstPage(of: $1, request(ofSource: $0)) ?? $1
    }
  }

  /// A digest of the settings that decide how the pages at a position in ``sources`` are decoded.
  ///
  /// If the digest changes, the pages are fetched and decoded again, even if they are unchanged.
  ///
  /// The digest does not depend on the other sections in the file. A new section therefore does not make the others
  /// outdated.
  func listingDigest(at position: Int) -> Int64 {
    let own = sections[position].fingerprint
    var text = "\(currency)\n\(own)\n\(mapping(ofSource: position).fingerprint)"
    if let paging = paging(ofSource: position) { text += "\n\(paging.fingerprint)" }
    let request = request(ofSource: position)
    if request.method == .post { text += "\n\(request.fingerprint)" }
    text += pictureWords
    return ContentDigest.number(of: Array(text.utf8))
  }

  /// A digest of the settings that decide how details are decoded.
  var detailDigest: Int64 {
    var text = "\(currency)\ndetails\n\(mapping.fingerprint)"
    if let request = detail?.request { text += "\n\(request.fingerprint)" }
    text += pictureWords
    return ContentDigest.number(of: Array(text.utf8))
  }

  /// The settings that decide which picture a URL means, as a part of a digest: `base` and `pictures.identity`.
  private var pictureWords: String {
    var words = base.map { "\nbase \($0)" } ?? ""
    switch pictures.identity {
    case .url: break
    case .path: words += "\npictures path"
    case .without(let names): words += "\npictures without \(names.joined(separator: " "))"
    }
    return words
  }

  /// The name of the decoder of the pages at a position in ``sources``, for example `banchan\tsection\tsoup`.
  ///
  /// The index stores a page once for each decoder of its URL, because each section decodes the page for itself.
  func reader(at position: Int) -> String {
    let source = sections[position]
    guard source.parts != nil else { return "\(name)\tsection\t\(source.key)" }
    if source.key.isEmpty { return "\(name)\tsections" }
    // The body of the request is a part of the name, because several POSTs can have the same URL.
    return "\(name)\tsections\t\(source.key)\t\(request(ofSource: position).fingerprint)"
  }

  /// The key of the section at a position in ``sources``; nil if several sections are there.
  func sectionKey(at position: Int) -> String? {
    isMany(source: position) ? nil : sections[position].key
  }

  /// The name of the decoder of the details.
  var detailReader: String { "\(name)\tdetails" }

  /// The keys that the catalog file gives to sections.
  ///
  /// A section that a response names is not allowed to use one of them.
  package var namedKeys: Set<String> { Set(writtenSources.indices.compactMap(sectionKey)) }
}

extension [ItemRecord] {
  /// Decodes the items.
  func storeItems() throws(LarderError) -> [StoreItem] {
    try map { record throws(LarderError) in try record.storeItem() }
  }
}
