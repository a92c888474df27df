import ArgumentParser
import Catalog
import Foundation
import Larder
import Pipeline

/// A program that runs after a sync: the value of `--on-failure` or `--on-change`.
struct ToldProgram {
  /// The option's name, for messages.
  private let option: String
  /// The program and its arguments; never empty.
  private let words: [String]

  /// A function that parses the value of an option.
  ///
  /// - Parameter option: The option's name, for messages.
  /// - Returns: The function; it throws a `ValidationError` if the value names no program.
  static func reader(of option: String) -> @Sendable (String) throws -> ToldProgram {
    { command in
      let words = command.split { $0 == " " || $0 == "\t" || $0 == "\n" }.map(String.init)
      // A word such as `--json` is the next option, because the value was forgotten.
      guard let program = words.first, !program.hasPrefix("-") else {
        throw ValidationError("it names no program; give one, as in \(option) ./tell")
      }
      return ToldProgram(option: option, words: words)
    }
  }

  /// Refuses a program that others could change.
  ///
  /// A program that is named by its path is trusted if only root and the user of this process can change its file. A
  /// program without a path is looked up in `PATH`, and is trusted.
  func demandTrust() throws {
    guard let doubt else { return }
    throw CommandFailure(
      "cannot use \(option) \(words[0]): \(doubt.reason); \(doubt.remedy(words[0]))",
      .configuration
    )
  }

  /// The reason not to trust the program; nil if the program is trusted.
  private var doubt: FileTrust.Doubt? {
    words[0].contains("/") ? FileTrust.doubt(ofFile: words[0]) : nil
  }

  /// Runs the program.
  ///
  /// If the program cannot be run or fails, a warning is logged.
  ///
  /// - Parameters:
  ///   - input: The bytes that the program reads from its stdin.
  ///   - output: The output options, for warnings.
  /// - Returns: The status that this adds to the command's: that of a signal, `partial` if the program failed, or `done`.
  func tell(_ input: [UInt8], _ output: OutputOptions) -> ExitStatus {
    // The program is checked again, because it is possible that it changed after the run began.
    if let doubt {
      Log(output).warning("\(option): \(words[0]) was not run: \(doubt.reason)")
      return .partial
    }
    let signals = Signals()
    let stop = signals.stop
    let ended = ProgramRun(
      words: words,
      environment: ProcessInfo.processInfo.environment,
      input: input,
      isStopped: { stop.isRaised }
    ).run()
    if let status = signals.status { return status }
    guard let fault = ended.fault() else { return .done }
    Log(output).warning("\(option): \(words[0]) \(fault.words)")
    return .partial
  }
}
