import Synchronization
import Testing

@testable import Pipeline

/// Programs started for the user, such as the command of `token`.
@Suite struct ProgramRunTests {
  private func shell(_ line: String, isStopped: @escaping @Sendable () -> Bool = { false })
    -> ProgramRun
  {
    ProgramRun(
      words: ["/bin/sh", "-c", line],
      environment: ["PATH": "/usr/bin:/bin"],
      isStopped: isStopped
    )
  }

  @Test(arguments: [
    "exec 1>&-; sleep 0.5; echo late >&2", "exec 2>&-; sleep 0.5; echo late",
    "exec 1>&- 2>&-; sleep 0.5",
  ])
  func `a program that closes a stream is waited for, without a busy loop`(
    _ line: String
  ) {
    let rounds = Mutex(0)
    let start = ContinuousClock.now

    let ended = shell(
      line,
      isStopped: {
        rounds.withLock { $0 += 1 }; return false
      }
    ).run()

    // A poll takes 20 ms unless a stream has output or ends. Here, two streams have some bytes each, and end.
    let most = Int((ContinuousClock.now - start) / .milliseconds(20)) + 6
    #expect(rounds.withLock { $0 } <= most)
    #expect(ended.end == .status(0))
    let late = Array("late\n".utf8)
    #expect(ended.output == (line.hasSuffix("echo late") ? late : []))
    #expect(ended.errors == (line.hasSuffix(">&2") ? late : []))
  }

  @Test func `both streams are kept up to 64 KiB each, and the program can write more`() {
    let ended = shell("head -c 200000 /dev/zero; head -c 200000 /dev/zero >&2; exit 3").run()

    #expect(ended.end == .status(3))
    #expect(ended.output.count == 64 << 10 && ended.errors.count == 64 << 10)
  }

  @Test func `stopping a program ends it with all its children`() {
    let ended = shell("sleep 600 & wait", isStopped: { true }).run()

    #expect(ended.end == .signal(9))
  }
}
