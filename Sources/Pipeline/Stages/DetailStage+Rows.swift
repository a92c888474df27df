import Cache
import Catalog
import Transport

extension DetailStage {
  /// The row of a detail that was just decoded, and the pictures that it refers to.
  func entry(
    of detail: ItemDetail,
    _ document: DocumentEntry,
    base: WebURL?
  ) -> (entry: DetailEntry, references: [PictureReference]) {
    var detail = detail
    let references = context.references(to: detail.images, base: base)
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

  /// Notes what the detail that shows from now on lost.
  func noteLost(_ detail: DetailEntry) {
    guard let body = detail.body else { return }
    let lost = ItemDetail.lostFields(in: body)
    if !lost.isEmpty { state.withLock { $0.lost[detail.item] = lost } }
  }
}
