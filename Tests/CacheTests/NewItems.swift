@testable import Cache

extension NewItem {
  /// The item as the index returns it.
  var record: ItemRecord { ItemRecord(key: key, body: body) }
}

extension PictureAddress {
  /// The address of a picture whose identity is its URL.
  init(_ url: String) { self.init(id: PictureID(url: url), url: url, identity: url) }
}
