import Foundation
import Glibc
import SampleStore
import Support
import Testing

/// Faults of the machine, such as planted links, pipes and wrong owners.
///
/// Each is reported, and harms nothing else.
@Suite struct HostileTests {
  private func mode(_ path: String) -> UInt32 {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  @Test func `whatever the umask, only the owner may read the cache and its databases`() throws {
    let shop = try Shop()

    let sync = try Command.shell(
      #"umask 000; "$larder" sync "$catalog" --cache "$cache""#,
      environment: ["catalog": shop.catalog, "cache": shop.cache]
    )

    #expect(sync.status == 0)
    #expect(mode(shop.cache) == 0o700)
    for folder in ["images", "partial"] { #expect(mode("\(shop.cache)/\(folder)") == 0o700) }
    for file in ["index.sqlite", "lock"] { #expect(mode("\(shop.cache)/\(file)") == 0o600) }
  }

  @Test(arguments: ["images", "partial", "index.sqlite", "lock"])
  func `a planted link is refused and leads nowhere`(_ name: String) throws {
    let shop = try Shop()
    let elsewhere = shop.folder.path("elsewhere")
    let manager = FileManager.default
    try manager.createDirectory(atPath: elsewhere, withIntermediateDirectories: true)
    try manager.createDirectory(atPath: shop.cache, withIntermediateDirectories: true)
    let target = name.contains(".") || name == "lock" ? "\(elsewhere)/file" : elsewhere
    try manager.createSymbolicLink(atPath: "\(shop.cache)/\(name)", withDestinationPath: target)

    let sync = try shop.sync()

    #expect(sync.status == 74)
    #expect(sync.errors.contains(name))
    #expect(try manager.contentsOfDirectory(atPath: elsewhere) == [])
  }

  @Test(arguments: ["index.sqlite", "lock", "images", "partial"])
  func `a pipe instead of any file is an error, not a wait`(_ name: String) throws {
    let shop = try Shop()
    try FileManager.default.createDirectory(
      atPath: shop.cache,
      withIntermediateDirectories: true
    )
    #expect(mkfifo("\(shop.cache)/\(name)", 0o600) == 0)

    let sync = try Running(Command.binary, ["sync", shop.catalog, "--cache", shop.cache])
      .wait(seconds: 20)

    #expect(sync.status == 74)
    #expect(sync.errors.contains(name))
  }

  @Test(arguments: ["index.sqlite", "index.sqlite-journal"])
  func `a pipe instead of a cache's index blocks nobody`(_ name: String) throws {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    try? FileManager.default.removeItem(atPath: "\(shop.cache)/\(name)")
    #expect(mkfifo("\(shop.cache)/\(name)", 0o600) == 0)

    for words in [
      ["warm", shop.catalog], ["sync", shop.catalog], ["status"], ["list"], ["verify"], ["gc"],
    ] {
      let ended = try Running(Command.binary, words + ["--cache", shop.cache]).wait(seconds: 20)

      #expect(ended.status == 74, "\(words)")
      #expect(ended.errors.contains("\(name): it is not a regular file; remove it"), "\(words)")
    }
  }

  @Test func `a pipe instead of a picture is found by verify and repaired`() throws {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    let list = try Document(try shop.larder("list", "--json"))
    let path = try #require(list[0]["thumbnail"]["path"].string)
    try FileManager.default.removeItem(atPath: "\(shop.cache)/\(path)")
    #expect(mkfifo("\(shop.cache)/\(path)", 0o600) == 0)

    #expect(try Document(try shop.larder("verify", "--json"))["damaged"].strings == [path])
    #expect(try shop.larder("verify", "--repair").status == 74)
    #expect(try Document(try shop.sync("--json"))["images"]["fetched"].int == 1)
    #expect(try shop.larder("verify").status == 0)
  }

  @Test func `a cache that is removed during a run ends the run and nothing else`() throws {
    let shop = try Shop(faults: "path=/pictures/* delay=1s")
    let running = try shop.startSync(requests: 6)

    try FileManager.default.removeItem(atPath: shop.cache)
    let sync = try running.wait(seconds: 30)

    #expect(sync.status == 74 || sync.status == 3, "\(sync.status) \(sync.errors)")
    #expect(sync.errors != "")
    #expect(try shop.sync().status == 0)
    #expect(try shop.larder("verify").status == 0)
  }

  @Test(.enabled(if: geteuid() == 0))
  func `another user's cache, or a read-only one, is refused with a reason`() throws {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    let nobody: uid_t = 65_534

    #expect(chown(shop.cache, nobody, nobody) == 0)
    let other = try shop.sync()
    #expect(other.status == 74)
    #expect(other.errors.contains("it belongs to user 65534, and you are 0"))
    #expect(try shop.larder("list").status == 0)
    #expect(try shop.larder("verify").status == 0)

    #expect(chmod(shop.cache, 0o555) == 0)
    let reader = try Command.shell(
      #"setpriv --reuid 65534 --regid 65534 --clear-groups "$larder" sync "$catalog" --cache "$cache""#,
      environment: ["catalog": shop.catalog, "cache": shop.cache]
    )
    #expect(reader.status == 74 || reader.status == 126 || reader.status == 127)
    #expect(!reader.errors.contains("Fatal"))
    #expect(chmod(shop.cache, 0o700) == 0)
    #expect(chown(shop.cache, 0, 0) == 0)
    #expect(try shop.larder("verify").status == 0)
  }

  /// An ordinary test run has three rounds.
  ///
  /// The script `campaign` sets `LARDER_ROUNDS=100`.
  @Test func `one of eight runs on a cache fetches every URL once, and the others end with 75`()
    throws
  {
    let rounds = ProcessInfo.processInfo.environment["LARDER_ROUNDS"].flatMap { Int($0) } ?? 3
    let shop = try Shop()
    shop.store.faults = [FaultRule("/develop/*", .header("Cache-Control", "max-age=600"))]
    for round in 1...rounds {
      try? FileManager.default.removeItem(atPath: shop.cache)
      shop.store.clearRequests()
      let running = try (1...8).map { _ in
        try Running(Command.binary, ["warm", shop.catalog, "--cache", shop.cache])
      }

      let ended = try running.map { try $0.wait() }

      let statuses = Set(ended.map(\.status))
      #expect(
        statuses.isSubset(of: [0, 75]) && statuses.contains(0),
        "round \(round): \(statuses)"
      )
      for loser in ended where loser.status == 75 {
        #expect(loser.errors.contains("is using it; try again"), "\(loser.errors)")
      }
      #expect(
        shop.store.requestCounts.values.allSatisfy { $0 == 1 },
        "round \(round): \(shop.store.requestCounts)"
      )
      #expect(shop.store.requestCounts.count == Shop.requests)
      #expect(try shop.larder("verify").status == 0)
      // The index has a run for each process that ended with 0, and no other runs.
      let runs = try shop.larder("diff", "--runs").lines
      #expect(runs.count == ended.count { $0.status == 0 }, "round \(round): \(runs)")
    }
  }
}
