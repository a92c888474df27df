import Cache
import Catalog
import Transport

/// A picture that a section or detail just decoded refers to.
struct PictureReference: Sendable {
  /// The key of ``identity``.
  var id: PictureID
  /// What tells the picture from others, which an item keeps: its URL or less; the feed's own text when that is no URL.
  var identity: String
  /// Its URL, or why it has none.
  var url: Result<WebURL, TransferFailure>
}

extension RunContext {
  /// Which pictures an item refers to, with their URLs as they will be sent.
  ///
  /// What is no URL that larder fetches is a picture that fails: now, and in every run until the feed is mended.
  func references(to images: [ImageReference], base: WebURL?) -> [PictureReference] {
    let references = images.map { image in
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
    newestURLs?.add(references)
    return references
  }

  /// What tells the picture at a URL from others.
  func identity(of url: WebURL) -> String { catalog.pictures.identity.text(of: url.text) }

  /// Parses a URL that fetched data names, with the environment's values out of it.
  func parse(
    named text: String,
    relativeTo base: WebURL?
  ) throws(TransferFailure) -> WebURL {
    let url = try transport.parse(URLVariables.defused(text), relativeTo: base)
    return variables.isEmpty ? url : variables.veiled(url)
  }

  /// Parses a URL that a header field names, out of which ``VeilingTransport`` has taken the values.
  func parse(
    header text: String,
    relativeTo base: WebURL?
  ) throws(TransferFailure) -> WebURL {
    try variables.isEmpty
      ? parse(named: text, relativeTo: base) : transport.parse(text, relativeTo: base)
  }
}

extension [ImageReference] {
  /// Puts identities in place of URLs; what is no URL stays as the feed wrote it.
  mutating func resolve(_ references: some Sequence<PictureReference>) {
    for (place, reference) in zip(indices, references)
    where self[place].url != reference.identity {
      self[place] = ImageReference(role: self[place].role, url: reference.identity)
    }
  }
}
