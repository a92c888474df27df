import Base
import Pipeline
import Transport

// The remedies for errors, in terms of commands and options such as `--force`. They are in this module because the
// other modules do not know the command line.

extension LarderError {
  /// The message for a terminal: the fault, then the command or option that helps.
  var commandText: String {
    guard let remedy else { return problem }
    let words =
      switch remedy {
      case .repair: "run larder verify --repair, then larder sync"
      case .remake: "run larder verify --repair, which rebuilds it and keeps the pictures"
      case .ownFolder: "choose a folder of your own with --cache"
      case .writableFolder: "choose a folder that you can write to with --cache"
      case .sync: "run larder sync"
      case .syncOrOtherFolder: "run larder sync, or give --cache"
      case .newerVersion:
        "install that version or later, or choose another folder with --cache"
      case .nameCatalog: "name one with --catalog"

      case .list: "larder order list shows all orders"
      case .history: "larder order show \(thing ?? "ID") shows its history"
      case .giveName: "give one with --by"
      case .budget: "order less, or raise --budget"
      case .anyway: "give --anyway to order it nevertheless"
      case .nameFile: "name one with --orders or LARDER_ORDERS"
      case .writableFile: "choose a file that you can write to with --orders or LARDER_ORDERS"
      case .secret: "give whsec_…, or --unsigned if the receiver does not check"

      case .otherTime: "use --time file or now"
      case .presentTime: "use --time now"
      case .smallerOrMorePixels: "make it smaller first, or crop and stamp it with --max-pixels"
      case .morePixels: "raise --max-pixels"
      case .replace: "add --force to replace it, or --skip-existing to leave it"
      case .again: "run again with --force"

      case .otherScratch: "choose another with TMPDIR"
      }
    return "\(problem); \(words)"
  }
}

extension SyncReport.Remedy {
  /// The remedy in words, with the option that applies it.
  var commandText: String {
    switch self {
    case .acceptRemovals: "if the shop intends it, run once with --allow-removals"
    case .acceptSkipped: "or allow more with --max-skipped"
    case .allowPrivateAddresses: "--allow-private-addresses allows it"
    }
  }

  /// A sentence of a report, then a semicolon and the remedy, if there is one.
  fileprivate static func text(_ problem: String?, _ remedy: Self?) -> String? {
    problem.map { problem in remedy.map { "\(problem); \($0.commandText)" } ?? problem }
  }
}

extension SyncReport.Section {
  /// The reason why the section failed, or differs from the shop's list, and the option that helps.
  var commandText: String? { SyncReport.Remedy.text(error, remedy) }
}

extension CacheSummary.FailingSection {
  /// The reason why the section is not current, and the option that helps.
  var commandText: String? { SyncReport.Remedy.text(reason, remedy) }
}

extension SyncReport.Details {
  /// The reason why details that lost fields stay as they were, and the option that helps.
  var commandText: String? { SyncReport.Remedy.text(error, remedy) }
}

extension SyncReport.Failure {
  /// Advice for a section that could not be fetched.
  ///
  /// The failures of details and pictures get no advice, because there can be hundreds of them.
  var advice: String? {
    guard stage == .section, remedy == nil else { return nil }
    // Reasons are compared as typed values, so that a misspelt reason does not compile.
    return switch FailureReason(rawValue: reason) {
    case .http(404), .http(410): "check base and the section's url in the catalog file"
    case .http(401), .http(403):
      "check headers and token in the catalog file, and their values"
    case .dnsFailed: "check the host's name, and the network"
    case .connectRefused, .connectFailed, .timeoutConnect:
      "check host and port in the catalog file; is the shop up?"
    case .proxyFailed: "check --proxy and LARDER_PROXY"
    default: nil
    }
  }

  /// The cause of the failure, and the option that helps.
  var commandText: String? { SyncReport.Remedy.text(detail, remedy) }
}
