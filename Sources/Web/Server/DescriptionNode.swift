/// A piece of JSON, written down in Swift.
indirect enum DescriptionNode: Sendable {
  case text(String)
  case number(Int)
  case flag(Bool)
  case list([DescriptionNode])
  case object([String: DescriptionNode])
}

extension DescriptionNode: Encodable {
  func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .text(let text): try value.encode(text)
    case .number(let number): try value.encode(number)
    case .flag(let flag): try value.encode(flag)
    case .list(let nodes): try value.encode(nodes)
    case .object(let members): try value.encode(members)
    }
  }
}

extension DescriptionNode: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
  ExpressibleByStringInterpolation
{
  init(stringLiteral value: String) { self = .text(value) }
  init(integerLiteral value: Int) { self = .number(value) }
  init(booleanLiteral value: Bool) { self = .flag(value) }
  init(arrayLiteral elements: DescriptionNode...) { self = .list(elements) }
  init(dictionaryLiteral elements: (String, DescriptionNode)...) {
    self = .object(Dictionary(elements) { first, _ in first })
  }
}
