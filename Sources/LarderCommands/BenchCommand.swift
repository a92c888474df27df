import ArgumentParser

/// `larder bench`: measures parallel downloads.
struct BenchCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "done",
      .failed: "the embedded origin or libcurl is of no use",
      .partial: "some requests failed, or a figure is worse than the baseline allows",
      .data: "the list or the baseline cannot be read",
      .unavailable: "nothing could be fetched",
      .io: "the disk is full or not writable",
      .configuration: "the catalog file is wrong",
    ],
    stops: true
  )

  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Measure parallel downloads: cold, warm and revalidating, over a sweep.",
    discussion: """
      Example:  larder bench shop.yaml --parallel 1,4,16,64 --html bench.html
                larder bench https://cdn.example/a.jpg https://cdn.example/b.jpg
                larder bench urls.txt --rate 200/s --json > before.json
                larder bench urls.txt --rate 200/s --baseline before.json
                larder bench --origin sample --delay 20ms --sizes 8K..40K

      Works in a temporary folder of its own; your cache is not touched. Passes: cold starts with \
      nothing, warm with everything fresh, revalidate with everything stale. Each is repeated until \
      its rate is known to 5 %, or as often as --runs says. Without --rate a request starts when \
      another has ended (a closed loop, whose latencies hide the waits that slow answers cause); with \
      it each is measured from its planned start.

      \(statuses.text)
      """
  )

  @Argument(
    help: ArgumentHelp(
      "A catalog file, or a file of URLs, one a line, or URLs; - reads URLs from stdin.",
      valueName: "catalog|file|url"
    ),
    completion: .file(),
    transform: PathArgument.read
  )
  var sources: [String] = []

  @OptionGroup var bench: BenchOptions
  @OptionGroup(title: Topic.origin) var origin: OriginOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    if sources.isEmpty != origin.isAsked {
      throw ValidationError("name a catalog, a list of URLs or URLs, or say --origin sample")
    }
    if sources.count > 1, let other = sources.first(where: { !$0.contains("://") }) {
      throw ValidationError("several sources are URLs, and \"\(other)\" is none")
    }
  }

  func run() throws {
    Output.end(try BenchSession(sources, bench, origin.isAsked ? origin : nil, output).run())
  }
}

/// `larder bench-origin`: the store that `bench --origin sample` measures, in a process of its own.
///
/// Says where it is, and ends when its stdin does, so that it never outlives who started it.
struct BenchOriginCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-origin",
    abstract: "Serve pictures to measure with, until stdin ends.",
    discussion: """
      Example:  larder bench-origin --delay 20ms < /dev/tty

      Exit statuses: 0 done, 1 no port is free, 64 usage.
      """,
    shouldDisplay: false
  )

  @OptionGroup(title: Topic.origin) var origin: OriginOptions

  func run() throws {
    try SampleOrigin(origin).serve()
  }
}
