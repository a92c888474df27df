import CGlibc
import Glibc

/// The reason why the sample store could not start, or could not read its input.
package struct SampleError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of error; an open set, so that a new kind breaks no caller.
  package struct Code: Hashable, Sendable {
    /// The name of the kind, for logs and tests.
    package let name: String

    /// Makes a code with a name.
    package init(_ name: String) {
      self.name = name
    }

    /// The port is taken, or the address does not belong to this machine.
    package static let listen = Code("listen")
    /// The certificate or its key cannot be read.
    package static let identity = Code("identity")
    /// A fault script has a syntax error.
    package static let faults = Code("faults")
    /// The folder to serve is missing, or is not a folder.
    package static let folder = Code("folder")
    /// The file for orders cannot be opened.
    package static let orders = Code("orders")
    /// The base picture is neither JPEG nor PNG.
    package static let picture = Code("picture")
  }

  /// A position in a text, counted from 1.
  package struct Position: Hashable, Sendable {
    /// The line, from 1.
    package let line: Int
    /// The character in the line, from 1.
    package let column: Int
  }

  /// The kind of error.
  package let code: Code
  /// The failed action and its object: "listen on 127.0.0.1:80".
  package let thing: String
  /// The cause of the failure.
  package let cause: String
  /// A remedy for the user to try.
  package let advice: String
  /// The position of the error in a fault script; nil for other errors.
  package let position: Position?

  init(_ code: Code, _ thing: String, _ cause: String, _ advice: String, at: Position? = nil) {
    self.code = code
    self.thing = thing
    self.cause = cause
    self.advice = advice
    self.position = at
  }

  /// The error as one line: "cannot VERB THING: REASON; TRY THIS".
  package var description: String {
    "cannot \(thing): \(cause); \(advice)"
  }

  /// The system's message for an error number, in lower case so that it can be part of a sentence.
  static func words(for errno: Int32) -> String {
    String(cString: larder_error_words(errno))
  }
}
