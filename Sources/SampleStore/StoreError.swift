/// Why the sample store could not start, or could not read what it was given.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of trouble it was; an open set.
  public struct Code: Hashable, Sendable {
    /// The name that logs and tests see.
    public let name: String

    /// Makes a code of its own name.
    public init(_ name: String) {
      self.name = name
    }

    /// The port is taken, or the address is not of this machine.
    public static let listen = Code("listen")
    /// The certificate or its key cannot be read.
    public static let identity = Code("identity")
    /// A fault script breaks its grammar.
    public static let faults = Code("faults")
    /// The folder to serve is missing or is no folder.
    public static let folder = Code("folder")
    /// The file that keeps orders cannot be opened.
    public static let orders = Code("orders")
    /// The picture to vary is neither JPEG nor PNG.
    public static let picture = Code("picture")
  }

  /// A place in a text, counted from 1.
  public struct Position: Hashable, Sendable {
    /// The line, from 1.
    public let line: Int
    /// The character in that line, from 1.
    public let column: Int
  }

  /// What kind of trouble it was.
  public let code: Code
  /// What could not be done, and to which thing: "listen on 127.0.0.1:80".
  public let thing: String
  /// Why not.
  public let cause: String
  /// What to try next.
  public let advice: String
  /// Where in the text, when a text was being read.
  public let position: Position?

  init(_ code: Code, _ thing: String, _ cause: String, _ advice: String, at: Position? = nil) {
    self.code = code
    self.thing = thing
    self.cause = cause
    self.advice = advice
    self.position = at
  }

  /// One line for people: "cannot VERB THING: REASON; TRY THIS".
  public var description: String {
    "cannot \(thing): \(cause); \(advice)"
  }
}
