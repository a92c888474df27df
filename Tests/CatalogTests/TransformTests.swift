import Foundation
import Synchronization
import Testing

@testable import Catalog

/// jq programs in a catalog file (`transform`), which rewrite a response before it is decoded.
struct TransformTests {
  private func make(_ program: String, _ body: String, _ limits: Transform.Limits? = nil) throws
    -> String
  {
    let made = try Transform(compiling: program)
      .apply(to: bytes(body), of: "section main", limits: limits)
    return String(decoding: made, as: UTF8.self)
  }

  private func failure(_ program: String, _ body: String = "{}", _ limits: Transform.Limits? = nil)
    -> CatalogError?
  {
    do {
      _ = try make(program, body, limits)
      return nil
    } catch {
      return error as? CatalogError
    }
  }

  @Test(
    arguments: [
      (".", #"{"a":[1,null,"메뉴"]}"#, #"{"a":[1,null,"메뉴"]}"#),
      (
        "{items: [.products | to_entries[] | .value + {id: .key}]}",
        #"{"products":{"a":{"t":"A"}}}"#,
        #"{"items":[{"t":"A","id":"a"}]}"#
      ),
      (
        "{sections: (group_by(.c) | map({key: .[0].c, items: map(.id)}))}",
        #"[{"id":1,"c":"x"},{"id":2,"c":"y"},{"id":3,"c":"x"}]"#,
        #"{"sections":[{"key":"x","items":[1,3]},{"key":"y","items":[2]}]}"#
      ),
      (
        "INDEX(.stock[]; .id) as $s | [.items[] | .n = $s[.id].n]",
        #"{"items":[{"id":"a"}],"stock":[{"id":"a","n":4}]}"#, #"[{"id":"a","n":4}]"#
      ),
      (
        "[.p[] as $p | $p.variants[] | {id: .sku, title: $p.title}]",
        #"{"p":[{"title":"T","variants":[{"sku":"s"}]}]}"#, #"[{"id":"s","title":"T"}]"#
      ),
    ])
  func `a response is replaced by the program's output`(
    program: String,
    body: String,
    made: String
  ) throws {
    #expect(try make(program, body) == made)
  }

  @Test func `whole numbers that jq would round become text`() throws {
    let body = #"{"id":9007199254740993,"n":-9007199254740992,"big":123456789012345678901}"#

    #expect(
      try make(".", body)
        == #"{"id":"9007199254740993","n":-9007199254740992,"big":"123456789012345678901"}"#
    )
  }

