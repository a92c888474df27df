/// A key of catalog files: the parsers allow it, and the schema offers it with these words.
struct CatalogKey: Sendable {
  /// The key.
  let name: String
  /// What its value may be, as JSON Schema.
  let value: ValueSchema
  /// What it says, in a sentence without a full stop.
  let meaning: String

  /// A key with what it takes and says.
  init(_ name: String, _ value: ValueSchema, _ meaning: String) {
    self.name = name
    self.value = value
    self.meaning = meaning
  }

  /// What a key's value may be.
  enum ValueSchema: Sendable {
    /// Text.
    case text
    /// Text or a number, for YAML takes unquoted digits for one.
    case scalar
    /// Text that is one of these.
    case oneOf([String])
    /// A whole number within bounds.
    case number(ClosedRange<Int>)
    /// True or false.
    case flag
    /// A list of texts that is not empty.
    case list
    /// Any mapping of texts by name.
    case texts
    /// Any mapping of such mappings by name.
    case textsByName
    /// Any mapping of paths by name.
    case notes
    /// What a definition of the schema says.
    case reference(String)
    /// Any of several.
    case anyOf([ValueSchema])
    /// What is said, or `null`, which takes away what stands above.
    indirect case orNull(ValueSchema)
  }
}
