import Glibc
import Testing

@testable import Pipeline

/// The check that nobody else can write a program that larder runs, or a file that names one.
@Suite struct FileTrustTests {
  private static let user: UInt32 = 1000

  private static func status(_ owner: UInt32, _ mode: UInt32) -> stat {
    var status = stat()
    (status.st_uid, status.st_mode) = (owner, mode)
    return status
  }

  @Test(
    arguments: [
      // The owner, the file's mode, its folder's mode, and the expected refusal.
      (1000, 0o100644, 0o040755, nil),
      (1000, 0o100600, 0o040700, nil),
      (1000, 0o100755, 0o040775, nil),
      (0, 0o100644, 0o040755, nil),
      (0, 0o100444, 0o041777, nil),
      (1000, 0o100644, 0o041777, nil),
      (1000, 0o010600, 0o040555, nil),
      // A terminal to which its group may write.
      (1000, 0o020620, 0o040755, nil),
      (1001, 0o100644, 0o040755, .owner(1001)),
      (1001, 0o100666, 0o040777, .owner(1001)),
      (1001, 0o010666, 0o041777, .owner(1001)),
      (1000, 0o100664, 0o040755, .writable),
      (1000, 0o100646, 0o040755, .writable),
      (0, 0o100666, 0o040755, .writable),
      (1000, 0o010622, 0o041777, .writable),
      (1000, 0o100644, 0o040777, .folder),
      (0, 0o100644, 0o040757, .folder),
    ] as [(UInt32, UInt32, UInt32, FileTrust.Doubt?)]
  )
  func `a file is trusted when only root and the user can change it`(
    _ owner: UInt32,
    _ mode: UInt32,
    _ folder: UInt32,
    _ doubt: FileTrust.Doubt?
  ) {
    let found = FileTrust.doubt(
      of: Self.status(owner, mode),
      in: [Self.status(0, 0o040755), Self.status(0, folder)],
      for: Self.user
    )

    #expect(found == doubt)
  }

  @Test func `root trusts only files of root`() {
    for (owner, doubt) in [(0, nil), (1000, .owner(1000))] as [(UInt32, FileTrust.Doubt?)] {
      #expect(FileTrust.doubt(of: Self.status(owner, 0o100644), in: [], for: 0) == doubt)
    }
  }
}
