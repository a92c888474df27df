import Base
import Testing
import Transport

@testable import LarderCommands
@testable import Pipeline

/// The progress line of a sync at every terminal width.
@Suite struct ProgressLineTests {
  /// The line in the middle of a sync: sections are complete, everything else is in progress.
  private static func line(
    _ width: Int,
    sections: Int = 3,
    details: Int = 33,
    pictures: Int = 40,
    failed: Int = 0,
    retrying: Int = 0,
    host: String? = nil
  ) -> String {
    var snapshot = SyncProgress()
    snapshot.sections = count(sections, of: 3)
    snapshot.details = count(details, of: details < 33 ? 20 : 33)
    snapshot.pictures = count(pictures, of: 94)
    snapshot.failed = failed
    snapshot.bytes = 7_400_000
    let activity = TransferActivity(
      retrying: retrying,
      underWay: host.map { [(host: $0, requests: 1)] } ?? []
    )
    return ProgressLine(snapshot: snapshot, activity: activity, seconds: 6).text(width: width)
  }

  private static func count(_ done: Int, of total: Int) -> SyncProgress.Count {
    var count = SyncProgress.Count()
    (count.done, count.total) = (done, total)
    return count
  }

  @Test func `a line without retries or a host has a bar, even at 80 columns`() {
    let words = "sections 3/3  details 33/33  pictures 40/94  7.1 MiB  1.2 MiB/s  4.3 s left"

    #expect(Self.line(109) == "[###########---------] " + words)
    #expect(
      Self.line(79) == "[###########---------] pictures 40/94  7.1 MiB  1.2 MiB/s  4.3 s left"
    )
    #expect(Self.line(59) == "[#####-----] pictures 40/94  7.1 MiB  1.2 MiB/s  4.3 s left")
    #expect(Self.line(58) == "pictures 40/94  7.1 MiB  1.2 MiB/s  4.3 s left")
  }

  @Test(
    arguments: [
      (
        139,
        "[###########---------] sections 3/3  details 33/33  pictures 40/94  2 retrying  7.1 MiB  "
          + "1.2 MiB/s  4.3 s left  cdn.example.com"
      ),
      (
        109,
        "[###########---------] pictures 40/94  2 retrying  7.1 MiB  1.2 MiB/s  4.3 s left  "
          + "cdn.example.com"
      ), (79, "[#####-----] pictures 40/94  2 retrying  7.1 MiB  1.2 MiB/s  4.3 s left"),
      (59, "pictures 40/94  2 retrying  7.1 MiB  1.2 MiB/s  4.3 s left"),
      (39, "pictures 40/94  2 retrying  7.1 MiB"),
      (29, "pictures 40/94  2 retrying"), (19, "pictures 40/94"), (9, ""),
    ]
  )
  func `retries and the host are shown, and the least important parts are dropped`(
    _ width: Int,
    _ line: String
  ) {
    #expect(Self.line(width, retrying: 2, host: "cdn.example.com") == line)
  }

  @Test(
    arguments: [
      (
        109,
        "[##------------------] sections 1/3  details 12/20  pictures 4/94  7.1 MiB  1.2 MiB/s  "
          + "cdn.example.com:8443"
      ),
      (79, "[#---------] sections 1/3  details 12/20  pictures 4/94  7.1 MiB  1.2 MiB/s"),
      (59, "sections 1/3  details 12/20  pictures 4/94  7.1 MiB"),
      (39, "pictures 4/94  7.1 MiB  1.2 MiB/s"),
    ]
  )
  func `while no count is complete, the host is dropped first`(_ width: Int, _ line: String) {
    let shown = Self.line(
      width,
      sections: 1,
      details: 12,
      pictures: 4,
      host: "cdn.example.com:8443"
    )

    #expect(shown == line)
  }

  @Test func `no line is longer than the terminal, and no part is truncated`() {
    let host = "cdn.with-a-long-name.pictures.example.com"
    for width in 0...150 {
      for (sections, details) in [(1, 12), (3, 12), (3, 33)] {
        for (failed, retrying) in [(0, 0), (0, 12), (7, 0), (7, 12)] {
          let line = Self.line(
            width,
            sections: sections,
            details: details,
            failed: failed,
            retrying: retrying,
            host: host
          )

          #expect(line.count <= width)
          let parts = [
            "sections \(sections)/3", details < 33 ? "details 12/20" : "details 33/33",
            "pictures 40/94", "7 failed", "12 retrying", "7.1 MiB", "1.2 MiB/s", host,
          ]
          let words = line.split(separator: "] ").last.map { "\($0)".components(of: "  ") } ?? []
          #expect(words.allSatisfy { parts.contains($0) || $0.hasSuffix(" s left") }, "\(line)")
        }
      }
    }
  }

  @Test(
    arguments: [
      (53, "4 at once, run 2  149 pictures/s  0.6 s  4.7 s in all"),
      (52, "4 at once, run 2  149 pictures/s  0.6 s"), (38, "4 at once, run 2  149 pictures/s"),
      (31, "4 at once, run 2"), (15, ""), (0, ""),
    ]
  )
  func `parts that do not fit are dropped whole, the last first`(_ width: Int, _ line: String) {
    let words = ["4 at once, run 2", "149 pictures/s", "0.6 s", "4.7 s in all"]

    #expect(ProgressParts.line(words, width: width) == line)
  }

  @Test func `a host that does not fit displaces no counts`() {
    let host = "cdn.with-a-long-name.pictures.example.com"

    #expect(Self.line(79, host: host) == Self.line(79))
  }

  @Test func `failures are shown before counts that have not begun`() {
    var snapshot = SyncProgress()
    snapshot.sections = Self.count(0, of: 3)
    let activity = TransferActivity(retrying: 3, underWay: [(host: "shop.example", requests: 3)])

    let line = ProgressLine(snapshot: snapshot, activity: activity, seconds: 2)

    #expect(line.text(width: 39) == "sections 0/3  3 retrying  0 B  0 B/s")
    #expect(
      line.text(width: 79)
        == "[--------------------] sections 0/3  3 retrying  0 B  0 B/s  shop.example"
    )
  }
}

extension String {
  fileprivate func components(of separator: String) -> [String] {
    split(separator: separator).map(String.init)
  }
}
