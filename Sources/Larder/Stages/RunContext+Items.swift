import Cache
import Catalog
import Transport

extension RunContext {
  /// Makes the references absolute, as they will be sent, and says which pictures they are.
  ///
  /// What is no URL that larder fetches stays as the feed wrote it, and is a picture that fails:
  /// now, and in every run until the feed is mended.
  func resolve(_ images: inout [ImageReference], base: WebURL?) -> [PictureReference] {
    var references: [PictureReference] = []
    references.reserveCapacity(images.count)
    for (place, image) in images.enumerated() {
      do throws(TransferFailure) {
        let url = try transport.parse(image.url, relativeTo: base)
        images[place] = ImageReference(role: image.role, url: url.text)
        references.append(PictureReference(id: PictureID(url: url.text), url: .success(url)))
      } catch {
        references.append(PictureReference(id: PictureID(url: image.url), url: .failure(error)))
      }
    }
    return references
  }

  /// The items of a listing.
  func items(_ listing: Int64) throws(CacheError) -> [StoreItem] {
    try index.storeItems(listing: listing)
  }
}

extension Index {
  /// The items of a listing, decoded.
  func storeItems(listing: Int64) throws(CacheError) -> [StoreItem] {
    var decoded: [StoreItem] = []
    for record in try items(listing: listing) {
      do throws(CatalogError) {
        decoded.append(try StoreItem(decoding: record.body))
      } catch {
        throw CacheError(
          .damaged,
          "cannot read item \(record.key) in the index: \(error.description)"
        )
      }
    }
    return decoded
  }
}

extension CatalogFile {
  /// The URLs of the sections as the file writes them, in order.
  var sources: [String] {
    let urls =
      switch sections {
      case .listed(let sources): sources.map(\.url)
      case .combined(let plan): [plan.url]
      }
    guard let paging else { return urls }
    return urls.map { paging.firstPage(of: $0) }
  }

  /// What decides how a body is read: when it changes, unchanged bodies are read again.
  var listingDigest: Int64 {
    let text = "\(currency)\n\(sections.fingerprint)\n\(mapping.fingerprint)"
    return ContentDigest.number(of: Array(text.utf8))
  }

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
