import ArgumentParser
import Base
import Catalog
import Pipeline

/// `larder list [SECTION]`: prints the catalog, offline.
struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the catalog as last synced, offline.",
    discussion: """
      Example:  larder list main --search ㅂㄱㄱ --price ..9000 --sort price --limit 10
                larder list --at 2026-11-27 --json
      """,
    statuses: [
      .done: "listed",
      .failed: "there is nothing to list: no cache, or no such section",
      .io: "the cache cannot be read",
    ]
  )

  @Argument(help: "Only this section.")
  var section: String?

  @OptionGroup(title: Topic.items) var query: QueryOptions
  @OptionGroup(title: Topic.items) var moment: MomentOptions

  @OptionGroup(title: Topic.cache) var cache: CacheOptions
  @OptionGroup(title: Topic.cache) var catalog: CatalogOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    var reader = try CatalogReader(cache: cache.path, catalog: catalog.catalog, at: moment.at)
    reader.showsLowest = output.json
    let query = query.query
    var batches = try reader.batches(section: section, where: query)
    // Sorted items of several sections form one list without headings.
    let isFlat = query.order != nil && section == nil
    if output.json {
      try printArray(of: batches)
    } else {
      var table = ItemTable(sections: isFlat ? [] : try reader.sections(), Terminal(output))
      while let batch = try batches.next() {
        if !batch.isEmpty { Output.data(table.lines(of: batch)) }
      }
    }
  }

  /// Prints items as one JSON array, batch by batch.
  ///
  /// Because of the batches, the first items appear at once, and a reader such as `| head` can end the command early.
  ///
  /// - Throws: An error, before anything is printed, when the cache cannot be read.
  private func printArray(of batches: ItemBatches) throws {
    // A JSON document must be printed completely or not at all. So all data is read once before the first byte is
    // written.
    var trial = batches
    while try trial.next() != nil {}
    var batches = batches
    var separator = "["
    while let batch = try batches.next() {
      let elements = try ItemDocument.list(batch).dropFirst().dropLast()
      if elements.isEmpty { continue }
      Output.part(Array(separator.utf8) + elements)
      separator = ","
    }
    Output.part(Array(separator == "," ? "]\n".utf8 : "[]\n".utf8))
  }
}

/// The option `--at`: shows the catalog as of an earlier time.
struct MomentOptions: ParsableArguments {
  @Option(
    "Show the catalog as of this time, in UTC: 2026-11-27T12:00:00Z, or 2026-11-27 for the start of that day. "
      + "Pictures and details that have changed since are left out.",
    value: "time",
    read: MomentOptions.read
  )
  var at: UnixTime?

  /// Parses the value of `--at`.
  ///
  /// - Throws: `ValidationError` that names the accepted forms.
  private static func read(_ argument: String) throws -> UnixTime {
    let isDay = !argument.contains("T")
    guard let moment = UnixTime(rfc3339: isDay ? "\(argument)T00:00:00Z" : argument) else {
      throw ValidationError(
        "it takes a time in UTC such as 2026-11-27T12:00:00Z, or a day such as 2026-11-27"
      )
    }
    return moment
  }
}

/// The options that filter, sort and shorten a list of items.
struct QueryOptions: ParsableArguments {
  @Option(
    "Only items with this text in title, description, badge or id. Korean initials work too: ㅂㄱㄱ finds 불고기.",
    value: "text"
  )
  var search: SearchText?

  @Option("Only items with a badge that contains this text.", value: "text")
  var badge: SearchText?

  @Option(
    "Only items in this price range, such as 5000..9000, ..9000 or 5000.., in the currency's major unit.",
    value: "low..high",
    read: QueryOptions.bounds
  )
  var price: PriceBounds?

  @Option(
    "Sort by price, -price (the highest first) or title. (default: the catalog's order)",
    value: "order",
    completion: .list(NameArgument<ItemSort>.names),
    read: NameArgument.read
  )
  var sort: ItemSort?

  @Option(
    "List at most N items. (default: all)",
    value: "n",
    read: WholeNumber.reader(1...1_000_000_000)
  )
  var limit: Int?

  var query: ItemQuery {
    ItemQuery(search: search, badge: badge, price: price, order: sort, limit: limit)
  }

  /// Parses the value of `--price`.
  ///
  /// - Throws: `ValidationError` with the allowed forms.
  private static func bounds(_ argument: String) throws -> PriceBounds {
    guard let bounds = PriceBounds(argument) else {
      throw ValidationError("it takes \(PriceBounds.expected), the lower end first")
    }
    return bounds
  }
}

extension SearchText: ExpressibleByArgument {
  /// Takes the whole argument as the text to find.
  public init(argument: String) { self.init(argument) }
}
