/// Where in a store's JSON each thing is found: data, not code.
///
/// Every field has alternatives in order; the first that leads to something other than `null` counts.
public struct Mapping: Hashable, Sendable {
  /// The arrays of items, from the root of a body or, in a combined response, of one section.
  public var items: [JSONPath]
  /// What stands around the items.
  public var envelope: Envelope
  /// The fields of one item, from the item.
  public var item: Item
  /// The fields of one detail; nil when the format has none.
  public var detail: Detail?
  /// What a response of sections goes through before it is read; nil when it is read as it comes.
  public var transform: Transform?
  /// What bodies of sections are written in.
  public var notation = BodyNotation.json

  /// Makes a mapping.
  public init(
    items: [JSONPath],
    envelope: Envelope = Envelope(),
    item: Item,
    detail: Detail? = nil,
    transform: Transform? = nil
  ) {
    self.items = items
    self.envelope = envelope
    self.item = item
    self.detail = detail
    self.transform = transform
  }

  /// What a body says about itself.
  public struct Envelope: Hashable, Sendable {
    /// The section's title.
    public var title: [JSONPath] = []
    /// The section's subtitle.
    public var subtitle: [JSONPath] = []
    /// A number that means failure from 400 on, as HTTP statuses do.
    public var status: [JSONPath] = []

    /// Makes an envelope that says nothing.
    public init() {}
  }

  /// The fields of an item in a listing.
  public struct Item: Hashable, Sendable {
    /// Text or a whole number; an item without it is skipped.
    public var id: [JSONPath] = []
    /// Text; an item without it is skipped.
    public var title: [JSONPath] = []
    /// Text.
    public var description: [JSONPath] = []
    /// Text or a list of texts.
    public var badges: [JSONPath] = []
    /// Text or a list of texts.
    public var deliveryTypes: [JSONPath] = []
    /// The price before a reduction.
    public var normalPrice: [PriceRule] = []
    /// The price to pay.
    public var salePrice: [PriceRule] = []
    /// Degrees north of where the item is; needs ``longitude``.
    public var latitude: [JSONPath] = []
    /// Degrees east of where the item is; needs ``latitude``.
    public var longitude: [JSONPath] = []
    /// Where the item is in words.
    public var address: [JSONPath] = []
    /// Pictures by role.
    public var images: ImageRules = ImageRules()
    /// What fills the places of URL and body that ask for the item's detail, beside its id.
    public var placeValues: [NoteRule] = []
    /// The fields whose paths the catalog file itself spells out: a listing that yields none of one
    /// has a wrong path.
    ///
    /// A built-in format names fields that not every shop has.
    public var given: Set<ItemField> = []

    /// Makes an item of no fields.
    public init() {}
  }

  /// The fields of a detail.
  public struct Detail: Hashable, Sendable {
    /// The objects that are details; a body may hold those of many items.
    public var entries: [JSONPath] = []
    /// The item's id, from the entry.
    public var id: [JSONPath] = []
    /// The object that holds the fields below, from the entry.
    public var root: [JSONPath] = []
    /// Text.
    public var description: [JSONPath] = []
    /// Prices or a list of them.
    public var prices: [PriceRule] = []
    /// Pictures by role.
    public var images: ImageRules = ImageRules()
    /// Further texts by name, in the order of the file.
    public var notes: [NoteRule] = []
    /// The fields whose paths the catalog file itself spells out: when no detail yields one, its path is wrong.
    public var given: Set<DetailField> = []

    /// Makes a detail of no fields.
    public init() {}
  }

  /// Where a price stands.
  public struct PriceRule: Hashable, Sendable {
    /// The price itself.
    public var path: JSONPath
    /// How many digits are decimals, for feeds that write whole numbers; nil for text and numbers
    /// of major units.
    public var scale: Scale?
    /// Its currency; nil for the catalog's.
    public var currency: Unit?

    /// Makes a rule.
    public init(path: JSONPath, scale: Scale? = nil, currency: Unit? = nil) {
      self.path = path
      self.scale = scale
      self.currency = currency
    }

    /// What a price is in.
    public enum Unit: Hashable, Sendable {
      /// Always this ISO 4217 code.
      case code(String)
      /// The code that the item has here; the catalog's currency where it has none.
      case path(JSONPath)
    }

    /// How many digits of a whole number are decimals.
    public enum Scale: Hashable, Sendable {
      /// Always so many.
      case fixed(Int)
      /// As many as the currency has: the number counts minor units.
      case currency
      /// As many as the item says here.
      case path(JSONPath)
    }
  }

  /// Where a text with a name of its own stands.
  public struct NoteRule: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// Text or a number.
    public var paths: [JSONPath]

    /// Makes a rule.
    public init(name: String, paths: [JSONPath]) {
      self.name = name
      self.paths = paths
    }
  }

  /// Where the pictures of each role stand; each leads to a URL or a list of URLs.
  public struct ImageRules: Hashable, Sendable {
    private var rules: [[TextsRule]] = ImageReference.Role.allCases.map { _ in [] }

    /// Makes rules that find no picture.
    public init() {}

    /// The paths of the alternatives for a role.
    public subscript(role: ImageReference.Role) -> [JSONPath] {
      get { self[rules: role].flatMap(\.paths) }
      set { self[rules: role] = newValue.map { TextsRule(paths: [$0]) } }
    }

    /// The alternatives for a role.
    public subscript(rules role: ImageReference.Role) -> [TextsRule] {
      get { rules[Self.position(of: role)] }
      set { rules[Self.position(of: role)] = newValue }
    }

    private static func position(of role: ImageReference.Role) -> Int {
      switch role {
      case .thumbnail: 0
      case .top: 1
      case .gallery: 2
      case .section: 3
      }
    }
  }
}

extension Mapping.Envelope {
  /// Refuses a body that carries an error's status, whatever HTTP said.
  func checkStatus(of root: JSONNode, subject: String) throws(CatalogError) {
    for path in status {
      guard let value = try path.firstValue(in: root), let text = FieldReader.plainText(value),
        let number = Int(text), number >= 400
      else { continue }
      throw CatalogError(
        .reportedFailure,
        subject: subject,
        reason: "the body reports a failure: \(path.lastName ?? path.description) is \(number)",
        remedy: "try again later"
      )
    }
  }
}
