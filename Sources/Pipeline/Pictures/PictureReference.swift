import Base
import Cache
import Catalog
import Synchronization
import Transport

/// A picture that a section or detail just decoded refers to.
struct PictureReference: Sendable {
  /// The key of ``identity``.
  var id: PictureID
  /// The picture's identity, which an item keeps: its URL or a part of it; the feed's own text when that is no URL.
  var identity: String
  /// Its URL, or why it has none.
  var url: Result<WebURL, TransferFailure>
}

extension RunContext {
  /// Which pictures an item refers to, with their URLs as they will be sent.
  ///
  /// Text that is no fetchable URL is a picture that fails: now, and in every run until the feed is corrected.
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

  /// The identity of the picture at a URL.
  func identity(of url: WebURL) -> String { catalog.pictures.identity.text(of: url.text) }

  /// Parses a URL that fetched data names, with the environment's values out of it.
  func parse(
    named text: String,
    relativeTo base: WebURL?
  ) throws(TransferFailure) -> WebURL {
    let url = try transport.parse(URLSecrets.defused(text), relativeTo: base)
    return variables.isEmpty ? url : variables.veiled(url)
  }

  /// Parses a URL of a header field, in which ``SecretTransport`` has replaced the values.
  func parse(
    header text: String,
    relativeTo base: WebURL?
  ) throws(TransferFailure) -> WebURL {
    try variables.isEmpty
      ? parse(named: text, relativeTo: base) : transport.parse(text, relativeTo: base)
  }
}

extension [ImageReference] {
  /// Replaces URLs by identities; text that is no URL stays as the feed wrote it.
  mutating func resolve(_ references: some Sequence<PictureReference>) {
    for (place, reference) in zip(indices, references)
    where self[place].url != reference.identity {
      self[place] = ImageReference(role: self[place].role, url: reference.identity)
    }
  }
}

/// The URLs that a run's feeds name for pictures whose identity is less than their URL, on their way into the index.
///
/// An item keeps the identity alone, so that a new signature changes no item.
final class NewestURLs: Sendable {
  private let index: Index
  private let waiting = Mutex<[(id: PictureID, url: String, identity: String)]>([])
  private let failed: @Sendable (LarderError) -> Void

  /// How many are written in one transaction.
  private static let batch = 4096

  /// Writes into an index, and tells when that fails.
  init(_ index: Index, failed: @escaping @Sendable (LarderError) -> Void) {
    (self.index, self.failed) = (index, failed)
  }

  /// Notes the URLs of pictures.
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
