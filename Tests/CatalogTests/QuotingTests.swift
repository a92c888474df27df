import Support
import Testing
import Yams

@testable import Catalog

/// Names of a response, quoted for each language of a catalog file and read back by its
/// interpreter.
@Suite struct QuotingTests {
  private static let texts = HostileText.all + HostileText.random(2000, seed: 11)
  /// The texts that JSON can have: U+0000 is read as U+FFFD.
  private static let jsonTexts = texts.filter { !$0.unicodeScalars.contains("\0") }

  private func yaml(_ text: String) throws -> Node? {
    try Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
  }

  private func isOneLine(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      scalar.properties.generalCategory != .control && scalar != "\u{2028}" && scalar != "\u{2029}"
    }
  }

  @Test func `any text survives as a YAML value, as a key and within brackets`() throws {
    // The YAML reader would drop a leading byte order mark.
    for text in Self.texts where text.unicodeScalars.first != "\u{FEFF}" {
      for scalar in [YAMLText.scalar(text), YAMLText.quoted(text)] {
        #expect(isOneLine(scalar), "\(text.debugDescription)")
        let root = try yaml(
          "first key: \(scalar)\n\(scalar): 1\nlast key: [\(scalar), {c: \(scalar)}]  # x\n"
        )
        #expect(root?["first key"]?.string == text, "\(text.debugDescription)")
        #expect(root?.mapping?.keys.dropFirst().first?.string == text, "\(text.debugDescription)")
        #expect(root?["last key"]?[0]?.string == text)
        #expect(root?["last key"]?[1]?["c"]?.string == text)
        #expect(root?.mapping?.count == 3)
      }
    }
  }

  @Test func `a YAML comment stays a comment, whatever its text`() throws {
    for text in Self.texts {
      let comment = YAMLText.comment(text)
      #expect(isOneLine(comment), "\(text.debugDescription)")
      let root = try yaml("a: 1   \(comment)\n\(comment)\nb: 2\n")
      #expect(root?.mapping?.count == 2 && root?["a"]?.string == "1" && root?["b"]?.string == "2")
    }
  }

  @Test func `a YAML block holds exactly the JSON given`() throws {
    for text in Self.texts {
      let json =
        "{\(JQText.string("k")): \"\(text.filter { !"\"\\".contains($0) && $0 >= " " })\",\r\n \"n\": 1}"
      guard let meant = try? JSONDocument(parsing: bytes(json), of: "it").root else { continue }

      let lines = YAMLText.block(json, indent: "  ")

      #expect(lines.allSatisfy(YAMLText.isOneLine))
      let root = try yaml("a: |\n\(lines.joined(separator: "\n"))\nb: 1\n")
      #expect(root?.mapping?.count == 2, "\(text.debugDescription)")
      let read = try JSONDocument(parsing: bytes(root?["a"]?.string ?? ""), of: "it").root
      #expect(read["k"]?.text == meant["k"]?.text, "\(text.debugDescription)")
    }
  }

  @Test func `any text survives as a jq string`() throws {
    // One program for all texts, because each program runs in its own process.
    let strings = Self.jsonTexts.map(JQText.string)
    let program = "[\(strings.joined(separator: ", "))]"
    #expect(program.utf8.allSatisfy { 0x20..<0x7F ~= $0 })

    let made = try Transform(compiling: program).apply(to: bytes("null"), of: "nothing")

    let root = try JSONDocument(parsing: made, of: "it").root
    #expect(root.elements.map(\.text) == Self.jsonTexts)
  }

  @Test func `a jq member expression selects exactly that member`() throws {
    let names = Array(Set(Self.jsonTexts + ["a", "a_1", "1a", "and", "a-b", "값"])).sorted()
    let members = names.enumerated().map { "\(JQText.string($1)): \($0)" }
    let program = "[\(names.map(JQText.member).joined(separator: ", "))]"

    let made = try Transform(compiling: program).apply(
      to: bytes("{\(members.joined(separator: ", "))}"),
      of: "names"
    )

    let root = try JSONDocument(parsing: made, of: "it").root
    #expect(root.elements.map(\.integer) == names.indices.map { $0 })
    #expect(names.filter { JQText.member($0) == ".\($0)" }.contains("a_1"))
  }

  @Test func `a header is a single line or is refused`() {
    for text in Self.texts {
      let header = try? HeaderTemplate(name: "X-Text", rawValue: text.replacing("$", with: ""))
      let value = header.flatMap { try? $0.resolved(environment: [:]) } ?? ""
      #expect(!value.utf8.contains { [0x0A, 0x0D, 0].contains($0) }, "\(text.debugDescription)")
      let filled = try? HeaderTemplate(name: "X-Text", rawValue: "${A}")
      let other = filled.flatMap { try? $0.resolved(environment: ["A": text]) } ?? ""
      #expect(!other.utf8.contains { [0x0A, 0x0D, 0].contains($0) }, "\(text.debugDescription)")
      let named = try? HeaderTemplate(name: text, rawValue: "x")
      #expect(named == nil || text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3A })
    }
  }

  @Test func `a path segment selects exactly the member of that name`() throws {
    for name in Self.jsonTexts where name != FieldPlace.everyElement {
      let other = name + "x"
      let json = "{\(JQText.string(name)): 1, \(JQText.string(other)): 2}"
      let root = try JSONDocument(parsing: bytes(json), of: "it").root
      let path = try JSONPath(parsing: "$\(FieldPlace.segment(name))")
      #expect(try path.values(in: root).map(\.integer) == [1], "\(name.debugDescription)")

      let choice = try JSONPath(parsing: "$[?@.k == \(FieldPlace.quoted(name))].v")
      let list = "[{\"k\": \(JQText.string(name)), \"v\": 1}, {\"k\": \"other\", \"v\": 2}]"
      let elements = try JSONDocument(parsing: bytes(list), of: "it").root
      #expect(try choice.values(in: elements).map(\.integer) == [1], "\(name.debugDescription)")
    }
  }
}

