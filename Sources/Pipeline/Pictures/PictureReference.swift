import Base
import Cache
import Catalog
import Transport

/// A reference to a picture in an item or a detail that was just decoded.
struct PictureReference: Sendable {
  /// The picture's key, which is a hash of ``identity``.
  var id: PictureID
  /// The text that identifies the picture, and is stored with the item.
  ///
  /// It is the picture's URL or a part of it. For example, `https://cdn.example/1.jpg` identifies the picture at
  /// `https://cdn.example/1.jpg?Signature=x` if the catalog file ignores the query. If the shop's text is not a URL, it
  /// is that text.
  var identity: String
  /// The picture's URL, or the reason why the shop's text cannot be used as a URL.
  var url: Result<WebURL, TransferFailure>

  /// The address as the index stores it.
  var address: PictureAddress {
    PictureAddress(id: id, url: (try? url.get())?.text ?? identity, identity: identity)
  }
}

extension RunContext {
  /// Resolves an item's references to pictures to absolute URLs.
  ///
  /// A relative URL is resolved against `base`. Text that is not a fetchable URL becomes a picture that fails in every run until the feed is corrected.
  func references(to images: [ImageReference], base: WebURL?) -> [PictureReference] {
    images.map { image in
      do throws(TransferFailure) {
        let url = try parse(named: image.url, relativeTo: base)
        let identity = identity(of: url)
        return PictureReference(
          id: PictureID(url: identity),
          identity: identity,
          url: .success(url)
        )
      } catch {
        let text = variables.isEmpty ? image.url : variables.veiled(image.url)
        return PictureReference(id: PictureID(url: text), identity: text, url: .failure(error))
      }
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
  mutating func resolve(_ references: some Sequence<PictureReference>) {
    for (place, reference) in zip(indices, references)
    where self[place].url != reference.identity {
      self[place] = ImageReference(role: self[place].role, url: reference.identity)
    }
  }
}
