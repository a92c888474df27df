import Foundation
import SampleStore
import Support
import Testing

/// Text that a shop sends is printed without control characters for people, and unchanged for
/// programs.
@Suite struct PlainOutputTests {
  /// Every kind of character with an effect on a terminal, between words that tests can find.
  static let hostile =
    "hos\u{1B}[31mtile\u{1B}]0;owned\u{07}\u{9B}2J\u{8}\u{7F}\r\nline\u{2028}two\u{202E}"
    + "\u{2066}\u{061C}\u{200F}\u{FEFF}\u{E0041}end"

  static func shop() throws -> Shop {
    let shop = try Shop()
    let text = String(decoding: try JSONEncoder().encode(hostile), as: UTF8.self)
    shop.store.content["/develop/soup.json"] = Resource(
      json: """
        {"statusCode": 200, "body": [{"detail_hash": "S1", "image": "/pictures/S1.jpg",
         "alt": \(text), "delivery_type": [\(text)], "title": \(text), "description": \(text),
         "n_price": "8,000원", "s_price": "7,000원", "badge": [\(text)]},
         {"detail_hash": \(text), "image": "/pictures/none.jpg", "title": \(text),
         "s_price": \(text)}]}
        """
    )
    return shop
  }

  /// The characters that must not reach a terminal.
  static func harm(in text: String) -> [Unicode.Scalar] {
    text.unicodeScalars.filter { scalar in
      scalar.properties.generalCategory == .control && scalar != "\n"
        || scalar.properties.isBidiControl || [0x2028, 0x2029, 0xFEFF].contains(scalar.value)
    }
  }

  @Test func `no command prints a control character of a feed to the terminal`() throws {
    let shop = try Self.shop()
    let environment = ["LARDER_ORDERS": shop.folder.path("orders.sqlite")]
    var commands = try [shop.sync(), shop.sync("-vv", "--log-format", "json")]
    shop.list([Shop.item("S1", price: "1원")], in: "main")
    commands.append(try shop.sync("--allow-removals", "-v"))
    for words in [
      "list", "show S1", "diff", "diff --runs", "history", "history --csv", "status", "verify",
      "gc --dry-run",
      "export \(shop.folder.path("out"))", "list --json", "show S1 --json", "diff --json",
      "status --json", "list none", "show none",
      "order place S1 --by \(Self.hostile.split(separator: "\r\n")[0]) --note \u{1B}[31m",
    ] {
      commands.append(
        try Command.larder(
          words.split(separator: " ").map(String.init) + ["--cache", shop.cache],
          environment: environment
        )
      )
    }
    for words in ["order list", "order list --json"] {
      commands.append(
        try Command.larder(
          words.split(separator: " ").map(String.init),
          environment: environment
        )
      )
    }

    for command in commands {
      let csv = command.output.replacing("\r\n", with: "\n")
      #expect(Self.harm(in: csv) == [], "\(command.output.debugDescription)")
      #expect(Self.harm(in: command.errors) == [], "\(command.errors.debugDescription)")
    }
    #expect(commands.contains { $0.output.contains("hos[31mtile") })
  }

  @Test func `JSON keeps every character, escaped`() throws {
    let shop = try Self.shop()
    _ = try shop.sync()

    let list = try shop.larder("list", "soup", "--json")

    #expect(try Document(list)[0]["title"].string == Self.hostile)
    let text = list.output.lowercased()
    for escape in [#"\u001b[31m"#, #"\u202e"#, #"\u009b2j"#, #"\udb40\udc41"#, #"\u2028"#] {
      #expect(text.contains(escape))
    }
  }

  @Test func `the only colours on a terminal are larder's own`() throws {
    let shop = try Self.shop()
    _ = try shop.sync()

    let list = try shop.larder("list", "soup", terminal: .output)

    #expect(list.output.contains("\u{1B}[33m[hos[31mtile"))
    #expect(!list.output.contains("\u{1B}[31m"))
  }

  @Test func `only lines for systemd's journal have a priority`() throws {
    let shop = try Shop(faults: "path=/pictures/A1.jpg status=404")
    shop.list([Shop.item("A1"), Shop.item("A2")], in: "main")
    let warm = "\"$larder\" warm '\(shop.catalog)' --cache '\(shop.cache)' --retries 0"
    let own = "JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2)"

    let journal = try Command.shell(
      "\(own) \(warm); \(own) \"$larder\" show none --cache '\(shop.cache)'"
    )
    let other = try Command.shell("rm -r '\(shop.cache)'; JOURNAL_STREAM=1:1 \(warm)")

    #expect(journal.errors.contains(#/^<4>warning: banchan: partial;/#))
    #expect(journal.errors.contains(#/\n<3>larder: cannot /#))
    #expect(other.errors.hasPrefix("warning: banchan: partial;"))
  }
}
