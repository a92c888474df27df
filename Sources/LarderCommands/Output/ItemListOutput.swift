import Pipeline

/// A list of items on its way to stdout, each batch written when it is there.
///
/// What comes first is seen at once, and `| head` ends the rest.
struct ItemListOutput {
  /// Whether it is one JSON array, and else a table.
  let isJSON: Bool
  private var table: ItemTable
  private var isBegun = false

  init(isJSON: Bool, table: ItemTable) {
    self.isJSON = isJSON
    self.table = table
  }

  /// Writes items behind those before them.
  mutating func add(_ items: [ShownItem]) throws {
    guard !items.isEmpty else { return }
    if isJSON {
      let elements = try ItemDocument.list(items).dropFirst().dropLast()
      Output.part((isBegun ? [UInt8(ascii: ",")] : [UInt8(ascii: "[")]) + elements)
    } else {
      Output.data(table.lines(of: items))
    }
    isBegun = true
  }

  /// Ends the list.
  func end() {
    if isJSON { Output.part(Array((isBegun ? "]\n" : "[]\n").utf8)) }
  }
}
