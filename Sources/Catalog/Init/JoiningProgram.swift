/// A jq program that makes items of a response whose items are spread over several parts.
///
/// Some services send, for example, the pictures of all items in a list of their own, and an item names its picture by
/// an id. The program replaces such an id by the picture. It also gives the rows of a table the names of the columns.
struct JoiningProgram: Hashable {
  /// The comment that explains the program in the catalog file.
  let comment: String
  /// The program.
  ///
  /// Its output is `{"items": […]}`.
  let program: String

  /// Chooses the program for a response, or returns nil if the response can be read as it is.
  ///
  /// - Parameters:
  ///   - root: The response.
  ///   - format: The format whose program makes the items, although its own request and paging do not fit; nil if there
  ///     is none.
  init?(for root: JSONNode, format: Format?) {
    if let table = Self.table(root) {
      comment = "# A table: its columns have their names once, here each row gets them."
      program = table
      return
    }
    if let format, let transform = try? format.root["transform"]?.text() {
      comment = "# The program of the format \(format.name), which joins the parts of a response."
      program = transform.trimmed
      return
    }
    guard (try? FormatSignature.fits(Self.resources.map(JSONPath.init(parsing:)), root)) == true
    else { return nil }
    comment = "# As JSON:API sends it, items refer to other things by id: here they are joined."
    program = Self.joined
  }

  /// The program for a table in JSON, or nil if the response is not a table.
  ///
  /// The names of the columns are in the first row, or in a list of their own:
  /// `{"columns": ["id", "name"], "rows": [[1, "Cup"], [2, "Mug"]]}`.
  private static func table(_ root: JSONNode) -> String? {
    func isRow(_ node: JSONNode) -> Bool {
      node.kind == .array && !node.elements.contains { $0.kind == .object }
    }
    func isHead(_ node: JSONNode) -> Bool {
      node.elements.count > 1
        && node.elements.allSatisfy { $0.text.map { !$0.isEmpty && !$0.contains("://") } ?? false }
    }
    let named = "[$names, .] | transpose | map({(.[0]): .[1]}) | add"
    let lists =
      root.kind == .array
      ? [(".", root)] : root.members.map { (JQText.member($0.name), $0.value) }
    for (here, list) in lists {
      let rows = list.elements
      guard rows.count > 1, rows.allSatisfy(isRow), let width = rows.first?.elements.count,
        width > 1
      else { continue }
      if isHead(rows[0]) { return "\(here) | .[0] as $names | {items: [.[1:][] | \(named)]}" }
      let head = root.members.first { isHead($0.value) && $0.value.elements.count == width }
      guard let head else { continue }
      return "\(JQText.member(head.name)) as $names | {items: [\(here)[] | \(named)]}"
    }
    return nil
  }

  /// The paths that every response of JSON:API with included resources has. (jsonapi.org)
  private static let resources = ["$.included[0].attributes", "$.data[0].attributes"]

  /// The program that gives each resource of JSON:API its attributes, and those of the resources to which it refers.
  private static let joined = """
    INDEX(.included[]; "\\(.type) \\(.id)") as $linked
    | def one: $linked["\\(.type) \\(.id)"].attributes;
    {items: [.data[] | .attributes + {id} + ((.relationships // {}) | map_values(.data
      | if type == "array" then [.[] | one | values] elif type == "object" then one else null end))]}
    """

  /// Runs the program on a response.
  ///
  /// - Returns: The output.
  /// - Throws: ``CatalogError`` if the program fails: libjq is missing, the program takes too long, or the response has
  ///   an unexpected form.
  func applied(to body: [UInt8]) throws(CatalogError) -> JSONNode {
    do throws(CatalogError) {
      let made = try Transform(compiling: program).apply(to: body, of: "the response")
      return try JSONDocument(parsing: made, of: "the response, joined").root
    } catch {
      throw .shape(
        "the response",
        "its parts cannot be joined: \(error.reason)",
        remedy: "write transform, items and item by hand"
      )
    }
  }
}
