import Base
import Cache
import Catalog
import FoundationEssentials

/// The file `catalog.json` of an exported folder: the catalog, its sections, items and details.
///
/// It is written batch by batch, so that only a few items are in memory at once.
struct ExportDocument {
  private struct SectionEntry: Encodable {
    let key: String
    let title: String
    @OrNull var subtitle: String?
  }

  /// The name of the file.
  static let name = "catalog.json"

  private let exported: (String) -> ShownPicture?
  private let file: ExportFile

  /// Begins the file.
  ///
  /// - Parameters:
  ///   - folder: The folder.
  ///   - exported: Returns the picture with a URL as it is in the folder, with its path there; nil if it is not there.
  /// - Throws: ``LarderError`` when the file cannot be created.
  init(
    in folder: ExportFolder,
    exported: @escaping (String) -> ShownPicture?
  ) throws(LarderError) {
    self.exported = exported
    file = try folder.file(Self.name)
  }

  /// Writes the catalog.
  ///
  /// - Parameters:
  ///   - catalog: The catalog.
  ///   - isStopped: Called between batches of items. If it returns true, an existing file is left unchanged.
  /// - Returns: Whether the file was written. False means that it was stopped.
  /// - Throws: ``LarderError`` when the cache cannot be read, or the file cannot be written.
  func write(_ catalog: ExportedCatalog, _ isStopped: () -> Bool) throws(LarderError) -> Bool {
    let entry = catalog.reader.catalog
    let (name, currency) = (try Self.json(entry.name), try Self.json(entry.currency))
    try file.append("{\"catalog\":\(name),\"currency\":\(currency),\"items\":[".utf8)
    var (batches, isFirst) = (catalog.batches, true)
    while let items = try batches.next() {
      if isStopped() { return false }
      if !isFirst { try file.append(",".utf8) }
      isFirst = false
      let elements = try Self.bytes(items.map { ItemDocument.Body(item: placed($0)) })
      try file.append(elements.dropFirst().dropLast())
    }
    try file.append("],\"details\":{".utf8)
    guard try addDetails(of: catalog, isStopped) else { return false }
    let sections = catalog.sections.map {
      SectionEntry(key: $0.key, title: $0.title, subtitle: $0.subtitle)
    }
    try file.append("},\"sections\":".utf8)
    try file.append(Self.bytes(sections))
    try file.append("}\n".utf8)
    try file.finish()
    return true
  }

  /// The item with its pictures as they are in the folder.
  private func placed(_ item: ShownItem) -> ShownItem {
    var item = item
    for place in item.pictures.indices {
      // A sync can have changed the rows of pictures since they were exported.
      if var picture = exported(item.pictures[place].url) {
        picture.role = item.pictures[place].role
        item.pictures[place] = picture
      } else {
        item.pictures[place].path = nil
      }
    }
    return item
  }

  /// Writes the details as the members of a JSON object, by the ids of their items.
  ///
  /// A detail is the document about one item, with more data than the item has in a section.
  ///
  /// Reads the items a second time, because there can be too many details to keep in memory.
  ///
  /// - Returns: Whether all were written. False means that it was stopped.
  private func addDetails(
    of catalog: ExportedCatalog,
    _ isStopped: () -> Bool
  ) throws(LarderError) -> Bool {
    var ids: Set<ExactText> = []
    var batches = catalog.batches
    while let items = try batches.next() {
      if isStopped() { return false }
      for item in items {
        guard let detail = ItemDocument.detail(of: item), ids.insert(item.item.id.exact).inserted
        else { continue }
        let key = try Self.json(item.item.id)
        try file.append("\(ids.count > 1 ? "," : "")\(key):".utf8)
        try file.append(Self.bytes(detail))
      }
    }
    return true
  }

  private static func json(_ text: String) throws(LarderError) -> String {
    String(decoding: try bytes(text), as: UTF8.self)
  }

  private static func bytes(_ value: some Encodable) throws(LarderError) -> [UInt8] {
    do {
      return try value.jsonLine()
    } catch {
      throw LarderError(.damaged, "cannot write the catalog as JSON: \(error)", remedy: .repair)
    }
  }
}
