/// The Unicode scalars that one place of a regular expression takes. (RFC 9485, section 4)
struct ScalarSet: Hashable, Sendable {
  /// Scalars by value.
  var ranges: [ClosedRange<UInt32>] = []
  /// Unicode's general categories, by their names of one or two letters: `L`, `Lu`.
  var categories: [String] = []
  /// General categories that the scalar must not be of, each alone enough.
  var otherCategories: [String] = []
  /// Whether the scalars meant are those outside.
  var isNegated = false

  /// A set of one scalar.
  init(_ scalar: Unicode.Scalar) {
    ranges = [scalar.value...scalar.value]
  }

  /// An empty set.
  init() {}

  /// What a dot takes: all but the ends of lines.
  static let dot: ScalarSet = {
    var set = ScalarSet()
    set.ranges = [0x0A...0x0A, 0x0D...0x0D]
    set.isNegated = true
    return set
  }()

  /// Whether the set holds a scalar.
  func contains(_ scalar: Unicode.Scalar) -> Bool {
    if ranges.contains(where: { $0.contains(scalar.value) }) { return !isNegated }
    if categories.isEmpty, otherCategories.isEmpty { return isNegated }
    let name = scalar.properties.generalCategory.shortName
    let isHeld =
      categories.contains { name.hasPrefix($0) }
      || otherCategories.contains { !name.hasPrefix($0) }
    return isHeld != isNegated
  }

  /// The categories that a pattern may name. (RFC 9485, section 4)
  static let knownCategories: Set<String> = [
    "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl", "No", "P", "Pc",
    "Pd",
    "Pe", "Pf", "Pi", "Po", "Ps", "Z", "Zl", "Zp", "Zs", "S", "Sc", "Sk", "Sm", "So", "C", "Cc",
    "Cf",
    "Cn", "Co",
  ]
}

extension Unicode.GeneralCategory {
  /// The category's short name in the Unicode Standard. (section 4.5, table 4-4)
  fileprivate var shortName: String {
    switch self {
    case .uppercaseLetter: "Lu"
    case .lowercaseLetter: "Ll"
    case .titlecaseLetter: "Lt"
    case .modifierLetter: "Lm"
    case .otherLetter: "Lo"
    case .nonspacingMark: "Mn"
    case .spacingMark: "Mc"
    case .enclosingMark: "Me"
    case .decimalNumber: "Nd"
    case .letterNumber: "Nl"
    case .otherNumber: "No"
    case .connectorPunctuation: "Pc"
    case .dashPunctuation: "Pd"
    case .openPunctuation: "Ps"
    case .closePunctuation: "Pe"
    case .initialPunctuation: "Pi"
    case .finalPunctuation: "Pf"
    case .otherPunctuation: "Po"
    case .mathSymbol: "Sm"
    case .currencySymbol: "Sc"
    case .modifierSymbol: "Sk"
    case .otherSymbol: "So"
    case .spaceSeparator: "Zs"
    case .lineSeparator: "Zl"
    case .paragraphSeparator: "Zp"
    case .control: "Cc"
    case .format: "Cf"
    case .surrogate: "Cs"
    case .privateUse: "Co"
    case .unassigned: "Cn"
    @unknown default: "Cn"
    }
  }
}
