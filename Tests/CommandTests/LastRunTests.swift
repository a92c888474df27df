import Foundation
import SampleStore
import Support
import Testing

/// The record `last-run.json` for monitoring, and the commands of `--on-failure` and
/// `--on-change`.
@Suite struct LastRunTests {
  /// The record in the shop's cache, validated by its schemas.
  private func record(_ shop: Shop) throws -> [String: Any] {
    try Self.checked(try shop.folder.text("cache/last-run.json"))
  }

  private static func checked(_ text: String) throws -> [String: Any] {
    #expect(try JSONSchema("last-run").findings(in: text) == [])
    let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
    let record = try #require(value as? [String: Any])
    for catalog in record["catalogs"] as? [[String: Any]] ?? [] {
      let report = String(
        decoding: try JSONSerialization.data(withJSONObject: catalog),
        as: UTF8.self
      )
      #expect(try JSONSchema("sync").findings(in: report) == [])
    }
    return record
  }

  /// Writes an executable script into the shop's folder.
  private func script(_ lines: String, in shop: Shop) throws -> String {
    let path = try shop.folder.write("#!/bin/sh\n\(lines)\n", to: "tell")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    return path
  }

  @Test(arguments: ["sync", "warm"])
  func `last-run.json records how the last run ended, well or not`(_ name: String) throws {
    let shop = try Shop(faults: "path=/pictures/A1.jpg status=404")

    #expect(try shop.larder(name, shop.catalog, "--retries", "0").status == 3)
    let partial = try record(shop)
    shop.store.faults = FaultScript()
    #expect(try shop.larder("sync", shop.catalog).status == 0)
    let whole = try record(shop)

    #expect(partial["command"] as? String == name)
    #expect(partial["status"] as? Int == 3 && partial["failed"] as? Bool == true)
    #expect((partial["catalogs"] as? [[String: Any]])?.first?["outcome"] as? String == "partial")
    #expect(whole["status"] as? Int == 0 && whole["failed"] as? Bool == false)
    #expect(try shop.folder.contents(below: "cache").keys.allSatisfy { !$0.hasSuffix(".tmp") })
    #expect(try shop.larder("verify").status == 0)
  }

  @Test func `a catalog that could not run is recorded beside one that did`() throws {
    let shop = try Shop()
    let faulty = try shop.folder.write("name: x\nsektions: []\n", to: "faulty.yaml")

    #expect(try shop.larder("warm", shop.catalog, faulty).status == 78)

    let record = try record(shop)
    #expect(record["status"] as? Int == 78)
    #expect((record["errors"] as? [String])?.first?.contains("sektions") == true)
    #expect((record["catalogs"] as? [Any])?.count == 1)
  }

  @Test
  func `a run that is too early, refused, dry or without a cache leaves the record unchanged`()
    throws
  {
    let shop = try Shop(faults: "path=/pictures/A1.jpg status=404")
    #expect(try shop.larder("warm", shop.catalog, "--retries", "0").status == 3)
    let before = try shop.folder.text("cache/last-run.json")
    let absent = shop.folder.path("absent")

    let soon = try shop.larder(
      "warm",
      shop.catalog,
      "--min-interval",
      "40m",
      "--on-failure",
      try script("touch \(shop.folder.path("told"))", in: shop)
    )
    let dry = try shop.larder("sync", shop.catalog, "--dry-run")
    let none = try Command.larder(["sync", shop.folder.path("none.yaml"), "--cache", absent])

    #expect(soon.status == 75 && dry.status == 0 && none.status != 0)
    #expect(try shop.folder.text("cache/last-run.json") == before)
    #expect(!FileManager.default.fileExists(atPath: absent))
    #expect(!FileManager.default.fileExists(atPath: shop.folder.path("told")))
  }

  @Test func `a deadline is not a failure, and the record says that the next run continues`()
    throws
  {
    let shop = try Shop(faults: "path=/develop/soup hang")
    let told = shop.folder.path("told")

    let warm = try shop.larder(
      "warm",
      shop.catalog,
      "--deadline",
      "1s",
      "--on-failure",
      "touch \(told)"
    )

    #expect(warm.status == 75)
    let record = try record(shop)
    #expect(record["status"] as? Int == 75 && record["failed"] as? Bool == false)
    #expect(!FileManager.default.fileExists(atPath: told))
  }

