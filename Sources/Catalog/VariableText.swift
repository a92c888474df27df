/// A text of the catalog file in which `${NAME}` stands for an environment variable.
struct VariableText: Hashable, Sendable {
  /// A piece of the text.
  enum Part: Hashable, Sendable {
    /// What stands for itself.
    case text(String)
    /// What the environment brings in.
    case variable(String)
  }

  /// Why a text is none such.
  struct Fault: Error {
    /// The cause, for a message that names the text before it.
    let reason: String
  }

  /// The pieces, in order.
  let parts: [Part]

  /// The variables in the order in which they come, repeats included.
  var variables: [String] {
    parts.compactMap { part in
      if case .variable(let name) = part { name } else { nil }
    }
  }

  /// Takes a text apart.
  init(_ text: String) throws(Fault) {
    var parts: [Part] = []
    var rest = Substring(text)
    while let start = rest.firstRange(of: "${") {
      parts.append(.text(String(rest[..<start.lowerBound])))
      let tail = rest[start.upperBound...]
      guard let end = tail.firstIndex(of: "}") else {
        throw Fault(reason: "opens a \"${\" that no \"}\" closes")
      }
      let variable = tail[..<end]
      guard let first = variable.utf8.first, !(0x30...0x39).contains(first),
        variable.utf8.allSatisfy(Self.isNameByte)
      else {
        throw Fault(reason: "names no environment variable between \"${\" and \"}\"")
      }
      parts.append(.variable(String(variable)))
      rest = tail[tail.index(after: end)...]
    }
    self.parts = (parts + [.text(String(rest))]).filter { $0 != .text("") }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
