import Foundation
import Support
import Testing

/// A shop that requires a token which only a command can supply.
private final class GuardedShop: Sendable {
  let folder: TemporaryFolder
  let server: ScriptedServer
  let catalog: String
  static let old = "Bearer old-t0ken-0123456789"
  static let new = "Bearer new-t0ken-9876543210"

  /// Starts the shop.
  ///
  /// `command` is the shell script that prints the token, and `accepted` the token that the shop accepts.
  /// `rules` are the catalog file's `headers` and `token`.
  init(
    command: String = "echo run >> runs; echo '\(GuardedShop.new)'; echo ignored",
    accepting accepted: String = GuardedShop.new,
    rules: String = "headers: {Authorization: \"${OLD}\"}\n"
      + "token: {header: Authorization, command: [\"./refresh\"]}"
  ) throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    server = ScriptedServer { request in
      let sent = request.header("Authorization")
      // An origin may repeat the token in its answer.
      if sent != accepted, !request.path.hasSuffix(".jpg") {
        return [.send(Self.answer(401, #"{"errors": "no entry for \#(sent ?? "nobody")"}"#))]
      }
      if request.path.hasSuffix(".jpg") { return [.send(Self.answer(404, ""))] }
      let id = request.path.dropFirst()
      return [
        .send(Self.answer(200, #"{"items": [{"id": "\#(id)", "t": "\#(id)", "i": "/x.jpg"}]}"#))
      ]
    }
    let sections = (1...8).map { "{key: s\($0), url: s\($0)}" }.joined(separator: ", ")
    catalog = try folder.write(
      """
      name: shop
      currency: KRW
      base: \(server.url())
      sections: [\(sections)]
      items: $.items
      item: {id: $.id, title: $.t, images: {thumbnail: $.i}}
      \(rules)
      """,
      to: "shop.yaml"
    )
    let script = try folder.write("#!/bin/sh\n\(command)\n", to: "refresh")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
  }

  deinit {
    server.close()
  }

  private static func answer(_ status: Int, _ body: String) -> String {
    "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)"
      + "\r\n\r\n\(body)"
  }

  /// Runs `larder` in the shop's folder.
  func larder(_ arguments: String) throws -> Command {
    try Command.shell(
      "cd '\(folder.path)' && $larder \(arguments) --cache cache --retries 0",
      environment: ["OLD": Self.old]
    )
  }

  /// The number of times that the command ran.
  var runs: Int {
    let text = try? String(contentsOfFile: folder.path("runs"), encoding: .utf8)
    return text?.split(separator: "\n").count ?? 0
  }

  /// The number of requests for documents with this token.
  func requests(with token: String?) -> Int {
    server.received.count { !$0.path.hasSuffix(".jpg") && $0.header("Authorization") == token }
  }
}

/// A catalog file's `token` command, which larder runs when the origin answers 401.
@Suite(.serialized) struct TokenTests {
  @Test("On a 401 the command runs once for all sections, and each is requested once more")
  func renewal() throws {
    let shop = try GuardedShop()

    let sync = try shop.larder("sync shop.yaml --json --thumbnails-only")

    let report = try Document(sync)
    #expect(report["items"]["total"].int == 8, "\(sync.output)")
    #expect(shop.runs == 1)
    #expect(shop.requests(with: GuardedShop.new) == 8)
    #expect((1...8).contains(shop.requests(with: GuardedShop.old)))
    // Pictures on the shop's own host get the token like the other headers.
    let pictures = shop.server.received.filter { $0.path.hasSuffix(".jpg") }
    #expect(!pictures.isEmpty)
    #expect(pictures.allSatisfy { $0.header("Authorization") == GuardedShop.new })
  }

  @Test("The token appears in no output, in no file of the cache and in no dry run")
  func secrecy() throws {
    let shop = try GuardedShop()

    let commands = [
      try shop.larder("sync shop.yaml --dry-run -vv"), try shop.larder("sync shop.yaml -vv"),
      try shop.larder("sync shop.yaml -vv --json --log-format json"),
    ]

    #expect(shop.runs == 2)
    for command in commands {
      for secret in ["new-t0ken", "old-t0ken"] {
        #expect(!command.output.contains(secret), "\(command.output)")
        #expect(!command.errors.contains(secret), "\(command.errors)")
      }
    }
    for (name, bytes) in try shop.folder.contents(below: "cache") {
      #expect(bytes.range(of: Data("new-t0ken".utf8)) == nil, "\(name)")
    }
  }

  @Test(
    "A new token that is refused too is the failure http-401, and the origin's echo of it is hidden"
  )
  func refusedAgain() throws {
    let shop = try GuardedShop(accepting: "Bearer another")

    let sync = try shop.larder("sync shop.yaml --json")

    #expect(sync.status == 1 || sync.status == 65, "\(sync.status)")
    let failure = try Document(sync)["failures"][0]
    #expect(failure["reason"].string == "http-401")
    #expect(failure["attempts"].int == 2)
    #expect(
      failure["detail"].string
        == "the origin also refuses the token that refresh printed; the origin says: no entry for Bearer ***"
    )
    #expect(shop.runs == 1)
    #expect(!sync.output.contains("t0ken"))
  }

  @Test(
    "A command that fails is reported with its stderr, and runs once",
    arguments: [
      ("echo run >> runs; echo 'no network' >&2; exit 3", "ended with status 3: no network"),
      ("echo run >> runs; exit 0", "printed nothing on its first line"),
      ("echo run >> runs; kill -9 $$", "was ended by signal 9"),
    ]
  )
  func failure(_ command: String, _ words: String) throws {
    let shop = try GuardedShop(command: command)

    let sync = try shop.larder("sync shop.yaml --json")

    let failures = try Document(sync)["failures"]
    #expect(failures.count == 8)
    #expect(
      failures[0]["detail"].string
        == "the token command refresh \(words); the origin says: no entry for ${OLD}"
    )
    #expect(shop.runs == 1)
  }

  @Test func `a deadline ends the command too, and what is left is unfinished`() throws {
    let shop = try GuardedShop(command: "sleep 60")

    let sync = try shop.larder("sync shop.yaml --json --deadline 1s")

    #expect(sync.status == 75)
    #expect(try Document(sync)["unfinished"].count ?? 0 > 0)
  }

  @Test(arguments: [("go+w", "chmod go-w"), ("o+w", "chmod go-w"), ("g+w", "chmod go-w")])
  func `a catalog file with a command is refused when others may write it`(
    _ change: String,
    _ remedy: String
  ) throws {
    let shop = try GuardedShop()
    _ = try Command.shell("chmod \(change) \(shop.catalog)")

    for command in ["sync", "warm"] {
      let ended = try Command.larder(
        [command, shop.catalog, "--cache", shop.folder.path("cache")],
        environment: ["OLD": GuardedShop.old]
      )
      #expect(ended.status == 78)
      #expect(
        ended.errors.contains("shop.yaml") && ended.errors.contains("names a command to run")
          && ended.errors.contains(remedy),
        "\(ended.errors)"
      )
    }
    #expect(!FileManager.default.fileExists(atPath: shop.folder.path("runs")))
  }

  @Test func `a catalog file with a command is refused in a folder where anybody may replace it`()
    throws
  {
    let shop = try GuardedShop()
    _ = try Command.shell("chmod 0777 \(shop.folder.path)")
    let check = ["catalog", "check", shop.catalog]
    let open = try Command.larder(check, environment: ["OLD": GuardedShop.old])
    _ = try Command.shell("chmod 1777 \(shop.folder.path)")
    let sticky = try Command.larder(check, environment: ["OLD": GuardedShop.old])

    #expect(open.status == 78 && open.errors.contains("its folder"), "\(open.errors)")
    #expect(sticky.status != 78, "\(sticky.errors)")
  }

  @Test("A missing program is named")
  func absent() throws {
    let shop = try GuardedShop(
      rules: "token: {header: Authorization, command: [larder-no-such-program]}"
    )

    let sync = try shop.larder("sync shop.yaml --json")

    let detail = try Document(sync)["failures"][0]["detail"].string ?? ""
    #expect(detail.hasPrefix("the token command larder-no-such-program cannot be started ("))
  }

  @Test("A token is used even if the file has no headers, and by catalog check too")
  func withoutHeaders() throws {
    let shop = try GuardedShop(
      rules: "token: {header: Authorization, command: [\"./refresh\"]}"
    )

    let sync = try shop.larder("sync shop.yaml --json --thumbnails-only")
    let check = try Command.shell("cd '\(shop.folder.path)' && $larder catalog check shop.yaml")

    #expect(try Document(sync)["items"]["total"].int == 8)
    #expect(shop.runs == 2)
    // The number is searched as a whole word, because a port may contain the same digits.
    #expect(!(check.output + check.errors).contains(#/\b401\b/#))
  }

  @Test("For a 401 without headers, the missing headers are named as the likely cause")
  func hint() throws {
    let shop = try GuardedShop(rules: "")

    let sync = try shop.larder("sync shop.yaml --json")

    #expect(
      try Document(sync)["failures"][0]["detail"].string
        == "the catalog file has no \"headers\" to send; the origin says: no entry for nobody"
    )
    #expect(shop.runs == 0)
  }

  @Test("Ctrl-C ends a command that hangs")
  func interruption() throws {
    let shop = try GuardedShop(command: "echo run >> runs; echo $$ > pipe; exec sleep 600")

    let line = """
      cd '\(shop.folder.path)'
      mkfifo pipe
      $larder sync shop.yaml --cache cache --retries 0 & larder=$!
      read pid < pipe
      kill -INT $larder; wait $larder; status=$?
      kill -0 $pid 2> /dev/null && echo alive
      exit $status
      """
    let clock = ContinuousClock()
    let start = clock.now
    let ended = try Command.shell(line, environment: ["OLD": GuardedShop.old])

    #expect(ended.status == 130, "\(ended.errors)")
    #expect(!ended.output.contains("alive"))
    #expect(clock.now - start < .seconds(20))
  }
}
