import Cache
import Catalog
import Transport

extension RunContext {
  /// Resolves an item's references to pictures to absolute URLs.
  ///
  /// A relative URL is resolved against `base`. Text that is not a fetchable URL becomes a picture that fails in every
  /// run until the feed is corrected.
  func addresses(of images: [ImageReference], base: WebURL?) -> [PictureAddress] {
    images.map { image in
      if let url = try? parse(named: image.url, relativeTo: base) {
        let identity = catalog.pictures.identity.text(of: url.text)
        return PictureAddress(id: PictureID(url: identity), url: url.text, identity: identity)
      }
      func kept(_ text: String) -> String { variables.isEmpty ? text : variables.veiled(text) }
      let text = kept(image.url)
      return PictureAddress(
        id: PictureID(url: text),
        url: kept(URLSecrets.defused(image.url)),
        identity: text
      )
    }
  }

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
