import ArgumentParser
import Base
import Cache
import Catalog
import Glibc
import Pipeline

/// `larder verify`: checks that the pictures in the cache are whole, and repairs the cache with `--repair`.
struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check every picture in the cache against its digest.",
    discussion: """
      Example:  larder verify && echo clean
                larder verify --repair && larder sync shop.yaml

      A missing or damaged index is rebuilt by --repair, or by the next sync or warm: no picture \
      is lost, and the next run revalidates each instead of fetching it again. The damaged index is \
      kept as index.sqlite.damaged-TIME. A file that cannot be read does not count as damaged, and \
      stays as it is.
      """,
    statuses: [
      .done: "clean",
      .failed: "there is no cache",
      .io: "problems were found, or the cache cannot be read",
      .tryAgain: "a run holds the cache, and --repair was given",
    ],
    stops: true
  )

  @Flag(
    help:
      "Forget damaged pictures, adopt or remove strays; the next sync fetches missing pictures."
  )
  var repair = false

  @Flag(help: "Check only sizes, not every byte.")
  var fast = false

  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let place = try cache.place(reading: !repair, Log(output))
    let depth = fast ? Verification.Depth.fast : .full
    let check = try CacheCheck(
      place.path,
      holder: repair ? "larder verify, process \(getpid())" : nil,
      depth: depth,
      now: UnixTime.now(),
      remote: place.remote
    )
    let signals = Signals()
    let report = try signals.count("verify", "pictures", output) {
      try check.run(depth, isStopped: $0, progress: $1)
    }
    if repair, report.isComplete, !report.isClean { try check.repair(report) }
    try output.show(report, text: report.text(repaired: repair), always: !report.isClean)
    if output.json, !report.isComplete { Log(output).warning(report.interruption) }
    if let cause = report.cause {
      Log(output).warning(report.isOnDisk ? cause.problem : cause.description)
    }
    Output.end(signals.status ?? (report.isClean ? .done : .io))
  }
}

extension VerifyReport {
  /// The findings as text: one line for each fault, then the verdict.
  func text(repaired: Bool) -> String {
    let faults = [
      ("damaged  ", damaged), ("missing  ", missing), ("stray   ", strays),
      ("unreadable  ", unreadable),
    ]
    var lines = faults.flatMap { word, paths in paths.map { word + PlainText.line($0) } }
    if index != .whole {
      lines.append(
        "the index is \(index.rawValue)"
          + (repaired
            ? ": it was rebuilt; run larder sync or warm for each catalog to claim its pictures"
            : "; larder verify --repair rebuilds it and keeps the pictures")
      )
    }
    let end = isComplete ? ": \(verdict(repaired: repaired))" : "; \(interruption)"
    lines.append("\(Quantities.count(checked, "picture")) checked\(end)")
    return lines.joined(separator: "\n")
  }

  /// The message about a check that was interrupted, with the number of pictures that are left to check.
  var interruption: String {
    "interrupted: \(Quantities.count(unchecked, "picture")) not checked; run it again to check all"
  }

  /// Whether the system refuses the unreadable files, and not an object store.
  fileprivate var isOnDisk: Bool { cause?.errno != nil }

  private func verdict(repaired: Bool) -> String {
    guard !isClean else { return "clean" }
    var counts = "\(damaged.count) damaged, \(missing.count) missing, \(strays.count) stray"
    if !unreadable.isEmpty { counts += ", \(unreadable.count) unreadable" }
    if index != .whole || !(damaged + missing + strays).isEmpty {
      counts +=
        repaired
        ? "; repaired: run larder sync to fetch missing pictures"
        : "; larder verify --repair repairs it"
    }
    if !unreadable.isEmpty {
      counts += "; unreadable files are kept as they are"
      if isOnDisk { counts += ": check the disk and the files' permissions" }
    }
    return counts
  }
}
