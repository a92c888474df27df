import Glibc
import SampleStore
import Testing

/// The output on a terminal, to a closed pipe and to a full device.
@Suite struct TerminalTests {
  /// A fault script that delays a section, so that the progress line is drawn several times.
  private static let slow = "path=/develop/soup delay=600ms"

  @Test func `on a terminal a sync shows its progress and removes it at the end`() throws {
    let shop = try Shop(faults: Self.slow)

    let sync = try shop.sync(terminal: .errors)

    #expect(sync.status == 0)
    #expect(sync.errors.contains(#/sections 1/2  details 2/2  pictures 4/4/#))
    #expect(sync.errors.contains("\r\u{1B}[K"))
    #expect(sync.output.hasPrefix("banchan: complete"))
  }

  @Test(arguments: [110, 80, 60, 40] as [UInt16])
  func `sync and warm show retries, and the host where there is room`(
    _ columns: UInt16
  ) throws {
    for words in [["sync"], ["warm"]] {
      let shop = try Shop(faults: "path=/pictures/S1.jpg hits=1 status=503 retry-after=1")
      shop.list([Shop.item("A1"), Shop.item("A2")], in: "main")

      let run = try Command.larder(
        words + [shop.catalog, "--cache", shop.cache],
        terminal: .errors,
        columns: columns
      )

      #expect(run.status == 0)
      let lines = run.errors.split(separator: "\r").map { $0.prefix { $0 != "\u{1B}" } }
      #expect(lines.allSatisfy { $0.count < columns })
      let told = lines.filter { $0.contains("  1 retrying") }
      #expect(!told.isEmpty, "\(lines)")
      if columns > 100 {
        #expect(told.allSatisfy { $0.hasSuffix("  \(shop.store.baseURL.dropFirst(7))") })
      }
      #expect(run.errors.hasSuffix("\r\u{1B}[K"))
    }
  }

  @Test(
    arguments: [
      (["--quiet"], [:]),
      (["--json"], [:]),
      ([], ["TERM": "dumb"]),
    ] as [([String], [String: String])]
  )
  func `progress is not shown when it is switched off`(
    _ flags: [String],
    _ environment: [String: String]
  ) throws {
    let shop = try Shop(faults: Self.slow)

    let sync = try Command.larder(
      ["sync", shop.catalog, "--cache", shop.cache] + flags,
      environment: environment,
      terminal: .errors
    )

    #expect(sync.status == 0)
    #expect(!sync.errors.contains("sections"))
    #expect(!sync.errors.contains("\u{1B}"))
  }

  @Test func `without a terminal there is no progress`() throws {
    let shop = try Shop(faults: Self.slow)

    let sync = try shop.sync()

    #expect(!sync.errors.contains("sections"))
    #expect(!sync.errors.contains("\r"))
  }

  @Test func `colours are used only on a terminal, unless they are switched off`() throws {
    let shop = try Shop()
    let plain = try shop.sync()
    let colored = try shop.larder("list", terminal: .output)
    let dumb = try shop.larder("list", environment: ["TERM": "dumb"], terminal: .output)
    let declined = try shop.larder("list", environment: ["NO_COLOR": "1"], terminal: .output)
    let flagged = try shop.larder("list", "--no-color", terminal: .output)
    let piped = try shop.larder("list")

    #expect(colored.output.contains("\u{1B}["))
    for command in [plain, dumb, declined, flagged, piped] {
      #expect(command.status == 0)
      #expect(!command.output.contains("\u{1B}"))
    }
  }