  @Test(
    arguments: [
      (".a.b", "Cannot index number"), ("empty", "yields nothing"), (".,.", "more than one value"),
      ("env", "env is not available"), ("[inputs]", "inputs is not available"),
      ("input_filename", "input_filename is not available"), ("debug", "debug is not available"),
      ("halt", "halt is not available"), ("error({x: 1})", #"{"x":1}"#),
      (".a, error(\"late\")", "late"),
    ])
  func `a program that fails is reported with its reason`(program: String, words: String) {
    let error = failure(program, #"{"a":1}"#)

    #expect(error?.code == .transform)
    #expect(error?.isConfiguration == false)
    #expect(error?.description.contains(words) == true, "\(String(describing: error))")
  }

  @Test(
    arguments: [
      ("last(range(1e12))", 1, "1 s of processor time"),
      ("[range(1e12)]", 60, "48 MiB of memory"),
      ("def f: 1 + f; f", 60, "of memory"),
    ])
  func `a program that uses too much is ended, and only it`(
    program: String,
    seconds: Int,
    words: String
  ) {
    let error = failure(program, "{}", Transform.Limits(seconds: seconds, memory: 48 << 20))

    #expect(error?.code == .transform)
    #expect(error?.reason.contains(words) == true, "\(String(describing: error))")
  }

  @Test func `a program sees no environment and can open no file`() throws {
    #expect(failure("$ENV.HOME")?.isConfiguration == true)
    #expect(failure("import \"x\" as x; .")?.isConfiguration == true)
    #expect(try make("(try env catch 1)", "{}") == "1")
  }

  @Test
  func `a program runs in a fresh process with every privilege removed`()
    throws
  {
    let seen = Mutex<String?>(nil)
    let run = JQRun(
      program: "last(range(1e12))",
      limits: Transform.Limits(seconds: 20, memory: 48 << 20)
    ) {
      let children = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task"))?
        .flatMap { thread -> [Substring] in
          let path = "/proc/self/task/\(thread)/children"
          return (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: " ") ?? []
        }
      for child in children ?? [] {
        let read = { (name: String) in
          (try? String(contentsOfFile: "/proc/\(child)/\(name)", encoding: .utf8)) ?? ""
        }
        guard read("cmdline").hasPrefix("larder: jq"), read("comm") == "larder-jq\n" else {
          continue
        }
        seen.withLock { $0 = read("status") + read("environ") }
        return true
      }
      return false
    }

    guard case .refused(let words) = run.outcome(of: Array("{}".utf8)[...]) else {
      Issue.record("the program ended")
      return
    }

    #expect(words == "the run ended while it ran")
    let status = try #require(seen.withLock { $0 })
    #expect(status.contains("NoNewPrivs:\t1"))
    #expect(status.contains("Seccomp:\t2"))
    #expect(!status.contains("PATH="))
  }

  @Test func `an invalid program is an error with its line in the catalog file`() {
    let error = parsingError(
      """
      name: shop
      currency: KRW
      sections: {url: all}
      transform: |
        {sections: (
          group_by(.category) | map({key: .[0].category, items: .}
        )}
      """
    )

    #expect(error?.code == .catalogFile)
    #expect(error?.line == 7)
    #expect(error?.column == nil)
    #expect(error?.keyPath == "transform")
    #expect(error?.reason.contains("syntax error") == true, "\(String(describing: error))")
    #expect(parsingError("name: s\ncurrency: KRW\nsections: {url: a}\ntransform: nope")?.line == 4)
  }

  @Test func `the output of a transform is read as larder's own shape`() throws {
    let file = try CatalogFile(
      parsing: bytes(
        """
        name: shop
        currency: KRW
        sections: {url: all}
        transform: |
          {sections: (group_by(.category) | map({key: .[0].category, title: "T", items: map({
            id: .sku, title: .name, salePrice: .won, badges: ["new"],
            images: {thumbnail: .img, gallery: [.img]}})}))}
        """
      ),
      file: "shop.yaml"
    )
    let listing = try decodeSource(
      bytes(
        """
        [{"sku": 1, "name": "A", "won": 1200, "img": "a.jpg", "category": "x"},
         {"sku": 2, "name": "B", "won": 900, "img": "b.jpg", "category": "y"}]
        """
      ),
      at: 0,
      using: file
    )

    #expect(listing.sections.map(\.key) == ["x", "y"])
    #expect(listing.sections.map(\.title) == ["T", "T"])
    let item = try #require(listing.sections[1].items.first)
    #expect(item.id == "2")
    #expect(item.salePrice?.minorUnits == 900)
    #expect(item.images.map(\.url) == ["b.jpg", "b.jpg"])
    #expect(listing.skipped.isEmpty)
  }

  @Test func `paths read the transform's output, and paging the original body`() throws {
    let lines = """
      transform: "{rows: [.all[] | {n: .id, t: .name}]}"
      items: $.rows
      item: {id: $.n, title: $.t}
      paging: {next: $.more}
      """

    let listing = try decode(#"{"all": [{"id": 7, "name": "A"}], "more": "p2"}"#, lines)

    #expect(listing.sections[0].items.map(\.id) == ["7"])
    #expect(listing.nextPage == "p2")
  }

  @Test func `a changed transform changes the mapping`() throws {
    let one = try catalog("transform: \"{items: .a}\"").mapping.fingerprint
    let other = try catalog("transform: \"{items: .b}\"").mapping.fingerprint

    #expect(one != other)
    #expect(try catalog("\n\ntransform: \"{items: .a}\"").mapping.fingerprint == one)
  }

  @Test func `a section may have its own mapping`() throws {
    let file = try CatalogFile(
      parsing: bytes(
        """
        name: shop
        currency: KRW
        items: $.items
        item: {id: $.id, title: $.t, description: $.d}
        sections:
          - {key: plain, url: a}
          - {key: rows, url: b, items: $.rows, item: {title: $.name}, paging: {parameter: p}}
          - {key: made, url: c, transform: "{items: [.[] | {id, title: .n}]}"}
          - {key: fake, url: d, format: fakestore}
        """
      ),
      file: "shop.yaml"
    )
    let bodies = [
      #"{"items": [{"id": 1, "t": "A", "d": "D"}]}"#,
      #"{"rows": [{"id": 2, "name": "B", "d": "D"}]}"#,
      #"[{"id": 3, "n": "C"}]"#, #"[{"id": 4, "title": "E", "price": 1}]"#,
    ]

    let items = try bodies.indices.map { position in
      try decodeSource(bytes(bodies[position]), at: position, using: file).sections[0].items[0]
    }

    #expect(items.map(\.id) == ["1", "2", "3", "4"])
    #expect(items.map(\.title) == ["A", "B", "C", "E"])
    #expect(items.map(\.description) == ["D", "D", nil, nil])
    #expect(file.paging(ofSource: 0) == nil)
    #expect(file.paging(ofSource: 1)?.firstPage(of: "b") == "b?p=1")
    #expect(Set(bodies.indices.map { file.mapping(ofSource: $0).fingerprint }).count == 4)
  }

  @Test(
    arguments: [
      (
        """
        item: {id: $.id, title: $.n}
        sections:
          - {key: a, url: a, items: $.a}
          - {key: b, url: a, items: "$.b[?@.id > 2]"}
        """, ["1", "3"]
      ),
      (
        """
        sections:
          - {key: a, url: a, items: $.a, item: {id: $.id, title: $.n}}
          - {key: b, url: a, items: $.b, item: {id: $.n, title: $.n}}
        """, ["1", "B"]
      ),
      (
        """
        items: $.b
        sections:
          - {key: a, url: a, item: {id: $.n, title: $.n}}
          - {key: b, url: a, transform: "{items: .a}", item: {title: $.n}}
        """, ["B", "1"]
      ),
    ] as [(String, [String])]
  )
  func `the catalog may omit a key that every section has`(
    _ yaml: String,
    _ expected: [String]
  ) throws {
    let file = try CatalogFile(
      parsing: bytes("name: a\ncurrency: USD\n" + yaml),
      file: "shop.yaml"
    )
    let body = bytes(
      #"{"a": [{"id": 1, "n": "A"}], "b": [{"id": 2, "n": "B"}, {"id": 3, "n": "C"}]}"#
    )

    let items = try file.sections.indices.map { position in
      try #require(decodeSource(body, at: position, using: file).sections[0].items.first)
    }

    #expect(items.map(\.id) == expected)
  }

  @Test(arguments: [
    "item: {id: $.id, title: $.n}\nsections: [{key: a, url: a, items: $.a}, {key: b, url: b}]",
    "sections: [{key: a, url: a, items: $.a, item: {title: $.n}}]",
  ])
  func `a section without a required key is refused`(_ yaml: String) {
    #expect(throws: CatalogError.self) {
      try CatalogFile(parsing: bytes("name: a\ncurrency: USD\n" + yaml), file: "shop.yaml")
    }
  }

  @Test
  func `a response too large for a program is refused before it is parsed`() {
    let body = [UInt8](repeating: UInt8(ascii: "["), count: Transform.mostInput + 1)

    let error = #expect(throws: CatalogError.self) {
      try decodeSource(body, at: 0, using: catalog("items: $.items\ntransform: ."))
    }

    #expect(error?.code == .transform)
    #expect(error?.reason.contains("takes 256 MiB at most; this one has 257 MiB") == true)
    #expect(error?.remedy?.contains("in pages") == true)
  }
}
