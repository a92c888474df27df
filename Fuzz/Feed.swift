import Glibc

/// Fuzzes the code that reads a shop's data; the environment variable `FUZZ` chooses the target.
///
/// The targets are JSON, listings and details in several built-in formats, the data in a page, catalog files, each
/// reader by its name, such as `csv`, and `init`, the proposal of a catalog file.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFeed(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  target(Array(UnsafeBufferPointer(start: bytes, count: count)))
  return 0
}

private let target: @Sendable ([UInt8]) -> Void =
  switch getenv("FUZZ").map({ String(cString: $0) }) {
  case "json": { fuzzJSON($0) }
  case "feed": { fuzzDecoding($0) }
  case "page": { fuzzPage($0) }
  case "catalog-file": { fuzzCatalogFile($0) }
  case "init": { fuzzProposal($0) }
  case let name: reader(name ?? "")
  }

private func reader(_ name: String) -> @Sendable ([UInt8]) -> Void {
  guard let reader = FuzzedReader(name) else {
    fatalError("set FUZZ to json, feed, page, catalog-file, init or a reader such as csv")
  }
  return { reader.check($0) }
}

/// Checks that the JSON parser accepts exactly the texts that the grammar allows, and that errors name a valid
/// position.
private func fuzzJSON(_ input: [UInt8]) {
  let grammar = JSONGrammar(input)
  do throws(CatalogError) {
    let root = try JSONDocument(parsing: input, depthLimit: 16).root
    expect(grammar != nil, "read what is no JSON")
    walk(root)
  } catch {
    expect(grammar.map { $0.depth > 16 } ?? true, "refused JSON: \(error)")
    expect(error.code == .malformedJSON || error.code == .tooDeep, "\(error)")
    checkPlace(error, in: input)
  }
}

/// Checks that every JSON value has the content of its kind; for example, a string has a text.
private func walk(_ node: JSONNode) {
  switch node.kind {
  case .string: expect(node.text != nil, "a string without text")
  case .integer: expect(node.integer != nil, "an integer without value")
  case .real: expect(node.real?.isFinite == true, "a number that is none")
  case .array:
    for element in node.elements { walk(element) }
    expect(node.elements.count == node.count && node[node.count] == nil, "a wrong count")
  case .object:
    for (name, value) in node.members {
      expect(node[name]?.kind == value.kind, "another member than listed")
      walk(value)
    }
  case .boolean, .null: expect(node.count == 0 && node.text == nil, "null with a value")
  }
}

/// Checks that decoded items stay the same when they are stored and read back.
///
/// Also checks that every element is either listed or skipped, and that errors name a valid position.
private func fuzzDecoding(_ input: [UInt8]) {
  for file in files {
    do throws(CatalogError) {
      let listing = try decodeSource(input, at: 0, using: file)
      let items = listing.sections.flatMap(\.items)
      let lost = listing.skipped.count { $0.lost == .item }
      expect(items.count + lost == listing.elementCount, "elements are lost")
      for item in items {
        expect(!item.id.isEmpty, "an item without id")
        expect(item.images.allSatisfy { !$0.url.isEmpty }, "a picture without address")
        expect((try? StoreItem(decoding: item.encoded())) == item, "stored otherwise: \(item)")
      }
    } catch {
      checkPlace(error, in: input)
    }
    do throws(CatalogError) {
      let detail = try decodeDetail(input, id: "A1", using: file)
      expect(detail.id == "A1", "another detail")
      expect((try? ItemDetail(decoding: detail.encoded())) == detail, "stored otherwise")
    } catch {
      checkPlace(error, in: input)
    }
    _ = try? decodeDetails(input, using: file)
  }
}

/// Microdata of a page becomes valid JSON, whose size is proportional to the page's.
private func fuzzPage(_ input: [UInt8]) {
  let page = Array("<html>".utf8) + input
  guard let data = try? PageData.read(page, "page") else { return }
  guard let json = try? data.microdata.json("page") else { return }
  expect(json.count <= 4 * (1 << 20 + 16 * page.count), "\(json.count) bytes of a page")
  expect(
    (try? JSONDocument(parsing: json)) != nil,
    "no JSON: \(String(decoding: json, as: UTF8.self))"
  )
}

/// Errors name a line, and the name in an accepted file is valid as the name of a folder.
private func fuzzCatalogFile(_ input: [UInt8]) {
  do throws(CatalogError) {
    let file = try CatalogFile(parsing: input, file: "fuzz.yaml")
    expect(!file.name.isEmpty && !file.name.contains("/") && file.name != "..", file.name)
  } catch {
    expect(error.isConfiguration, "\(error)")
    // For an empty file, there is no line to name.
    let isWhole = error.reason.hasPrefix("the file is empty")
    expect(error.line != nil || isWhole, "no line: \(error)")
    checkPlace(error, in: input)
  }
}

/// Checks that errors about malformed JSON have a position, and that every position is within the input.
private func checkPlace(_ error: CatalogError, in input: [UInt8]) {
  // The error for HTML or XML instead of JSON has no position.
  let isNamed = ["an HTML page", "an XML document"].contains { error.reason.hasPrefix($0) }
  if error.code == .malformedJSON || error.code == .tooDeep, !isNamed {
    expect(error.line != nil && error.column != nil, "no place: \(error)")
  }
  // In YAML, a line may also end with a carriage return, or with NEL, LS or PS, which are 2 or 3 bytes long.
  let ends = input.count { [0x0A, 0x0D, 0x85, 0xA8, 0xA9].contains($0) }
  if let line = error.line { expect((1...ends + 2).contains(line), "\(error)") }
  if let column = error.column { expect((1...input.count + 1).contains(column), "\(error)") }
}

private let files: [CatalogFile] = [
  "banchan", "shopify", "woocommerce", "dummyjson", "fakestore", "json-ld",
]
.map { format in
  catalogFile(
    """
    name: fuzz
    currency: \(format == "banchan" ? "KRW" : "USD")
    sections: [{key: main, title: Main, url: main}]
    format: \(format)
    \(format == "banchan" ? "detail: {url: \"detail/{id}\"}" : "")
    """
  )
}

/// Parses a catalog file of a target.
func catalogFile(_ text: String) -> CatalogFile {
  do {
    return try CatalogFile(parsing: Array(text.utf8), file: "fuzz.yaml")
  } catch {
    fatalError("\(error)")
  }
}
