import Foundation
import Glibc
import SampleStore
import Support
import Testing

/// Uses a random secret in every place that takes one, then searches for the secrets in everything
/// that a run leaves.
@Suite struct CanaryTests {
  /// The secrets, one for each place.
  private struct Canaries {
    let header = Canaries.make("hd/")
    let password = Canaries.make("pw+")
    let webhook = Canaries.make("wh~")

    private static func make(_ kind: String) -> String {
      kind + String(UInt64.random(in: 1 << 60 ... .max), radix: 36) + "=/+~"
        + String(UInt64.random(in: 1 << 60 ... .max), radix: 36)
    }

    /// The forms of a secret: raw, percent-encoded in upper and lower case, in hexadecimal, and in
    /// base64 at every alignment.
    var forms: [Data] {
      [header, password, webhook].flatMap { secret in
        let bytes = Array(secret.utf8)
        let escaped = secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? secret
        let shifted = (0..<3).map { shift in
          // The first and last base64 groups depend on the text around the secret.
          let text = Data([UInt8](repeating: 0x20, count: shift) + bytes).base64EncodedString()
          return String(text.dropFirst(4).prefix(bytes.count / 3 * 4 - 8))
        }
        let hexadecimal = bytes.map { String($0, radix: 16) }.joined()
        return [secret, String(secret.dropFirst(4)), escaped, escaped.lowercased(), hexadecimal]
          + shifted + shifted.map { $0.replacing("+", with: "-").replacing("/", with: "_") }
      }
      .map { Data($0.utf8) }
    }
  }

  /// The command lines of all processes on this machine.
  private static func commandLines() throws -> Data {
    let names = try FileManager.default.contentsOfDirectory(atPath: "/proc")
    var all = Data()
    for name in names where name.allSatisfy(\.isNumber) {
      all += FileManager.default.contents(atPath: "/proc/\(name)/cmdline") ?? Data()
    }
    return all
  }

  @Test func `no secret appears in output, files, databases or the process list`() throws {
    let canaries = Canaries()
    let shop = try Shop(
      faults: """
        path=/pictures/S1.jpg hang
        path=/pictures/A2.jpg status=404
        path=/develop/soup hits=3.. status=500
        path=/orders hits=1 hang
        path=/orders hits=2 status=503
        """,
      headers: #"headers: {token: "${STORE_TOKEN}"}"#
    )
    let escaped =
      canaries.password.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let host = shop.store.baseURL.dropFirst("http://".count)
    try String(contentsOfFile: shop.catalog, encoding: .utf8)
      .replacing(shop.store.baseURL, with: "http://clerk:\(escaped)@\(host)")
      .write(toFile: shop.catalog, atomically: true, encoding: .utf8)
    let environment = [
      "STORE_TOKEN": canaries.header,
      "LARDER_ORDERS": shop.folder.path("state/orders.sqlite"),
      "LARDER_WEBHOOK_URL": shop.store.baseURL + "/orders?key=" + canaries.webhook,
      "LARDER_WEBHOOK_SECRET": "whsec_" + Data(canaries.webhook.utf8).base64EncodedString(),
    ]
    let sync = ["sync", shop.catalog, "--cache", shop.cache, "-vv", "--retries", "1"]
    var processes = Data()
    var commands: [Command] = []
    func run(_ arguments: String...) throws {
      commands.append(try Command.larder(arguments, environment: environment))
    }
    /// Runs a command until the store has received a request for `path`.
    ///
    /// Then records the list of processes, and ends the command.
    func interrupt(_ arguments: [String], at path: String) throws {
      shop.store.clearRequests()
      let running = try Running(Command.binary, arguments, environment: environment)
      let deadline = ContinuousClock.now + .seconds(30)
      while !shop.store.requests.contains(where: { $0.path == path }),
        ContinuousClock.now < deadline
      { poll(nil, 0, 5) }
      #expect(shop.store.requests.contains { $0.path == path })
      processes += try Self.commandLines()
      running.send(SIGTERM)
      commands.append(try running.wait())
    }

    shop.store.faults = try FaultScript(text: "path=/pictures/S1.jpg hits=1 hang")
    try interrupt(sync, at: "/pictures/S1.jpg")
    shop.store.faults = try FaultScript(
      text: """
        path=/pictures/A2.jpg status=404
        path=/develop/soup hits=2.. status=500
        path=/orders hits=1 hang
        path=/orders hits=2 status=503
        """
    )
    commands.append(try Command.larder(sync, environment: environment))
    commands.append(try Command.larder(sync + ["--json"], environment: environment))
    try run("order", "place", "A1", "--by", "Jiyeon", "--cache", shop.cache, "-vv")
    try interrupt(["order", "send", "-vv"], at: "/orders")
    for payload in ["slack", "json"] {
      try run("order", "send", "-vv", "--payload", payload, "--on-ambiguous", "resend")
    }
    try run("warm", shop.catalog, "--cache", shop.cache, "-vv", "--log-format", "json")
    try run("order", "list", "--json")
    for command in [["list"], ["status"], ["diff"], ["show", "A1"]] {
      commands.append(
        try Command.larder(command + ["--json", "--cache", shop.cache], environment: environment)
      )
    }

    // Every secret reached the server it was meant for.
    #expect(processes.range(of: Data(shop.cache.utf8)) != nil)
    #expect(commands.count { $0.status == 143 } == 2)
    #expect(commands.allSatisfy { [0, 3, 69, 143].contains($0.status) })
    #expect(shop.store.requests.contains { $0.query?.contains(canaries.webhook) == true })
    #expect(shop.store.requests.contains { $0.headers["token"] == canaries.header })
    // No secret appears anywhere else.
    let cache = try shop.folder.contents(below: "cache")
    let state = try shop.folder.contents(below: "state")
    #expect(cache["index.sqlite"]?.isEmpty == false)
    #expect(state["orders.sqlite"]?.isEmpty == false)
    for form in canaries.forms {
      #expect(processes.range(of: form) == nil)
      for (name, bytes) in cache.merging(state, uniquingKeysWith: { $1 }) {
        #expect(bytes.range(of: form) == nil, "\(name)")
      }
      for (number, command) in commands.enumerated() {
        let said = Data((command.output + command.errors).utf8)
        #expect(said.range(of: form) == nil, "command \(number)")
      }
    }
  }
}
