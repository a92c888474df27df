import Base
import Cache
import Catalog
import Synchronization
import Transport

/// A reference to a picture in a newly decoded section or detail.
struct PictureReference: Sendable {
  /// The key of ``identity``.
  var id: PictureID
  /// The picture's identity, which is stored with the item: the URL or a part of it, or the feed's text if that is
  /// not a URL.
  var identity: String
  /// The picture's URL, or the reason why the feed's text cannot be used as a URL.
  var url: Result<WebURL, TransferFailure>
}

extension RunContext {
  /// The pictures that an item refers to, with absolute URLs.
  ///
  /// A relative URL is resolved against the catalog file's `base`, or against `base`, the document's own URL, if the
  /// file has none. Text that is not a fetchable URL becomes a picture that fails in every run until the feed is corrected.
  func references(to images: [ImageReference], base: WebURL?) -> [PictureReference] {
    let references = images.map { image in
      do throws(TransferFailure) {
        let url = try parse(named: image.url, relativeTo: localBase ?? base)
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

  /// The identity of the picture at a URL.
  func identity(of url: WebURL) -> String { catalog.pictures.identity.text(of: url.text) }

  /// Parses a URL from fetched data, and replaces the values of variables in it with `${NAME}`.
  func parse(
    named text: String,
    relativeTo base: WebURL?
  ) throws(TransferFailure) -> WebURL {
    let url = try transport.parse(URLSecrets.defused(text), relativeTo: base)
    return variables.isEmpty ? url : variables.veiled(url)
  }

  /// Parses a URL from a header field, in which ``SecretTransport`` has already replaced the values.
  func parse(
    header text: String,
    relativeTo base: WebURL?
  ) throws(TransferFailure) -> WebURL {
    try variables.isEmpty
      ? parse(named: text, relativeTo: base) : transport.parse(text, relativeTo: base)
  }
}

extension [ImageReference] {
  /// Replaces URLs with identities; text that is not a URL stays as the feed wrote it.
  mutating func resolve(_ references: some Sequence<PictureReference>) {
    for (place, reference) in zip(indices, references)
    where self[place].url != reference.identity {
      self[place] = ImageReference(role: self[place].role, url: reference.identity)
    }
  }
}

/// Writes the latest URLs of pictures into the index, for catalogs where only a part of a URL identifies the picture.
///
/// Items store only the identity, so that a new signature in the URL does not change an item.
final class NewestURLs: Sendable {
  private let index: Index
  private let waiting = Mutex<[(id: PictureID, url: String, identity: String)]>([])
  private let failed: @Sendable (LarderError) -> Void

  /// The number of URLs written in one transaction.
  private static let batch = 4096

  /// Makes a writer for an index; calls `failed` when a write fails.
  init(_ index: Index, failed: @escaping @Sendable (LarderError) -> Void) {
    (self.index, self.failed) = (index, failed)
  }

  /// Adds the URLs of pictures.
  func add(_ references: [PictureReference]) {
    let full = waiting.withLock { waiting in
      for reference in references {
        guard case .success(let url) = reference.url else { continue }
        waiting.append((reference.id, url.text, reference.identity))
      }
      return waiting.count >= Self.batch
    }
    if full { flush() }
  }

  /// Writes the waiting rows.
  func flush() {
    let waiting = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    do throws(LarderError) { try index.note(newest: waiting) } catch { failed(error) }
  }
}