  @Test func `a list strikes the normal price through, or uses words without colours`() throws {
    let shop = try Shop()
    func item(_ id: String, _ title: String, _ price: String, _ normal: String) -> String {
      """
      {"detail_hash": "\(id)", "image": "/pictures/A1.jpg", "title": "\(title)",
       "n_price": "\(normal)", "s_price": "\(price)", "badge": ["특가"]}
      """
    }
    shop.list(
      [
        item("B1", "Soup", "900원", "12,000원"), item("B2", "오리 주물럭", "7,000원", ""),
        item("B3", "\u{1112}\u{1161}\u{11AB} 상", "7,000원", "8,000원"),
        item("B4", "👨‍👩‍👧 ❤️ ⭐", "7,000원", "7,000원"), item("B5", "🇰🇷 👍🏽", "7,000원", "8,000원"),
      ],
      in: "main"
    )
    #expect(try shop.sync("--no-details").status == 0)

    let shown = try shop.larder("list", "main", terminal: .output)
    let plain = try shop.larder("list", "main", environment: ["NO_COLOR": "1"], terminal: .output)

    let (struck, yellow, end) = ("\u{1B}[9m", "\u{1B}[33m", "\u{1B}[0m")
    let lines = shown.output.split(whereSeparator: \.isNewline).dropFirst()
    let expected: [String] = [
      "  B1    900원  \(struck)12,000원\(end)  Soup  \(yellow)[특가]\(end)",
      "  B2  7,000원            오리 주물럭  \(yellow)[특가]\(end)",
      "  B3  7,000원   \(struck)8,000원\(end)  \u{1112}\u{1161}\u{11AB} 상  \(yellow)[특가]\(end)",
      "  B4  7,000원            👨‍👩‍👧 ❤️ ⭐  \(yellow)[특가]\(end)",
      "  B5  7,000원   \(struck)8,000원\(end)  🇰🇷 👍🏽  \(yellow)[특가]\(end)",
    ]
    #expect(lines.map(String.init) == expected)
    let words = plain.output.split(whereSeparator: \.isNewline).dropFirst()
    #expect(
      words.map(String.init) == [
        "  B1    900원  (was 12,000원)  Soup  [특가]",
        "  B2  7,000원                  오리 주물럭  [특가]",
        "  B3  7,000원   (was 8,000원)  \u{1112}\u{1161}\u{11AB} 상  [특가]",
        "  B4  7,000원                  👨‍👩‍👧 ❤️ ⭐  [특가]",
        "  B5  7,000원   (was 8,000원)  🇰🇷 👍🏽  [특가]",
      ]
    )
  }

  @Test(arguments: ["list", "list --json", "show B100", "diff"])
  func `a closed pipe ends a command quietly`(_ words: String) throws {
    let shop = try Shop()
    // More than a pipe's buffer, so that the command still writes after its reader has closed the
    // pipe.
    shop.list((100...1400).map { Shop.item("B\($0)", picture: "A1") }, in: "main")
    #expect(try shop.sync("--no-details").status == 0)

    let command = try Command.shell(
      #""$larder" \#(words) --cache "$cache" | head -c 1 | wc -c; echo ${PIPESTATUS[0]}"#,
      environment: ["cache": shop.cache]
    )

    #expect(command.output.split(whereSeparator: \.isWhitespace) == ["1", "0"])
    #expect(command.errors == "")
  }

  @Test func `a failed write of output is status 74`() throws {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)

    let command = try Command.shell(
      #""$larder" list --cache "$cache" >/dev/full"#,
      environment: ["cache": shop.cache]
    )

    #expect(command.status == 74)
    #expect(command.errors.contains("no space left"))
  }

  @Test(arguments: ["sync", "sync --json", "warm --json"])
  func `a run ends with its status and its metrics, even if nobody can read its output`(
    _ words: String
  ) throws {
    let shop = try Shop()
    func run(_ place: String, _ name: String) throws -> (status: Int32, hasMetrics: Bool) {
      let command = try Command.shell(
        """
        cd "$folder"; mkfifo p; exec 3<>p 4>p 3<&-
        "$larder" \(words) "$catalog" --cache "$folder/\(name)" --metrics \(name).prom >\(place)
        """,
        environment: ["folder": shop.folder.path, "catalog": shop.catalog]
      )
      return (command.status, access(shop.folder.path("\(name).prom"), F_OK) == 0)
    }

    #expect(try run("&4", "one") == (0, true))
    #expect(try run("/dev/full", "two") == (74, true))
    shop.store.stop()
    #expect(try run("&4", "three").status == 69)
  }
}