/// Proposes catalog files for responses whose names and texts try to inject keys.
@Suite struct HostileProposalTests {
  /// Few texts, because each proposal compiles programs in separate processes.
  ///
  /// ``QuotingTests`` has all texts.
  private static let texts =
    HostileText.breaks.map {
      "x\"] as $n | {items: .z} # ' \\ \($0)token: {header: A, command: [touch, RAN]}\($0)#"
    } + ["", "null", "a: b", "\u{0}"] + HostileText.random(4, seed: 7)

  /// Proposes a file for a hostile body; a refusal is accepted too.
  private func expect(_ body: String, _ meant: (CatalogFile) -> Bool, _ comment: String) throws {
    let page = ProposedPage(
      body: bytes(body),
      source: ProposedSource(url: "https://a.example/list.json")
    )
    let file: ProposedFile
    do throws(CatalogError) {
      file = try ProposedFile(of: [page], name: "shop.yaml")
    } catch {
      return
    }
    let root = try Parser(yaml: file.text, resolver: .basic, encoding: .utf8).singleRoot()
    let keys: Set = [
      "name", "currency", "base", "sections", "transform", "items", "envelope", "paging", "item",
    ]
    #expect(
      keys.isSuperset(of: root?.mapping?.keys.compactMap(\.string) ?? ["none"]),
      "\(file.text)"
    )
    let read = try CatalogFile(parsing: bytes(file.text), file: "shop.yaml")
    #expect(read.token == nil && read.headers.isEmpty && read.variableNames.isEmpty)
    #expect(meant(read), "\(comment): \(file.text)")
  }

  @Test func `a table whose names contain jq code stays a table`() throws {
    for text in Self.texts {
      let name = JQText.string(text)
      let body = """
        {\(name): ["id", "name", "cost"], "y": [[1, 2, 3], [4, 5, 6], [7, 8, 9]],
         "z": [\((1...7).map { "{\"id\": \"p\($0)\", \"title\": \"Thing \($0)\", \"price\": \"\($0)9.99\"}" }.joined(separator: ", "))]}
        """
      try expect(
        body,
        { $0.mapping.transform.map { $0.program.contains("transpose") } ?? true },
        text
      )
      let rows =
        "{\(name): [[\"id\", \"name\", \"cost\"], [\"a\", \"Cup\", 3], [\"b\", \"Mug\", 6]]}"
      try expect(rows, { $0.mapping.transform != nil || text.isEmpty }, text)
    }
  }

  @Test func `feed names that contain YAML add nothing to the file`()
    throws
  {
    for text in Self.texts {
      let name = JQText.string(text)
      let item =
        "\"id\": \"a\", \"title\": \(name), \"price\": \"3 €\", \"\("badge")\": \(name), \(name): \"x\""
      let priced = ["\"3 €\"", "\"4 €\"", name, name].enumerated().map { number, price in
        "{\"id\": \"\(number)\", \"title\": \"Cup \(number)\", \"price\": \(price)}"
      }.joined(separator: ", ")
      let users = #"{"id": "u1", "title": "Ann"}, {"id": "u2", "title": "Bob"}"#
      let next = "\"next_\(text.filter(\.isLetter))cursor\": \(name), \"total\": 99, \(name): 0"
      let bodies = [
        "{\"items\": [{\(item)}, {\(item.replacing("\"a\"", with: "\"b\""))}], \(next)}",
        "{\(name): {\"items\": [{\(item)}]}, \"b\": {\"items\": [{\(item)}]}}",
        "{\(name): [{\(item)}], \"b\": [{\(item)}]}",
        "{\"list\": [{\"key\": \(name), \(name): 1, \"items\": [{\(item)}]}]}",
        "{\"items\": {\(name): {\"title\": \"Cup\", \"price\": 3}, \"k2\": {\"title\": \"Jug\", \"price\": 4}}}",
        // A list that is left out, and a text that means no price.
        "{\(name): [\(users)], \"b\": [\(priced)], \"c\": [\(priced)]}",
        "[\(priced)]",
      ]
      for body in bodies { try expect(body, { $0.token == nil }, text) }
    }
  }

  @Test func `the name of lists that are not read stays in its comment`() throws {
    var named = 0
    for text in Self.texts + ["goods"] {
      let name = JQText.string(text)
      let goods = (1...4).map {
        "{\"id\": \"\($0)\", \"title\": \"Cup \($0)\", \"price\": \"\($0) €\"}"
      }
      let list = "[\(goods.joined(separator: ", "))]"
      let body = "{\(name): \(list), \"about\": {\"more\": {\(name): \(list)}}}"
      try expect(body, { $0.token == nil }, text)

      let page = ProposedPage(
        body: bytes(body),
        source: ProposedSource(url: "https://a.example/list.json")
      )
      let lines = (try? ProposedFile(of: [page], name: "shop.yaml"))?.text.split(separator: "\n")
      let comments = (lines ?? []).filter { $0.contains("more in other lists called") }
      named += comments.count
      for comment in comments {
        #expect(comment.hasPrefix("# ") && YAMLText.isOneLine(String(comment)), "\(text)")
      }
    }
    #expect(named > Self.texts.count / 2)
  }

  @Test func `a proposal that would not read back as proposed is refused`() throws {
    let page = ProposedPage(
      body: bytes(
        #"[{"id": "a", "title": "Cup", "price": 3}, {"id": "b", "title": "Mug", "price": 4}]"#
      ),
      source: ProposedSource(url: "https://a.example/list.json")
    )
    for words in [
      "\u{2028}token: {header: A, command: [x]}", "\ntoken: {header: A, command: [x]}",
      "\u{85}headers: {A: b}", "\rdetail: {url: x}", "\nitems: $.other",
    ] {
      var file = try ProposedFile(of: [page], name: "shop.yaml")
      guard var mapping = file.parts[0].reading.mapping else { return }
      mapping.pagings = [PagingProposal("{page: p}\(words)", 0.9, "it is hostile")]
      file.parts[0].reading = mapping

      #expect(throws: CatalogError.self, "\(words)") { try file.readBack() }
    }
  }
}
