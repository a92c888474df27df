import ArgumentParser
import Transport

/// How often a failed request is made again, on the command line.
struct RetriesArgument: Sendable, CustomStringConvertible {
  let count: Int

  /// As often as the transport does by itself.
  static let standard = RetriesArgument(count: RetryPolicy().retries)

  /// As it may be written.
  var description: String { "\(count)" }

  /// Reads the option's value.
  ///
  /// - Throws: `ValidationError` that names what may be written.
  static func read(_ argument: String) throws -> RetriesArgument {
    guard let count = WholeNumber.read(argument, in: 0...100) else {
      throw ValidationError("it takes a number from 0 to 100")
    }
    return RetriesArgument(count: count)
  }
}
