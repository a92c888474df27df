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
        + "words, parted by spaces, without a shell. It has 30 seconds. A path to it that others may "
        + "write is refused.",
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

  /// Refuses a program that is named by its path and that others than root and this process's user may change.
  func demandTrust() throws {
    guard let doubt, let path = program else { return }
    throw CommandFailure(
      "cannot use --on-failure \(path): \(doubt.reason); \(doubt.remedy(path))",
      .configuration
    )
  }

  /// The first doubt about the program; nil for a trusted one, and for one that is looked up in `PATH`.
  private var doubt: FileTrust.Doubt? {
    program.flatMap { $0.contains("/") ? FileTrust.doubt(ofFile: $0) : nil }
  }

  private var program: String? { onFailure.flatMap { Self.words($0).first } }

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
    // It may have been put there since the run began.
    if let doubt {
      Log(output).warning("--on-failure: \(words[0]) was not run: \(doubt.reason)")
      return
    }
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
