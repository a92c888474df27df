import Catalog
import Foundation
import Larder
import Pipeline

/// A program that the user names on the command line, started after a run.
struct ToldProgram {
  /// The option that names it, for messages.
  private let option: String
  /// The program and its words.
  private let words: [String]

  /// The program of an option's value; nil when the option is not given.
  init?(_ command: String?, of option: String) {
    guard let command else { return nil }
    self.option = option
    words = command.split { $0 == " " || $0 == "\t" || $0 == "\n" }.map(String.init)
  }

  /// The reason why the value is a usage error; nil when it is none.
  var usageFault: String? {
    words.isEmpty ? "\(option) names no program; give one, as in \(option) ./tell" : nil
  }

  /// Refuses a program that is named by its path and that others than root and this process's user may change.
  func demandTrust() throws {
    guard let doubt, let path = words.first else { return }
    throw CommandFailure(
      "cannot use \(option) \(path): \(doubt.reason); \(doubt.remedy(path))",
      .configuration
    )
  }

  /// The first doubt about the program; nil for a trusted one, and for one that is looked up in `PATH`.
  private var doubt: FileTrust.Doubt? {
    words.first.flatMap { $0.contains("/") ? FileTrust.doubt(ofFile: $0) : nil }
  }

  /// Runs the program, and warns when it fails: the run's own status stands.
  ///
  /// - Parameters:
  ///   - input: The bytes on its stdin.
  ///   - output: How to warn.
  func tell(_ input: [UInt8], _ output: OutputOptions) {
    // It may have been put there since the run began.
    if let doubt {
      Log(output).warning("\(option): \(words[0]) was not run: \(doubt.reason)")
      return
    }
    let stop = StopFlag()
    let signals = Signals { _ in stop.raise() }
    let ended = ProgramRun(
      words: words,
      environment: ProcessInfo.processInfo.environment,
      input: input,
      isStopped: { stop.isRaised }
    ).run()
    withExtendedLifetime(signals) {}
    if let fault = ended.fault() {
      Log(output).warning("\(option): \(words[0]) \(fault.words)")
    }
  }
}
