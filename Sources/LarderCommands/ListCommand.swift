import ArgumentParser
import Base
import Catalog
import Pipeline

/// `larder list [SECTION]`: prints the catalog, offline.
struct ListCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "listed",
      .failed: "there is nothing to list: no cache, or no such section",
      .io: "the cache cannot be read",
    ]
  )

  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the catalog as last synced, offline.",
    discussion: """
      Example:  larder list main --search ㅂㄱㄱ --price ..9000 --sort price --limit 10
                larder list --at 2026-11-27 --json

      \(statuses.text)
      """
  )

  @Argument(help: ArgumentHelp("Only this section.", valueName: "section"))
  var section: String?

  @OptionGroup(title: Topic.items) var query: QueryOptions
  @OptionGroup(title: Topic.items) var moment: MomentOptions

  @Flag(help: "Print the items with coordinates as GeoJSON (RFC 7946).")
  var geojson = false

  @OptionGroup(title: Topic.cache) var cache: CacheOptions
  @OptionGroup(title: Topic.cache) var catalog: CatalogOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func validate() throws {
    if geojson, output.json { throw ValidationError("--geojson and --json: choose one of them") }
  }

  func run() throws {
    var reader = try CatalogReader(
      cache: cache.path,
      catalog: catalog.catalog,
      at: moment.at
    )
    reader.showsLowest = output.json
    let query = query.query
    var batches = try reader.batches(section: section, where: query)
    // Sorted items of several sections form one list without headings.
    let isFlat = query.order != nil && section == nil
    var list = ItemListOutput(
      form: geojson ? .geoJSON(catalog: reader.catalog.name) : output.json ? .json : .table,
      table: ItemTable(sections: isFlat ? [] : try reader.sections(), Terminal(output))
    )
    // A JSON document must be printed completely or not at all. So all data is read once before the first byte is
    // written.
    if geojson || output.json {
      var trial = batches
      while try trial.next() != nil {}
    }
    while let batch = try batches.next() { try list.add(batch) }
    list.end()
  }
}

/// The option `--at`: shows the catalog as of an earlier time.
struct MomentOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Show the catalog as of this time, in UTC: 2026-11-27T12:00:00Z, or 2026-11-27 for the start of that day. "
        + "Pictures and details that have changed since are left out.",
      valueName: "time"
    ),
    transform: MomentOptions.read
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
    help: ArgumentHelp(
      "Only items with this text in title, description, badge or id. Korean initials work too: ㅂㄱㄱ finds 불고기.",
      valueName: "text"
    )
  )
  var search: String?

  @Option(
    help: ArgumentHelp("Only items with a badge that contains this text.", valueName: "text")
  )
  var badge: String?

  @Option(
    help: ArgumentHelp(
      "Only items in this price range, such as 5000..9000, ..9000 or 5000.., in the currency's major unit.",
      valueName: "low..high"
    ),
    transform: QueryOptions.bounds
  )
  var price: PriceBounds?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Sort by price, -price (the highest first) or title. (default: the catalog's order)",
      valueName: "order"
    ),
    completion: .list(ItemSort.allCases.map(\.rawValue)),
    transform: QueryOptions.order
  )
  var sort: ItemSort?

  @Option(
    "List at most N items. (default: all)",
    value: "n",
    read: WholeNumber.reader(1...1_000_000_000)
  )
  var limit: Int?

  var query: ItemQuery {
    ItemQuery(
      search: search.map(SearchText.init),
      badge: badge.map(SearchText.init),
      price: price,
      order: sort,
      limit: limit
    )
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

  /// Parses the value of `--sort`.
  ///
  /// - Throws: `ValidationError` with the allowed forms.
  private static func order(_ argument: String) throws -> ItemSort {
    guard let order = ItemSort(rawValue: argument) else {
      let all = ItemSort.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("it takes one of \(all)")
    }
    return order
  }
}

/// Writes a list of items to stdout, batch by batch.
///
/// Because of the batches, the first items appear at once, and a reader such as `| head` can end the command early.
struct ItemListOutput {
  /// The output format.
  enum Form {
    /// A table for people.
    case table
    /// One JSON array.
    case json
    /// A GeoJSON object, `FeatureCollection`, of the items with coordinates. (RFC 7946)
    case geoJSON(catalog: String)

    /// The text before the first item, and the text after the last item.
    ///
    /// They are nil if the format is a table.
    var brackets: (open: String, close: String)? {
      switch self {
      case .table: nil
      case .json: ("[", "]\n")
      case .geoJSON: (#"{"type":"FeatureCollection","features":["#, "]}\n")
      }
    }
  }

  private let form: Form
  private var table: ItemTable
  private var isBegun = false

  init(form: Form, table: ItemTable) {
    self.form = form
    self.table = table
  }

  /// Writes a batch of items.
  mutating func add(_ items: [ShownItem]) throws {
    guard !items.isEmpty else { return }
    guard let brackets = form.brackets else { return Output.data(table.lines(of: items)) }
    let array: [UInt8]
    if case .geoJSON(let catalog) = form {
      array = try PlaceFeature.list(items, catalog: catalog)
    } else {
      array = try ItemDocument.list(items)
    }
    let elements = array.dropFirst().dropLast()
    guard !elements.isEmpty else { return }
    Output.part(Array((isBegun ? "," : brackets.open).utf8) + elements)
    isBegun = true
  }

  /// Ends the list.
  func end() {
    guard let brackets = form.brackets else { return }
    Output.part(Array(((isBegun ? "" : brackets.open) + brackets.close).utf8))
  }
}
