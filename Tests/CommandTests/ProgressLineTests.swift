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
    retrying: Int = 0
  ) -> String {
    var snapshot = SyncProgress()
    snapshot.sections = count(sections, of: 3)
    snapshot.details = count(details, of: details < 33 ? 20 : 33)
    snapshot.pictures = count(pictures, of: 94)
    snapshot.failed = failed
    snapshot.bytes = 7_400_000
    return ProgressLine(snapshot: snapshot, retrying: retrying, seconds: 6).text(width: width)
  }

  private static func count(_ done: Int, of total: Int) -> SyncProgress.Count {
    var count = SyncProgress.Count()
    (count.done, count.total) = (done, total)
    return count
  }

  @Test func `a line without retries has a bar, even at 80 columns`() {
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
          + "1.2 MiB/s  4.3 s left"
      ),
      (
        109,
        "[#####-----] sections 3/3  details 33/33  pictures 40/94  2 retrying  7.1 MiB  1.2 MiB/s  "
          + "4.3 s left"
      ),
      (79, "[#####-----] pictures 40/94  2 retrying  7.1 MiB  1.2 MiB/s  4.3 s left"),
      (59, "pictures 40/94  2 retrying  7.1 MiB  1.2 MiB/s  4.3 s left"),
      (39, "pictures 40/94  2 retrying  7.1 MiB"),
      (29, "pictures 40/94  2 retrying"), (19, "pictures 40/94"), (9, ""),
    ]
  )
  func `retries are shown, and the least important parts are dropped`(
    _ width: Int,
    _ line: String
  ) {
    #expect(Self.line(width, retrying: 2) == line)
  }

  @Test(
    arguments: [
      (
        109,
        "[##------------------] sections 1/3  details 12/20  pictures 4/94  7.1 MiB  1.2 MiB/s"
      ),
      (79, "[#---------] sections 1/3  details 12/20  pictures 4/94  7.1 MiB  1.2 MiB/s"),
      (59, "sections 1/3  details 12/20  pictures 4/94  7.1 MiB"),
      (39, "pictures 4/94  7.1 MiB  1.2 MiB/s"),
    ]
  )
  func `while no count is complete, the rate is dropped first`(_ width: Int, _ line: String) {
    #expect(Self.line(width, sections: 1, details: 12, pictures: 4) == line)
  }

  @Test func `no line is longer than the terminal, and no part is truncated`() {
    for width in 0...150 {
      for (sections, details) in [(1, 12), (3, 12), (3, 33)] {
        for (failed, retrying) in [(0, 0), (0, 12), (7, 0), (7, 12)] {
          let line = Self.line(
            width,
            sections: sections,
            details: details,
            failed: failed,
            retrying: retrying
          )

          #expect(line.count <= width)
          let parts = [
            "sections \(sections)/3", details < 33 ? "details 12/20" : "details 33/33",
            "pictures 40/94", "7 failed", "12 retrying", "7.1 MiB", "1.2 MiB/s",
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

  @Test func `failures are shown before counts that have not begun`() {
    var snapshot = SyncProgress()
    snapshot.sections = Self.count(0, of: 3)

    let line = ProgressLine(snapshot: snapshot, retrying: 3, seconds: 2)

    #expect(line.text(width: 39) == "sections 0/3  3 retrying  0 B  0 B/s")
    #expect(
      line.text(width: 79)
        == "[----------] sections 0/3  details 0/0  pictures 0/0  3 retrying  0 B  0 B/s"
    )
  }
}

extension String {
  fileprivate func components(of separator: String) -> [String] {
    split(separator: separator).map(String.init)
  }
}
