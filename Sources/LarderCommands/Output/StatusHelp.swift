/// The statuses that one command ends with, as its help lists them: one a line.
///
/// The commands' tests hold every run of the binary to these lists.
struct StatusHelp {
  /// The list, its lines fit for a terminal of 80 columns.
  let text: String

  /// A list.
  ///
  /// - Parameters:
  ///   - meanings: what each status says of this command, beside a wrong command line.
  ///   - stops: whether Ctrl-C and SIGTERM leave what is whole, and say what is unfinished.
  init(_ meanings: KeyValuePairs<ExitStatus, String>, stops: Bool = false) {
    var all = meanings.map { ($0.key.rawValue, $0.value) }
    all.append((ExitStatus.usage.rawValue, "the command line is wrong"))
    if stops {
      all.append((ExitStatus.interrupted.rawValue, "interrupted by Ctrl-C"))
      all.append((ExitStatus.terminated.rawValue, "ended by SIGTERM"))
    }
    let lines = all.sorted { $0.0 < $1.0 }.map { status, words in
      let number = "\(status)"
      return String(repeating: " ", count: 5 - number.count) + number + "  " + words
    }
    text = "Exit statuses:\n" + lines.joined(separator: "\n")
  }
}
