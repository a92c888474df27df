/// A value of a record, such as a product in a page or an element of XML, that is written as JSON.
enum RecordValue {
  case text(String)
  case integer(Int)
  case real(Double)
  case list([RecordValue])
  case object([(name: String, value: RecordValue)])

  /// The text if the value is a text, otherwise nil.
  var text: String? {
    if case .text(let text) = self { text } else { nil }
  }

  /// The first element if the value is a list, otherwise the value itself.
  var first: RecordValue {
    if case .list(let values) = self, let first = values.first { first } else { self }
  }

  /// The value as a number, or nil if the value is neither a number nor a text that is a plain number.
  var number: Double? {
    switch self {
    case .text(let text): Double(text)
    case .integer(let number): Double(number)
    case .real(let number): number
    case .list, .object: nil
    }
  }

  func write(to writer: inout StoredFormWriter) {
    switch self {
    case .text(let text): writer.value(text)
    case .integer(let number): writer.value(number as Int?)
    case .real(let number): writer.value(number)
    case .list(let values): writer.array { for value in values { value.write(to: &$0) } }
    case .object(let members):
      writer.object {
        for (name, value) in members {
          $0.name(escaping: name)
          value.write(to: &$0)
        }
      }
    }
  }
}

/// The members of an object, as lists of values by name.
struct RecordMembers {
  /// The members in the order of their first values.
  var all: [(name: String, values: [RecordValue])] = []
  private var places: [String: (place: Int, isPlain: Bool)] = [:]

  /// Adds a value to the member with a name.
  ///
  /// If only some values of this name are plain, the others are left out.
  mutating func add(_ value: RecordValue, _ name: String, isPlain: Bool = false) {
    guard let known = places[name] else {
      if places.isEmpty { places.reserveCapacity(16) }
      places[name] = (all.count, isPlain)
      return all.append((name, [value]))
    }
    if known.isPlain == isPlain {
      all[known.place].values.append(value)
    } else if isPlain {
      places[name] = (known.place, true)
      all[known.place].values = [value]
    }
  }
}