  @Test func `--on-failure runs the command with the record on stdin, without a shell`() throws {
    let shop = try Shop(faults: "path=/pictures/A1.jpg status=404")
    let told = shop.folder.path("told")
    let tell = try script(#"cat > "$1"; echo "$2" >> "$1.words""#, in: shop)

    let warm = try shop.larder(
      "warm",
      shop.catalog,
      "--retries",
      "0",
      "--on-failure",
      "\(tell) \(told)  $HOME;exit"
    )

    #expect(warm.status == 3)
    #expect(warm.errors.contains("banchan: image A1: http-404: "))
    #expect(try shop.folder.text("told") == shop.folder.text("cache/last-run.json"))
    #expect(try Self.checked(try shop.folder.text("told"))["failed"] as? Bool == true)
    #expect(try shop.folder.text("told.words") == "$HOME;exit\n")
  }

  @Test func `--on-failure runs when there is no catalog file at all, and not after success`()
    throws
  {
    let shop = try Shop()
    let told = shop.folder.path("told")
    let tell = try script(#"cat > "$1""#, in: shop)

    let well = try shop.larder("warm", shop.catalog, "--on-failure", "\(tell) \(told)")
    #expect(well.status == 0 && !FileManager.default.fileExists(atPath: told))

    let none = shop.folder.path("none.yaml")
    let bad = try shop.larder("warm", none, "--on-failure", "\(tell) \(told)")
    #expect(bad.status == 64 || bad.status == 78)
    let record = try Self.checked(try shop.folder.text("told"))
    #expect(record["status"] as? Int == Int(bad.status))
    #expect((record["errors"] as? [String])?.first?.contains("none.yaml") == true)
  }

  @Test(arguments: [
    ("exit 9", "ended with status 9"), ("echo no mail today >&2; exit 1", "no mail today"),
    ("kill -9 $$", "was ended by signal 9"),
  ])
  func `a failing command is reported, and the status stays that of the run`(
    _ lines: String,
    _ words: String
  ) throws {
    let shop = try Shop(faults: "path=/pictures/A1.jpg status=404")
    let tell = try script(lines, in: shop)

    let warm = try shop.larder("warm", shop.catalog, "--retries", "0", "--on-failure", tell)

    #expect(warm.status == 3)
    #expect(warm.errors.contains("--on-failure: \(tell) ") && warm.errors.contains(words))
    #expect(warm.errors.contains("banchan: partial; "))
  }

  @Test func `--on-failure refuses a program that others may write, before anything is fetched`()
    throws
  {
    let shop = try Shop()
    let tell = try script("touch \(shop.folder.path("told"))", in: shop)
    _ = try Command.shell("chmod o+w \(tell)")

    let warm = try shop.larder("warm", shop.catalog, "--on-failure", "\(tell) now")

    #expect(warm.status == 78)
    #expect(
      warm.errors.contains(
        "cannot use --on-failure \(tell): its group or everyone can write to it"
      )
    )
    #expect(warm.errors.contains("chmod go-w"))
    #expect(shop.store.requests.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: shop.folder.path("told")))
  }

  @Test func `--on-change runs with the output of diff, and not without changes`() throws {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    let told = shop.folder.path("told")
    let tell = try script(#"cat > "$1""#, in: shop)

    let same = try shop.larder("warm", shop.catalog, "--on-change", "\(tell) \(told)")
    #expect(same.status == 0 && !FileManager.default.fileExists(atPath: told))

    shop.list([Shop.item("A1", price: "6,500원"), Shop.item("A3")], in: "main")
    let changed = try shop.sync("--on-change", "\(tell) \(told)")

    // The picture of A3 is missing.
    #expect(changed.status == 3)
    #expect(try shop.folder.text("told") == shop.larder("diff", "--json").output)

    try FileManager.default.removeItem(atPath: told)
    shop.store.content["/develop/detail/A1.json"] = Resource(
      json: #"{"hash": "A1", "data": {"product_description": "New"}}"#
    )
    _ = try shop.sync("--on-change", "\(tell) \(told)")
    #expect(try shop.folder.text("told") == shop.larder("diff", "--json").output)
  }

  @Test(arguments: ["sync", "warm"])
  func `a program of --on-change that fails is a warning and status 3`(command: String) throws {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    let tell = try script("exit 5", in: shop)
    func change(to price: String, _ program: String) throws -> Command {
      shop.list([Shop.item("A1", price: price)], in: "main")
      return try shop.larder(command, shop.catalog, "--on-change", program)
    }
    #expect(try change(to: "6,400원", "true").status == 0)
    for (price, program) in [("6,500원", tell), ("6,600원", shop.folder.path("absent"))] {
      let changed = try change(to: price, program)
      #expect(changed.status == 3 && changed.errors.contains("--on-change: \(program) "))
    }
  }

  @Test func `--on-change refuses a program that others may write, before anything is fetched`()
    throws
  {
    let shop = try Shop()
    let tell = try script("touch \(shop.folder.path("told"))", in: shop)
    _ = try Command.shell("chmod o+w \(tell)")

    for command in ["warm", "sync"] {
      let refused = try shop.larder(command, shop.catalog, "--on-change", "\(tell) now")
      #expect(refused.status == 78 && refused.errors.contains("cannot use --on-change \(tell): "))
    }

    #expect(shop.store.requests.isEmpty)
    #expect(try shop.larder("sync", shop.catalog, "--on-change", " ").status == 64)
  }

  @Test func `a missing command is reported, and an empty one is a usage error`() throws {
    let shop = try Shop(faults: "path=/pictures/A1.jpg status=404")

    let absent = try shop.larder(
      "warm",
      shop.catalog,
      "--retries",
      "0",
      "--on-failure",
      "/nowhere/tell"
    )
    let empty = try shop.larder("warm", shop.catalog, "--on-failure", " ")
    let forgotten = try shop.larder("warm", shop.catalog, "--on-failure", "--json")

    #expect(absent.status == 3)
    #expect(absent.errors.contains("/nowhere/tell cannot be started (no such file or directory)"))
    #expect(empty.status == 64 && empty.errors.contains("names no program"))
    #expect(forgotten.status == 64 && forgotten.errors.contains("names no program"))
  }
}
