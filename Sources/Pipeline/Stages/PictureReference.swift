import Cache
import Catalog
import Transport

/// A picture that a section or detail just decoded refers to.
struct PictureReference: Sendable {
  /// The picture's identity; of the feed's own text when that is no URL.
  var id: PictureID
  /// Its URL, or why it has none.
  var url: Result<WebURL, TransferFailure>
  /// The text that an item keeps: the URL, or what the feed wrote.
  var text: String
}

extension RunContext {
  /// Which pictures an item refers to, with their URLs as they will be sent.
  ///
  /// What is no URL that larder fetches is a picture that fails: now, and in every run until the feed is mended.
  func references(to images: [ImageReference], base: WebURL?) -> [PictureReference] {
    images.map { image in
      do throws(TransferFailure) {
        let url = try parse(named: image.url, relativeTo: base)
        return PictureReference(id: PictureID(url: url.text), url: .success(url), text: url.text)
      } catch {
        let text = variables.isEmpty ? image.url : variables.veiled(image.url)
        return PictureReference(id: PictureID(url: text), url: .failure(error), text: text)
      }
    }
  }

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
  /// Makes each absolute, as it will be sent; what is no URL stays as the feed wrote it.
  mutating func resolve(_ references: some Sequence<PictureReference>) {
    for (place, reference) in zip(indices, references) where self[place].url != reference.text {
      self[place] = ImageReference(role: self[place].role, url: reference.text)
    }
  }
}
