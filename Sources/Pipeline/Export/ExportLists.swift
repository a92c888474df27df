import Base
import Cache
import Catalog
import FoundationEssentials

/// The lists of an exported folder: `manifest.jsonl`, `manifest.csv` and `catalog.json`.
///
/// The lists are written batch by batch, so that only a few items are in memory at once.
struct ExportLists {
  private struct Row: Encodable {
    var catalog: String
    var section: String
    var item: String
    var title: String
    var role: String
    var url: String
    @OrNull var path: String?
    @OrNull var sha256: String?
    @OrNull var bytes: Int64?
    @OrNull var type: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
      case catalog, section, item, title, role, url, path, sha256, bytes, type
    }

    /// The line for `manifest.csv`, with the fields in the order of the keys.
    var line: CSVLine {
      CSVLine([
        .text(catalog), .text(section), .text(item), .text(title), .text(role), .text(url),
        .text(path), .text(sha256), .number(bytes.map(\.description)), .text(type),
      ])
    }
  }

  private struct SectionEntry: Encodable {
    let key: String
    let title: String
    @OrNull var subtitle: String?
  }

  /// The names of the lists.
  static let names = ["manifest.jsonl", "manifest.csv", "catalog.json"]

  private let exported: (String) -> ShownPicture?
  private let lines: ExportFile
  private let table: ExportFile
  private let document: ExportFile

  /// Begins the lists.
  ///
  /// - Parameters:
  ///   - folder: The folder.
  ///   - exported: Returns the picture with a URL as it is in the folder, with its path there; nil if it is not there.
  /// - Throws: ``LarderError`` when a file cannot be created.
  init(
    in folder: ExportFolder,
    exported: @escaping (String) -> ShownPicture?
  ) throws(LarderError) {
    self.exported = exported
    lines = try folder.file("manifest.jsonl")
    table = try folder.file("manifest.csv")
    document = try folder.file("catalog.json")
    let heading = CSVLine(heading: Row.CodingKeys.allCases.map(\.rawValue))
    try table.append(CSVLine.table([heading]).utf8)
  }

  /// Writes the catalog.
  ///
  /// - Parameters:
  ///   - catalog: The catalog.
  ///   - isStopped: Called between batches of items. If it returns true, the existing lists are left unchanged.
  /// - Returns: Whether the lists were written. False means that it was stopped.
  /// - Throws: ``LarderError`` when the cache cannot be read, or a file cannot be written.
  func write(_ catalog: ExportedCatalog, _ isStopped: () -> Bool) throws(LarderError) -> Bool {
    let entry = catalog.reader.catalog
    let (name, currency) = (try Self.json(entry.name), try Self.json(entry.currency))
    try document.append("{\"catalog\":\(name),\"currency\":\(currency),\"items\":[".utf8)
    var (batches, isFirst) = (catalog.batches, true)
    while let items = try batches.next() {
      if isStopped() { return false }
      try add(items, of: entry.name, isFirst: isFirst)
      isFirst = false
    }
    try document.append("],\"details\":{".utf8)
    guard try addDetails(of: catalog, isStopped) else { return false }
    let sections = catalog.sections.map {
      SectionEntry(key: $0.key, title: $0.title, subtitle: $0.subtitle)
    }
    try document.append("},\"sections\":".utf8)
    try document.append(Self.bytes(sections))
    try document.append("}\n".utf8)
    for file in [lines, table, document] { try file.finish() }
    return true
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
        try document.append("\(ids.count > 1 ? "," : "")\(key):".utf8)
        try document.append(Self.bytes(detail))
      }
    }
    return true
  }

  private func add(
    _ items: [ShownItem],
    of catalog: String,
    isFirst: Bool
  ) throws(LarderError) {
    var shown = items
    for number in shown.indices {
      for image in shown[number].pictures.indices {
        // A sync can have changed the rows of pictures since they were exported.
        let picture = shown[number].pictures[image]
        if var file = exported(picture.url) {
          file.role = picture.role
          shown[number].pictures[image] = file
        } else {
          shown[number].pictures[image].path = nil
        }
      }
    }
    let rows = shown.flatMap { item in item.pictures.map { row(of: $0, item, catalog) } }
    for row in rows { try lines.append(Self.bytes(row) + [UInt8(ascii: "\n")]) }
    try table.append(CSVLine.table(rows.map(\.line)).utf8)
    if !isFirst { try document.append(",".utf8) }
    let elements = try Self.bytes(shown.map { ItemDocument.Body(item: $0) })
    try document.append(elements.dropFirst().dropLast())
  }

  private func row(
    of image: ShownPicture,
    _ item: ShownItem,
    _ catalog: String
  ) -> Row {
    let isHere = image.path != nil
    return Row(
      catalog: catalog,
      section: item.sections.first ?? "",
      item: item.item.id,
      title: item.item.title,
      role: image.role.rawValue,
      url: image.url,
      path: image.path,
      sha256: isHere ? image.sha256 : nil,
      bytes: isHere ? image.bytes : nil,
      type: isHere ? image.type : nil
    )
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
