import Cache
import Catalog
import Transport

extension RunContext {
  /// The row of a detail that was just decoded, and the pictures that it refers to.
  func row(
    of detail: ItemDetail,
    _ document: DocumentEntry,
    base: WebURL?
  ) -> (entry: DetailEntry, references: [PictureReference]) {
    var detail = detail
    let references = references(to: detail.images, base: base)
    detail.images.resolve(references)
    let entry = DetailEntry(
      item: detail.id,
      document: document.id,
      state: .held,
      body: detail.encoded(),
      pictures: references.map(\.id)
    )
    return (entry, references)
  }

  /// Writes the rows of a detail and its document with the next group; `completion` is called once they are durable.
  func commit(
    _ detail: DetailEntry,
    _ document: DocumentEntry,
    completion: @escaping @Sendable () -> Void = {}
  ) {
    store.commit(detail, catalog: entry.id, document: document, completion: completion)
  }
}

extension DetailEntry {
  /// Whether the origin has what is held, as far as is known.
  var isCurrent: Bool { state == .held && since == nil }
}
