import CGlibc
import Glibc

/// An error that the sample store reports when it cannot start or cannot read its input.
package struct SampleError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of errors.
  package enum Code: Sendable {
    /// The port is taken, or the address does not belong to this machine.
    case listen
    /// A fault script has a syntax error.
    case faults
    /// The folder to serve is missing, or is not a folder.
    case folder
    /// The file for orders cannot be opened.
    case orders
  }

  /// The kind of error.
  package let code: Code
  /// The error as a line "cannot VERB THING: REASON; TRY THIS".
  package let description: String

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: The kind of error.
  ///   - task: The failed action and its object, such as "listen on 127.0.0.1:80".
  ///   - cause: The reason.
  ///   - advice: A remedy that the user can try.
  init(_ code: Code, _ task: String, _ cause: String, _ advice: String) {
    self.code = code
    description = "cannot \(task): \(cause); \(advice)"
  }

  /// The system's message for an error number, in lower case, so that it can be a part of a sentence.
  static func words(for errno: Int32) -> String {
    String(cString: larder_error_words(errno))
  }
}
