import Base
import Cache
import Glibc
import Support
import Testing

@testable import Cache

/// Machines that take over a cache's claim on a shared file system, where `flock` works only
/// within each machine.
///
/// A claim is a file in the cache that names the machine and the run that use the cache.
struct HostClaimTests {
  private let folder: TemporaryFolder
  private let root: Folder

  init() throws {
    folder = try TemporaryFolder()
    root = try Folder(path: folder.path, creating: false)
  }

  /// A machine whose monotonic clock is at `seconds`.
  private func machine(_ host: String, at seconds: Int64 = 0) -> Machine {
    CacheTests.machine(host, host, at: seconds)
  }

  private func claim(
    _ host: String,
    at seconds: Int64 = 0,
    pause: (Int) -> Void = { _ in }
  ) throws(LarderError) -> HostClaim {
    try HostClaim(
      root,
      holder: "larder sync, process 1",
      machine: machine(host, at: seconds),
      pause: pause
    )
  }

  /// The holder that the claim file names.
  private func holder() throws -> String {
    ClaimText(String(decoding: try folder.read("lock.host"), as: UTF8.self)).holder
  }

  // MARK: - The decision

  private static let token = "0123456789abcdef"

  private static func text(_ beat: Int = 0, boot: String = "b1") -> String {
    """
    sync on alpha
    boot \(boot)
    claim \(token)
    since 1
    beat \(String(repeating: "0", count: 10 - String(beat).count))\(beat) every 15 s
    end

    """
  }

