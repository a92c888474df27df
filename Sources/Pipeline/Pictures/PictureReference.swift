import Base
import Cache
import Catalog
import Transport

/// A reference to a picture in an item or a detail that was just decoded.
struct PictureReference: Sendable {
  /// The address that the index stores.
  let address: PictureAddress
  /// The parsed URL; nil if the shop's text is not a URL that can be fetched.
  let url: WebURL?
}

extension RunContext {
  /// Resolves an item's references to pictures to absolute URLs.
  ///
  /// A relative URL is resolved against `base`. Text that is not a fetchable URL becomes a picture that fails in every
  /// run until the feed is corrected. User names and passwords in the URLs are left out; those that the user gave are
  /// added to requests later.
  func references(to images: [ImageReference], base: WebURL?) -> [PictureReference] {
    images.map { image in
      if let url = try? parse(named: image.url, relativeTo: base) {
        let identity = identity(of: url)
        let id = PictureID(url: identity)
        return PictureReference(
          address: PictureAddress(id: id, url: url.text, identity: identity),
          url: url.userInfo == nil ? url : url.with(userInfo: nil)
        )
      }
      func kept(_ text: String) -> String { variables.isEmpty ? text : variables.veiled(text) }
      let text = kept(image.url)
      let (id, url) = (PictureID(url: text), kept(URLSecrets.defused(image.url)))
      return PictureReference(
        address: PictureAddress(id: id, url: url, identity: text),
        url: nil
      )
    }
  }

  /// The text that identifies the picture at a URL.
  func identity(of url: WebURL) -> String { catalog.pictures.identity.text(of: url.text) }

  /// Parses a URL from fetched data.
  ///
  /// If it contains the value of a variable of the catalog file, the value is replaced with `${NAME}`.
  func parse(
    named text: String,
    relativeTo base: WebURL?
  ) throws(TransferFailure) -> WebURL {
    let url = try transport.parse(URLSecrets.defused(text), relativeTo: base)
    return variables.isEmpty ? url : variables.veiled(url)
  }

  /// Parses a URL from a header field.
  ///
  /// ``SecretTransport`` has already replaced the values of variables in it.
  func parse(
    header text: String,
    relativeTo base: WebURL?
  ) throws(TransferFailure) -> WebURL {
    try variables.isEmpty
      ? parse(named: text, relativeTo: base) : transport.parse(text, relativeTo: base)
  }
}

extension Mapping {
  /// Chooses the URL that relative picture URLs in a document refer to.
  ///
  /// - Parameters:
  ///   - catalog: The `base` of the catalog file; nil if the file has none.
  ///   - document: The document's own URL, after redirects; nil for a file.
  /// - Returns: The catalog file's `base`, if there is one. In an HTML page, relative URLs refer to the page.
  func pictureBase(catalog: WebURL?, document: WebURL?) -> WebURL? {
    readsPages ? document ?? catalog : catalog ?? document
  }
}

extension [ImageReference] {
  /// Replaces each URL with the text that identifies its picture.
  ///
  /// Text that is not a URL stays as the shop wrote it.
  mutating func resolve(_ addresses: some Sequence<PictureAddress>) {
    for (place, address) in zip(indices, addresses) where self[place].url != address.identity {
      self[place] = ImageReference(role: self[place].role, url: address.identity)
    }
  }
}
