import ArgumentParser
import Cache
import CurlTransport
import Glibc
import Larder
import Pipeline
import Transport

/// `larder verify`: checks what is held.
struct VerifyCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "clean",
      .failed: "there is no cache",
      .io: "not clean, or not readable",
      .tryAgain: "a run holds the cache, and --repair was given",
    ],
    stops: true
  )

  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check every picture in the cache against what was fetched.",
    discussion: """
      Example:  larder verify && echo clean
                larder verify --repair && larder sync shop.yaml

      A check that was interrupted goes on where it was. An index that is gone or damaged is made \
      anew by --repair, or by the next sync or warm: no picture is lost, and the next run asks about \
      each, fetching none again that the origin still has. The damaged one stays beside it, as \
      index.sqlite.damaged-TIME. What cannot be read is not called damaged, and stays as it is.

      \(statuses.text)
      """
  )

  @Flag(help: "Forget what is damaged, adopt or remove orphans; the next sync fetches the rest.")
  var repair = false

  @Flag(help: "Look at sizes only, not at every byte.")
  var fast = false

  @Flag(help: "Read every byte (the default).")
  var full = false

  @Flag(help: "Begin anew, although a check was interrupted.")
  var fromStart = false

  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    if fast && full { throw ValidationError("--fast and --full exclude each other") }
  }

  func run() throws {
    let place = try cache.place(reading: !repair, Log(output))
    let check = try CacheCheck(
      place.path,
      holder: repair ? "larder verify, process \(getpid())" : nil,
      depth: fast ? .fast : .full,
      now: UnixTime.now(),
      keeper: place.keeper
    )
    let stop = StopFlag()
    let signals = Signals { _ in stop.raise() }
    let display = CountDisplay("verify", "pictures", Terminal(output))
    let report = try check.run(
      fast ? .fast : .full,
      fromStart: fromStart,
      isStopped: { stop.isRaised }
    ) { done, total in display.show(done, of: total) }
    display.end()
    if repair, report.isComplete, !report.isClean { try check.repair(report) }
    if output.json {
      Output.json(try VerifyDocument(report).json())
      if !report.isComplete { Log(output).warning(VerifyDocument(report).interruption) }
    } else if !output.quiet || !report.isClean {
      Output.data(VerifyDocument(report).text(repaired: repair))
    }
    if let signal = signals.signal { Output.end(signal == 15 ? .terminated : .interrupted) }
    Output.end(report.isClean ? .done : .io)
  }
}
