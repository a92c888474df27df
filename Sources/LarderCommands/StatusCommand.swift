import ArgumentParser
import CurlTransport
import Pipeline
import Transport

/// `larder status`: how the cache stands.
struct StatusCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "shown, and recent enough for --check",
      .failed: "there is no cache",
      .partial: "a catalog is older than --check allows",
      .io: "the cache cannot be read",
    ]
  )

  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Say how old and how big the cache is, and what fails since when.",
    discussion: """
      Example:  larder status
                larder status --check 6h    for monitoring

      \(statuses.text)
      """
  )

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Fail unless every catalog was complete this recently.", valueName: "age"),
    transform: DurationArgument.read
  )
  var check: DurationArgument?

  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let summary = try CacheSummary(cache: try cache.place(reading: true, nil).path)
    let document = StatusDocument(summary, now: UnixTime.now())
    if output.json {
      Output.json(try document.json())
    } else if !output.quiet {
      Output.data(document.text(Terminal(output)))
    }
    if let check, let complaint = document.complaint(olderThan: check.seconds) {
      Log(output).warning(complaint)
      Output.end(.partial)
    }
  }
}
