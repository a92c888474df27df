import ArgumentParser
import CurlTransport
import Dispatch
import Pipeline
import Transport
import Web

/// `larder serve`: the catalog as a web store, an interface for apps, and a mirror of the pictures.
struct ServeCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "not while it serves: a signal ends it",
      .failed: "there is no cache, no such catalog, or the address is taken",
      .io: "the cache cannot be read",
      .configuration: "the catalog file is wrong",
    ],
    stops: true
  )

  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve the catalog: a web store, JSON for apps, and the pictures.",
    discussion: """
      Example:  larder serve shop.yaml
                larder serve shop.yaml --bind 0.0.0.0 --host shop.example --port 80

      / is the store; /api/sections, /api/sections/KEY, /api/items/ID and /api/search?q= speak as list \
      --json does, /openapi.json describes them; /images/… are the pictures, with ?square=N squares of \
      them; /healthz and /metrics are for whoever watches. Runs of sync, warm and gc may go on beside it; \
      what they change is served at once.

      A picture that the catalog names and the cache lacks is fetched as sync would, kept and served. \
      The catalog file says which hosts may have private addresses; without it none may.

      Only this machine can ask unless --bind says otherwise. On SIGTERM or Ctrl-C open answers have \
      10 s. -v prints a line for each request on stderr.

      \(statuses.text)
      """
  )

  @Argument(
    help: ArgumentHelp(
      "The catalog file that the cache was synced with, for pictures that are to be fetched.",
      valueName: "catalog"
    ),
    completion: .catalogFile,
    transform: PathArgument.read
  )
  var file: String?

  @OptionGroup var server: ServerOptions

  @Flag(help: "Serve what is held, and fetch nothing.")
  var offline = false

  @Option(help: ArgumentHelp("Replaces the catalog file's base.", valueName: "url"))
  var base: String?

  @Option(help: ArgumentHelp("Take no order that costs more.", valueName: "amount"))
  var budget: String?

  @OptionGroup(title: Topic.limits) var room: RoomOptions
  @OptionGroup(title: Topic.connection) var connection: ConnectionOptions
  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup(title: Topic.cache) var catalog: CatalogOptions
  @OptionGroup(title: Topic.orders) var outbox: OutboxOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    Descriptors.raiseLimit()
    let file = try file.map { try CatalogFileOnDisk($0) }
    let place = try cache.place(reading: true, Log(output))
    defer { withExtendedLifetime(place) {} }
    let shelf = try CatalogShelf(cache: place.path, catalog: catalog.catalog ?? file?.catalog.name)
    let origin = offline ? nil : try ServedOrigin(file, of: shelf, base: base, connection)
    defer { origin?.transport.shutdown() }
    var pulling: ServerContent.Pulling?
    if let origin {
      let reserve = room.reserve(of: place.path)
      pulling = { origin.pull(into: $0, keeping: reserve) }
    }
    let log = AccessLog(output.logFormat, isWhole: output.verbose > 0)
    let store = Store(
      cache: place.path,
      catalog: shelf.name,
      orders: try outbox.path(),
      budget: try budget.map { text in
        let reader = try CatalogReader(cache: place.path, catalog: shelf.name)
        return try OrderPlaceCommand.budget(text, reader.catalog.currency)
      },
      squares: server.squares.sides
    )
    let content = ServerContent(
      cache: place.path,
      keeper: place.keeper,
      shelf: shelf,
      squares: server.squares.sides,
      pictures: Workers.forPictures,
      clock: { .now() },
      pulling: pulling,
      pages: { await store.answer($0) },
      log: { log.note($0) }
    )
    if let obstacle = content.obstacle {
      Log(output).warning("what is not held is not fetched: \(obstacle.commandText)")
    }
    try serve(content)
  }

  private func serve(_ content: ServerContent) throws {
    let ended = DispatchSemaphore(value: 0)
    let signals = Signals(patience: .seconds(11)) { _ in ended.signal() }
    let web = try TaskWait.value { [server] in
      try await WebServer(
        content,
        bind: server.bind,
        port: server.port,
        hosts: server.host,
        limits: server.limits
      )
    }
    if !web.isLoopback {
      Log(output).warning(
        "whoever can reach \(web.address) can see the catalog and place orders; a proxy that asks for "
          + "passwords keeps others out"
      )
    }
    if output.json {
      Output.json(try ["url": web.url].jsonLine())
    } else {
      Output.data("serving \(web.url)")
    }
    ended.wait()
    try TaskWait.value { await web.stop() }
    Output.end(signals.signal == 15 ? .terminated : .interrupted)
  }
}
