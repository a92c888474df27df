import ArgumentParser
import Cache
import SampleStore

/// `larder demo`: the main job on the sample store.
struct DemoCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "all went as it should",
      .failed: "something did not, or no port is free",
      .io: "the disk is full, not writable or damaged",
      .tryAgain: "another run holds the cache",
    ],
    stops: true
  )

  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract:
      "Do the main job on the embedded sample store: sync, change, order, list, verify, report.",
    discussion: """
      Example:  larder demo
                larder demo --serve --port 8080    and in another terminal
                larder sync samples/catalog.yaml

      The store listens on this machine only, and some of its answers fail on purpose. \
      Ends by itself, unless it serves.

      \(statuses.text)
      """
  )

  @Option(
    help: ArgumentHelp(
      "The sample store's folder. (default: LARDER_SAMPLES, else the installed one)",
      valueName: "dir"
    ),
    transform: PathArgument.read
  )
  var samples: String?

  @Flag(help: "Only serve the sample store, until Ctrl-C.")
  var serve = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Serve on this port; 0 takes any. (default: 8080)", valueName: "port"),
    transform: WholeNumber.reader(0...65_535)
  )
  var port = 8080

  @Option(
    help: ArgumentHelp("Let answers fail as this file says.", valueName: "file"),
    transform: PathArgument.read
  )
  var faults: String?

  @Option(
    name: .customLong("journal"),
    help: ArgumentHelp("Write down orders that are posted to /orders.", valueName: "file"),
    transform: PathArgument.read
  )
  var journal: String?

  @Flag(help: "Serve a picture of its own at every picture path that the store has not.")
  var anyPicture = false

  @Option(
    help: ArgumentHelp("Serve HTTPS with this certificate (PEM).", valueName: "file"),
    transform: PathArgument.read
  )
  var certificate: String?

  @Option(
    help: ArgumentHelp("The certificate's key (PEM).", valueName: "file"),
    transform: PathArgument.read
  )
  var key: String?

  @OptionGroup(title: Topic.cache) var cache: CacheOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    if (certificate == nil) != (key == nil) {
      throw ValidationError("--certificate and --key go together")
    }
  }

  func run() throws {
    let folder = try SampleFolder.find(named: samples)
    do {
      if serve {
        try ServeSamples(
          folder: folder,
          port: port,
          faults: faults,
          journal: journal,
          servesAnyPicture: anyPicture,
          certificate: certificate,
          key: key,
          isJSON: output.json
        ).run()
      } else {
        try Demonstration(folder: folder, faults: faults, cache: cache.path, output: output).run()
      }
    } catch let error as StoreError {
      throw CommandFailure(error.description, .failed)
    }
  }
}
