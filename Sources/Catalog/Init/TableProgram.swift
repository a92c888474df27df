/// A jq program that gives the rows of a table in JSON the names of the columns.
struct TableProgram: Hashable {
  /// The comment that explains the program in the catalog file.
  static let comment = "# A table: its columns have their names once, here each row gets them."
  /// The program.
  ///
  /// Its output is `{"items": […]}`.
  let program: String

  /// Chooses the program for a response, or returns nil if the response can be read as it is.
  init?(for root: JSONNode) {
    guard let table = Self.table(root) else { return nil }
    program = table
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

  /// Runs the program on a response.
  ///
  /// - Returns: The output, or nil if the program fails: libjq is missing, or the response has an unexpected form.
  func applied(to body: [UInt8]) -> JSONNode? {
    do throws(CatalogError) {
      let made = try Transform(compiling: program).apply(to: body, of: "the response")
      return try JSONDocument(parsing: made, of: "the response, joined").root
    } catch {
      return nil
    }
  }
}
