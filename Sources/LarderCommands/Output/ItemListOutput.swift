import Pipeline

/// A list of items on its way to stdout, each batch written when it is there.
///
/// The first items are shown at once, and `| head` stops the rest.
struct ItemListOutput {
  /// What is written.
  enum Form {
    /// A table for people.
    case table
    /// One JSON array.
    case json
    /// One FeatureCollection of the items that have a place. (RFC 7946)
    case geoJSON(catalog: String)

    /// What stands before the first element and behind the last; nil for a table.
    var brackets: (open: String, close: String)? {
      switch self {
      case .table: nil
      case .json: ("[", "]\n")
      case .geoJSON: (#"{"type":"FeatureCollection","features":["#, "]}\n")
      }
    }
  }

  private let form: Form
  private var table: ItemTable
  private var isBegun = false

  init(form: Form, table: ItemTable) {
    self.form = form
    self.table = table
  }

  /// Writes items behind those before them.
  mutating func add(_ items: [ShownItem]) throws {
    guard !items.isEmpty else { return }
    guard let brackets = form.brackets else { return Output.data(table.lines(of: items)) }
    let array: [UInt8]
    if case .geoJSON(let catalog) = form {
      array = try PlaceFeature.list(items, catalog: catalog)
    } else {
      array = try ItemDocument.list(items)
    }
    let elements = array.dropFirst().dropLast()
    guard !elements.isEmpty else { return }
    Output.part(Array((isBegun ? "," : brackets.open).utf8) + elements)
    isBegun = true
  }

  /// Ends the list.
  func end() {
    guard let brackets = form.brackets else { return }
    Output.part(Array(((isBegun ? "" : brackets.open) + brackets.close).utf8))
  }
}
