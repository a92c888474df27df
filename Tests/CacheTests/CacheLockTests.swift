import Base
import Glibc
import Support
import Testing

@testable import Cache

/// The lock of a cache, and its claim: a file that names the holder to other machines.
struct CacheLockTests {
  @Test func `a second holder is refused and told who holds the lock`() throws {
    let folder = try TemporaryFolder()
    let layout = try CacheLayout(creating: folder.path("cache"))
    let lock = try CacheLock(layout, holder: "larder sync, process 4711")

    let error = #expect(throws: LarderError.self) {
      _ = try CacheLock(CacheLayout(creating: folder.path("cache")), holder: "another")
    }

    #expect(error?.code == .locked)
    #expect(
      error?.description
        == "cannot change \(folder.path("cache")): larder sync, process 4711 is using it; "
        + "try again when that run has ended"
    )
    withExtendedLifetime(lock) {}
  }

  @Test(arguments: [ENOSYS, ENOLCK, EOPNOTSUPP])
  func `without flock the claim alone keeps two runs apart`(_ code: Int32) throws {
    let folder = try TemporaryFolder()
    let layout = try CacheLayout(creating: folder.path("cache"))
    func lock(_ holder: String) throws -> CacheLock {
      try CacheLock(
        CacheLayout(creating: folder.path("cache")),
        holder: holder,
        machine: machine("alpha", "1"),
        lock: { _, _ in
          errno = code
          return -1
        },
        isShared: { _ in false }
      )
    }

    var first: CacheLock? = try lock("larder sync, process 1")
    let error = #expect(throws: LarderError.self) { try lock("larder sync, process 2") }
    #expect(error?.code == .locked)
    #expect(
      error?.description.contains("larder sync, process 1 on alpha has held it since") == true
    )

    withExtendedLifetime(first) {}
    first = nil
    withExtendedLifetime(try lock("larder sync, process 2")) {}
    #expect(FileSystemGap.found.contains(.locks))
    withExtendedLifetime(layout) {}
  }

  @Test func `a released lock is free and names nobody`() throws {
    let folder = try TemporaryFolder()
    let layout = try CacheLayout(creating: folder.path("cache"))
    do { withExtendedLifetime(try CacheLock(layout, holder: "a long name of a first holder")) {} }
    #expect(try folder.read("cache/lock") == [])

    let next = try CacheLock(layout, holder: "next")

    #expect(
      String(decoding: try folder.read("cache/lock"), as: UTF8.self)
        == "next on \(Machine.hostName)"
    )
    withExtendedLifetime(next) {}
  }

  @Test func `only one machine at a time can claim a shared cache`() throws {
    let folder = try TemporaryFolder()
    let root = try Folder(path: folder.path, creating: false)
    let claim = try HostClaim(
      root,
      holder: "larder sync, process 1",
      machine: machine("alpha", "1")
    )

    let error = #expect(throws: LarderError.self) {
      _ = try HostClaim(root, holder: "larder sync, process 2", machine: machine("beta", "2"))
    }
    #expect(error?.code == .locked)
    #expect(
      error?.description.contains("larder sync, process 1 on alpha has held it since") == true
    )
    #expect(error?.description.contains("remove \(folder.path("lock.host"))") == true)

    claim.release()
    let next = try HostClaim(root, holder: "larder sync, process 2", machine: machine("beta", "2"))
    withExtendedLifetime(next) {}
  }

  @Test func `a killed run's lock is taken over only on its own machine`() throws {
    let folder = try TemporaryFolder()
    let root = try Folder(path: folder.path, creating: false)
    withExtendedLifetime(try HostClaim(root, holder: "killed", machine: machine("alpha", "1"))) {}

    #expect(throws: LarderError.self) {
      _ = try HostClaim(root, holder: "other", machine: machine("beta", "2"))
    }
    let again = try HostClaim(root, holder: "next", machine: machine("alpha", "1"))

    #expect(
      String(decoding: try folder.read("lock.host"), as: UTF8.self).hasPrefix(
        "next on alpha\nboot 1\nclaim "
      )
    )
    withExtendedLifetime(again) {}
  }

  @Test(arguments: [
    // A container restarted on the same machine.
    ("pod-2", "1", true), ("pod-1", "1", true),
    // Another boot id means another machine, even if it has the same name. A machine that was rebooted looks like
    // another machine.
    ("pod-2", "2", false), ("pod-1", "2", false),
  ])
  func `a claim can be taken over when its holder ran on the same host and boot`(
    _ host: String,
    _ boot: String,
    _ isFree: Bool
  ) throws {
    let folder = try TemporaryFolder()
    let root = try Folder(path: folder.path, creating: false)
    for text in ["killed on pod-1\nboot 1", nil] {
      if let text {
        try folder.write(text, to: "lock.host")
      } else {
        unlink(folder.path("lock.host"))
        let killed = try HostClaim(root, holder: "killed", machine: machine("pod-1", "1"))
        withExtendedLifetime(killed) {}
      }

      #expect(
        ((try? HostClaim(root, holder: "next", machine: machine(host, boot))) != nil) == isFree
      )
    }
  }

  @Test func `a claim that does not yet name its holder still counts`() throws {
    let folder = try TemporaryFolder()
    let root = try Folder(path: folder.path, creating: false)
    try folder.write("", to: "lock.host")

    let error = #expect(throws: LarderError.self) {
      _ = try HostClaim(root, holder: "other", machine: machine("beta", "2"))
    }

    #expect(error?.description.contains("another machine is using it") == true)
  }

  @Test func `network and FUSE file systems count as shared`() {
    // NFS, CIFS, Ceph, 9P and FUSE are shared; ext4, tmpfs, overlay and XFS are not.
    for kind in [0x6969, 0xFF53_4D42, 0x00C3_6400, 0x0102_1997, 0x6573_5546] {
      #expect(HostClaim.isShared(kind))
    }
    for kind in [0xEF53, 0x0102_1994, 0x794C_7630, 0x5846_5342] {
      #expect(!HostClaim.isShared(kind))
    }
    let processes = open("/proc", O_RDONLY | O_CLOEXEC)
    #expect(processes >= 0 && !HostClaim.isNeeded(processes) && !HostClaim.isNeeded(-1))
    close(processes)
  }
}
