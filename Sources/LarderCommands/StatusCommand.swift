import ArgumentParser
import CurlTransport
import Pipeline
import Transport

/// `larder status`: how the cache stands.
struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Say how old and how big the cache is, and what fails since when.",
    discussion: """
      Example:  larder status
                larder status --check 6h    for monitoring: 0 when a complete run ended within 6 h

      Exit statuses: 0 shown (and new enough), 1 there is no cache, 3 older than --check allows, \
      64 usage, 74 the cache cannot be read.
      """
  )

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Fail unless every catalog was complete this recently.", valueName: "age"),
    transform: DurationArgument.read
  )
  var check: DurationArgument?

  @OptionGroup var cache: CacheOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let summary = try CacheSummary(cache: cache.path)
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