  @Test(
    arguments: [
      // A claim of another machine: renewed, or not yet silent for two minutes.
      (text(), "b2", nil, 0, "silent"), (text(), "b2", nil, 119, "silent"),
      (text(), "b2", nil, 120, "gone"),
      // A claim of this machine.
      (text(), "b1", nil, 0, "free"),
      // A claim that is being taken over.
      (text(), "b1", "", 0, "silent"), (text(), "b1", "x", 119, "silent"),
      (text(), "b2", "x", 120, "gone"),
      // Claims without a heartbeat, with an unknown form, and truncated ones.
      ("sync on alpha\nboot b1", "b2", nil, 5000, "foreign"),
      ("sync on alpha", "b2", nil, 5000, "foreign"), ("", "b2", nil, 5000, "foreign"),
      (text() + "more\n", "b2", nil, 5000, "foreign"),
      (text() + "more\n", "b1", nil, 0, "free"),
      (String(text().dropLast(1)), "b2", nil, 5000, "foreign"),
      (text().replacing("every 15 s", with: "every 60 s"), "b2", nil, 5000, "foreign"),
      (text().replacing(token, with: "../../../../../x"), "b2", nil, 5000, "foreign"),
      (text(boot: ""), "b2", nil, 5000, "foreign"),
    ] as [(String, String, String?, Int64, String)]
  )
  func `a claim is taken over only after two minutes without a renewal`(
    _ text: String,
    _ boot: String,
    _ newOwner: String?,
    _ seconds: Int64,
    _ expected: String
  ) throws {
    try folder.write(text, to: "lock.host")
    if let newOwner { try folder.write(newOwner, to: "lock.host.after-\(Self.token)") }

    var standing = "foreign"
    for moment in Set([0, seconds]).sorted() {
      do throws(LarderError) {
        let taken = try claim(boot, at: moment)
        standing = taken.previousHolder == nil ? "free" : "gone"
        break
      } catch {
        #expect(error.code == .locked)
        standing =
          error.description.contains("or was killed; on a network file") ? "foreign" : "silent"
      }
    }

    #expect(standing == expected)
    #expect(
      try (holder() == "larder sync, process 1 on \(boot)") == ["free", "gone"].contains(expected)
    )
  }

  @Test func `a claim reads back as written, and every renewal has the same length`() throws {
    for beat in [0, 1, 9, 10, 5_000_000_000] {
      let text = Self.text(beat)

      #expect(ClaimText(text).text == text)
      #expect(ClaimText(text).beat == beat && ClaimText(text).token == Self.token)
      #expect(text.utf8.count == Self.text().utf8.count)
    }
    let written = try claim("alpha")
    let text = String(decoding: try folder.read("lock.host"), as: UTF8.self)
    #expect(ClaimText(text).text == text)
    withExtendedLifetime(written) {}
  }

  @Test func `a truncated or changed claim is never taken over early`()
    throws
  {
    let whole = Array(Self.text(7).utf8)
    var damaged = (0..<whole.count).map { Array(whole[..<$0]) }
    for index in whole.indices {
      for bit in 0..<8 {
        var bytes = whole
        bytes[index] ^= 1 << bit
        damaged.append(bytes)
      }
    }

    for bytes in damaged {
      try folder.write(bytes, to: "lock.host")
      #expect(throws: LarderError.self, "\(String(decoding: bytes, as: UTF8.self))") {
        _ = try claim("b2", at: 7)
      }
    }
  }

  @Test func `a truncated or changed note of a wait never shortens the wait`() throws {
    withExtendedLifetime(try claim("alpha")) {}
    #expect(throws: LarderError.self) { _ = try claim("beta", at: 1000) }
    let whole = try folder.read("lock.seen")

    for index in whole.indices {
      var damaged = [Array(whole[..<index])]
      for bit in 0..<8 {
        var bytes = whole
        bytes[index] ^= 1 << bit
        damaged.append(bytes)
      }
      for bytes in damaged {
        try folder.write(bytes, to: "lock.seen")
        #expect(throws: LarderError.self) { _ = try claim("beta", at: 1119) }
      }
    }
  }

  // MARK: - Taking over

  @Test func `a run takes over the cache of a dead machine after two minutes`() throws {
    withExtendedLifetime(try claim("alpha")) {}

    let first = #expect(throws: LarderError.self) { _ = try claim("beta", at: 50) }
    let second = #expect(throws: LarderError.self) { _ = try claim("beta", at: 169) }
    let third = try claim("beta", at: 170)

    #expect(first?.code == .locked)
    #expect(
      first?.description
        == "cannot change \(folder.path): larder sync, process 1 on alpha has held it since "
        + "2026-11-22T10:00:00Z and may still be running; try again later: after 120 s without a renewal, "
        + "the next run takes over the cache; if nothing runs there, remove \(folder.path("lock.host"))"
    )
    #expect(second?.description.contains("has not renewed its claim for 119 s;") == true)
    #expect(third.previousHolder?.holder == "larder sync, process 1 on alpha")
    #expect(try holder() == "larder sync, process 1 on beta")
    third.release()
    #expect(folder.files(below: ".").isEmpty)
  }

  @Test func `a machine that renews its claim keeps it, however long others wait`() throws {
    let alive = try claim("alpha")

    for seconds in stride(from: Int64(0), through: 10_000, by: 119) {
      #expect(throws: LarderError.self) { _ = try claim("beta", at: seconds) }
      alive.beat()
    }

    try alive.demandHold()
    #expect(try holder() == "larder sync, process 1 on alpha")
  }

  @Test func `machines that take turns in waiting do not restart each other's wait`() throws {
    withExtendedLifetime(try claim("alpha")) {}

    for seconds in stride(from: Int64(0), to: 120, by: 30) {
      #expect(throws: LarderError.self) { _ = try claim("beta", at: seconds) }
      #expect(throws: LarderError.self) { _ = try claim("gamma", at: 7000 + seconds) }
    }
    _ = try claim("gamma", at: 7120)

    #expect(try holder() == "larder sync, process 1 on gamma")
  }

  @Test func `a clock that is set back restarts the wait`() throws {
    withExtendedLifetime(try claim("alpha")) {}

    for seconds in [Int64(1000), 1090, 5, 124] {
      #expect(throws: LarderError.self) { _ = try claim("beta", at: seconds) }
    }
    _ = try claim("beta", at: 125)

    #expect(try holder() == "larder sync, process 1 on beta")
  }

  /// Leaves the claim of a dead machine, for which each of these machines has waited long enough.
  private func leaveDead(to hosts: [String]) throws {
    withExtendedLifetime(try claim("alpha")) {}
    for host in hosts { #expect(throws: LarderError.self) { _ = try claim(host) } }
  }

  @Test(arguments: 1...4)
  func `when two machines take over at once one wins and the other learns the holder`(
    _ step: Int
  ) throws {
    try leaveDead(to: ["beta", "gamma"])
    var winners: [String] = []
    var refusals: [String] = []
    func take(_ host: String, _ pause: (Int) -> Void = { _ in }) {
      do throws(LarderError) {
        _ = try claim(host, at: 120, pause: pause)
        winners.append("larder sync, process 1 on \(host)")
      } catch {
        #expect(error.code == .locked)
        refusals.append(error.description)
      }
    }

    take("beta") { now in if now == step { take("gamma") } }

    let winner = try holder()
    #expect(winners == [winner])
    #expect(refusals.count == 1 && refusals[0].contains("\(winner) "))
    #expect(folder.files(below: ".").keys.filter { $0.contains("after") } == [])
  }

  @Test(arguments: 2...4)
  func `a new owner that stalls for two minutes is replaced, and notices it`(_ step: Int) throws {
    try leaveDead(to: ["beta"])
    var winners: [String] = []

    do throws(LarderError) {
      _ = try claim("beta", at: 120) { now in
        guard now == step else { return }
        #expect(throws: LarderError.self) { _ = try claim("gamma", at: 0) }
        if (try? claim("gamma", at: 120)) != nil {
          winners.append("larder sync, process 1 on gamma")
        }
      }
      winners.append("larder sync, process 1 on beta")
    } catch {
      #expect(error.code == .locked)
      #expect(error.description.contains("larder sync, process 1 on gamma has just taken it over"))
    }

    // In the last step, the claim already belongs to beta. But it was not renewed for two minutes, so gamma took it
    // over.
    #expect(try winners == [holder()])
  }

  @Test(arguments: 1...4)
  func `a holder that resumes during a takeover keeps the cache or knows that it is lost`(
    _ step: Int
  ) throws {
    let holder = try claim("alpha")
    #expect(throws: LarderError.self) { _ = try claim("beta") }

    let isTaken =
      (try? claim("beta", at: 120) { now in if now == step { holder.beat() } }) != nil
    let isHeld = (try? holder.demandHold()) != nil

    #expect(isHeld != isTaken)
    #expect(isTaken == (step > 2))
  }

  @Test func `a claim that was lost stays lost, although its file is shown once more`() throws {
    let holder = try claim("alpha")
    let own = try folder.read("lock.host")
    try folder.write(Self.text(7), to: "lock.host")

    #expect(throws: LarderError.self) { try holder.demandHold() }
    try folder.write(own, to: "lock.host")
    #expect(throws: LarderError.self) { try holder.demandHold() }
  }

  // MARK: - A frozen run

  @Test func `a run that was frozen during a takeover commits nothing more`() throws {
    let frozen = try CacheOnDisk(folder)
    var lock: CacheLock? = try CacheLock(
      frozen.layout,
      holder: "frozen",
      machine: machine("alpha")
    ) { _ in true }
    let outcome = try frozen.keep([(url("a"), jpeg("a"))])
    #expect(outcome == [.stored(bytes: 64, wasHeld: false)])

    // Another machine's kernel has its own lock, so the file's lock does not count there.
    unlink(folder.path("cache/lock"))
    for seconds in [Int64(0), 60] {
      #expect(throws: LarderError.self) { try take("beta", at: seconds) }
    }
    let newOwner = try take("beta", at: 130)

    #expect(
      newOwner.notice
        == "took over \(folder.path("cache")) from frozen on alpha, which no longer renewed its claim"
    )
    let late = try frozen.keep([(url("b"), jpeg("b")), (url("c"), jpeg("c", count: 300_000))])
    for outcome in late {
      guard case .refused = outcome else {
        Issue.record("\(String(describing: outcome))")
        continue
      }
    }
    let error = #expect(throws: LarderError.self) { try frozen.index.noteLost(since: 1) }
    #expect(error?.code == .locked)
    #expect(error?.description.contains("new owner on beta took over the cache") == true)
    #expect(folder.files(below: "cache/images").count == 1)
    #expect(folder.files(below: "cache/partial").isEmpty)
    lock = nil
    withExtendedLifetime(lock) {}
    #expect(try folder.read("cache/lock.host") != [])
    let next = try CacheOnDisk(folder)
    #expect(try next.keep([(url("b"), jpeg("b"))]) == [.stored(bytes: 64, wasHeld: false)])
    #expect(try next.verify() == VerifyReport(checked: 2))
    withExtendedLifetime(newOwner) {}
  }

  private func take(_ host: String, at seconds: Int64) throws -> CacheLock {
    try CacheLock(
      CacheLayout(creating: folder.path("cache")),
      holder: "new owner",
      machine: machine(host, at: seconds)
    ) { _ in true }
  }

  @Test func `a cache on a local file system has no claim, and changes need none`()
    throws
  {
    let cache = try CacheOnDisk(folder)
    let lock = try CacheLock(cache.layout, holder: "run", machine: machine("alpha")) { _ in false }

    _ = try cache.keep([(url("a"), jpeg("a"))])

    #expect(!folder.files(below: "cache").keys.contains { $0.contains("lock.host") })
    withExtendedLifetime(lock) {}
  }

  private func url(_ name: String) -> String { "https://shop.example/\(name).jpg" }
}

/// A machine with a host name, a boot id and a monotonic clock at `seconds`.
func machine(_ host: String, _ boot: String, at seconds: Int64 = 0) -> Machine {
  Machine(host: host, boot: boot, monotonic: { seconds }, now: { 1_795_341_600 })
}
