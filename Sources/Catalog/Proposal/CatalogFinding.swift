/// Something in what a catalog file reads that looks wrong.
package struct CatalogFinding: Hashable, Sendable {
  /// What kind of thing.
  package enum Code: String, Sendable, CaseIterable {
    /// Items that cannot be read.
    case itemSkipped = "item-skipped"
    /// Values that cannot be read.
    case fieldLost = "field-lost"
    /// A path of the catalog file that leads to nothing.
    case neverMatches = "never-matches"
    /// Items that cost more than before their reduction.
    case saleAboveNormal = "sale-above-normal"
    /// An id that several items of a section have.
    case duplicateID = "duplicate-id"
    /// A section with the key of another, which a sync refuses.
    case duplicateKey = "duplicate-key"
    /// Prices that seem to count cents and are read as major units.
    case minorUnits = "minor-units"
    /// Prices whose point only the custom of the currency explains.
    case ambiguousPrice = "ambiguous-price"
    /// Pictures whose URL, or answer, is a page's.
    case pictureIsPage = "picture-is-page"
    /// A picture that cannot be fetched.
    case pictureFails = "picture-fails"
    /// A listing with further pages, in a catalog file without paging.
    case morePages = "more-pages"
    /// More elements on a page than asked for.
    case pageSize = "page-size"
    /// No item at all.
    case empty
  }

  /// What kind of thing.
  package let code: Code
  /// The field of the catalog file that it is about; nil when it is about none.
  package let field: String?
  /// How many items it is about.
  package let count: Int
  /// What it is, and what may help.
  package let message: String
  /// The ids of some of the items, or what else shows it.
  package let examples: [String]

  /// Makes a finding; of the examples three are kept.
  package init(
    _ code: Code,
    field: String? = nil,
    count: Int = 0,
    message: String,
    examples: [String] = []
  ) {
    self.code = code
    self.field = field
    self.count = count
    self.message = message
    self.examples = Array(examples.prefix(3))
  }

  /// One finding for several of a kind, in the words of the first; nil for none.
  package init?(joining findings: [CatalogFinding]) {
    guard let first = findings.first else { return nil }
    self.init(
      first.code,
      field: first.field,
      count: findings.map(\.count).reduce(0, +),
      message: first.message,
      examples: findings.flatMap(\.examples)
    )
  }
}
