import ArgumentParser
import Catalog
import Foundation
import Larder
import Pipeline

/// Who is told of a run that failed.
struct FailureOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Run this when the run failed, with what last-run.json says on its stdin: a program and its "
        + "words, parted by spaces, without a shell. It has 30 seconds.",
      valueName: "command"
    ),
    completion: .file()
  )
  var onFailure: String?

  func validate() throws {
    if onFailure.map(Self.words)?.isEmpty == true {
      throw ValidationError("--on-failure names no program; give one, as in --on-failure ./tell")
    }
  }

  private static func words(_ command: String) -> [String] {
    command.split { $0 == " " || $0 == "\t" || $0 == "\n" }.map(String.init)
  }

  /// Runs the command, if there is one, and warns when it fails: the run's own status stands.
  ///
  /// - Parameters:
  ///   - record: what it reads.
  ///   - output: how to warn.
  func tell(_ record: [UInt8], _ output: OutputOptions) {
    guard let onFailure else { return }
    let words = Self.words(onFailure)
    let stop = StopFlag()
    let signals = Signals { _ in stop.raise() }
    let ended = ProgramRun(
      words: words,
      environment: ProcessInfo.processInfo.environment,
      input: record,
      isStopped: { stop.isRaised }
    ).run()
    withExtendedLifetime(signals) {}
    if let fault = ended.fault() {
      Log(output).warning("--on-failure: \(words[0]) \(fault.words)")
    }
  }
}
