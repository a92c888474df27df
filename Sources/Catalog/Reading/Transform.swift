import CGlibc
import CJQ
import Glibc

/// A jq program that changes a shop's response before its fields are read.
///
/// The program runs in a separate process, which has no environment variables and no files. `Limits` restrict its
/// time and memory, so that neither the program nor the response can harm the run.
public struct Transform: Hashable, Sendable {
  /// The program as it was written.
  public let program: String
  /// The line of the catalog file where the program begins, counted from 1, or nil if the program is not from a file.
  public let line: Int?

  /// The limits of a program while it processes one response.
  struct Limits {
    /// The maximum processor time, in seconds.
    var seconds: Int
    /// The maximum amount of memory, in bytes.
    var memory: Int
    /// The maximum size of the output, in bytes of JSON.
    var output = 1 << 30

    /// Limits that are sufficient for a response of `count` bytes.
    ///
    /// jq reads at least 10 MB a second, and stores a value in up to thirty times the size of its text. The limits also
    /// leave time for the work of the program itself.
    static func usual(forBytes count: Int) -> Limits {
      Limits(
        seconds: 2 + count / 500_000,
        memory: 64 << 20 + 32 * count,
        output: max(4 << 20, 4 * count)
      )
    }
  }

  /// Makes a transform, and checks that its program compiles.
  ///
  /// - Parameters:
  ///   - program: The program.
  ///   - line: The line of the catalog file where the program begins, or nil if it is not from a file.
  /// - Throws: ``CatalogError`` if the program does not compile.
  init(compiling program: String, line: Int? = nil) throws(CatalogError) {
    (self.program, self.line) = (program, line)
    // `$ENV` is a keyword, so a definition in `preamble` cannot hide it as functions are hidden.
    if program.contains(/\$ENV(?!\w)/) { throw fault("$ENV is not available in a transform") }
    switch run(Limits(seconds: 10, memory: 512 << 20)).outcome(of: nil) {
    case .value: return
    case .notCompiled(let words): throw fault(compiling: words)
    case .refused(let words): throw fault(words)
    }
  }

  /// The maximum size of a response that a program processes, in bytes.
  ///
  /// It is limited because jq has the whole response in memory, and needs many times its size.
  static let mostInput = 256 << 20

  /// Refuses a response that is too large for a program.
  func checkSize(_ count: Int, of subject: String) throws(CatalogError) {
    guard count > Self.mostInput else { return }
    throw CatalogError(
      .transform,
      subject: subject,
      reason:
        "a transform holds the whole response in memory, and takes \(Self.mostInput >> 20) MiB at most; this "
        + "one has \((count + (1 << 20) - 1) >> 20) MiB",
      remedy: "request it in pages (paging), or read it with items and item only"
    )
  }

  /// Runs the program on a response.
  ///
  /// If the response has a whole number that a `Double` cannot represent exactly, the program gets a text with the same
  /// digits, because jq would change the number.
  ///
  /// - Parameters:
  ///   - body: The response, as JSON in UTF-8.
  ///   - subject: The name of the response in error messages, for example "section main".
  ///   - limits: The limits of the program. Nil means ``Limits/usual(forBytes:)``.
  ///   - isStopped: A function that is called several times a second. If it returns true, the program is ended.
  /// - Returns: The single value that the program outputs, as JSON in UTF-8.
  /// - Throws: ``CatalogError`` with code `transform` and the line of the catalog file where the program begins.
  func apply(
    to body: [UInt8],
    of subject: String,
    limits: Limits? = nil,
    isStopped: @escaping @Sendable () -> Bool = { false }
  ) throws(CatalogError) -> [UInt8] {
    let text = JSONText(body)
    let exact = (try? JSONRepair(text, wholeLimit: 1 << 53))?.bytes ?? text.bytes
    let result = run(limits ?? .usual(forBytes: exact.count), isStopped).outcome(of: exact)
    if isStopped() {
      throw CatalogError(.stopped, subject: subject, reason: "the run ended while it was read")
    }
    switch result {
    case .value(let value): return value
    case .notCompiled(let words), .refused(let words):
      let place = line.map { " of line \($0)" } ?? ""
      throw CatalogError(
        .transform,
        subject: subject,
        reason: "the transform\(place) fails: \(words)",
        remedy: "correct \"transform\" in the catalog file, or the feed"
      )
    }
  }

  /// Runs the program once on the array of all records of a response.
  ///
  /// - Returns: The elements of the array that the program outputs.
  func apply(
    to records: [JSONNode],
    of subject: String,
    within limits: DecodingLimits
  ) throws(CatalogError) -> [JSONNode] {
    guard !records.isEmpty else { return [] }
    var writer = StoredFormWriter()
    writer.array { for record in records { record.write(to: &$0) } }
    try checkSize(writer.bytes.count, of: subject)
    let made = try apply(to: writer.bytes, of: subject, isStopped: limits.isStopped)
    return try JSONDocument(parsing: made, of: "\(subject), its records").root.elements
  }

  private func run(
    _ limits: Limits,
    _ isStopped: @escaping @Sendable () -> Bool = { false }
  ) -> JQRun {
    JQRun(program: Self.preamble + program, limits: limits, isStopped: isStopped)
  }

  /// Definitions in jq that are put before a program.
  ///
  /// They replace the functions that a program must not use. They contain no line break, so that the line numbers in
  /// jq's messages remain those of the program.
  private static let preamble: String = {
    let names = [
      "env", "input", "inputs", "debug", "debug(f)", "stderr", "input_filename",
      "input_line_number",
      "halt", "halt_error", "halt_error(f)", "get_search_list",
    ]
    return names.map { name in
      let shown = name.prefix { $0 != "(" }
      return "def \(name): error(\"\(shown) is not available in a transform\"); "
    }.joined()
  }()

  /// Makes an error from libjq's message about a program that does not compile.
  ///
  /// The message has the form `jq: error: REASON at <top-level>, line N: …`. The error names the line of the catalog
  /// file instead of the line N of the program.
  private func fault(compiling words: String) -> CatalogError {
    let first = words.prefix { $0 != "\n" }.trimmingPrefix("jq: error: ")
    let placed = first.firstMatch(of: /(.*) at <top-level>, line ([0-9]+)/)
    // jq gives this hint for mistakes that are common on a command line.
    let what = (placed?.output.1 ?? first).replacing(" (Unix shell quoting issues?)", with: "")
    var error = fault("jq: \(what.prefix(200))")
    if let line, let number = placed.flatMap({ Int($0.output.2) }) {
      error.line = line + number - 1
    }
    return error
  }

  private func fault(_ reason: String) -> CatalogError {
    CatalogError(.catalogFile, subject: "transform", line: line, reason: reason)
  }
}

/// One run of a jq program in a separate process.
struct JQRun {
  let program: String
  let limits: Transform.Limits
  /// A function that is called several times a second.
  ///
  /// If it returns true, the process is ended.
  var isStopped: @Sendable () -> Bool = { false }

  /// The result of a run.
  enum Outcome: Equatable {
    /// The value that the program output, as JSON. If the program was only compiled, the bytes have no meaning.
    case value([UInt8])
    /// The program does not compile. The text is libjq's message.
    case notCompiled(String)
    /// The program failed on this input, or could not be started. The text is the reason.
    case refused(String)
  }

  /// Runs the program on a JSON text, or only compiles it if there is no text.
  func outcome(of text: ArraySlice<UInt8>?) -> Outcome {
    guard !program.utf8.contains(0) else { return .refused("a program holds no NUL") }
    var output: Int32 = -1
    let process = start(text, &output)
    guard process > 0 else {
      return .refused(
        "cannot start a process for jq: \(String(cString: larder_error_words(errno)))"
      )
    }
    let (answer, fault) = answer(from: output)
    close(output)
    if fault != nil { kill(process, SIGKILL) }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return fault.map { .refused($0) } ?? outcome(answer, status: status)
  }

  private func start(_ text: ArraySlice<UInt8>?, _ output: inout Int32) -> pid_t {
    let limits = cjq_limits(
      seconds: UInt32(clamping: max(limits.seconds, 1)),
      memory: max(limits.memory, 0)
    )
    guard let text else { return cjq_start(program, nil, 0, limits, &output) }
    return text.withUnsafeBytes {
      // If `start` is NULL, the program is only compiled. This also happens for an empty text that has no address.
      let start = $0.baseAddress?.assumingMemoryBound(to: CChar.self)
      return cjq_start(program, start, $0.count, limits, &output)
    }
  }

  /// Reads the output until the process closes its end of the pipe.
  ///
  /// If reading stops earlier, the process must be killed, and `fault` is the reason. For example, the process takes
  /// several times as long as its limit of processor time.
  private func answer(from output: Int32) -> (bytes: [UInt8], fault: String?) {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(10 + 4 * limits.seconds)
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let left = clock.now.duration(to: end).components.seconds
      guard !isStopped() else { return (bytes, "the run ended while it ran") }
      guard left > 0 else { return (bytes, "it takes longer than \(10 + 4 * limits.seconds) s") }
      var poll = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard Glibc.poll(&poll, 1, Int32(clamping: min(left * 1000, 200))) > 0 else { continue }
      let count = read(output, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return (bytes, nil) }
      guard bytes.count + count <= limits.output else {
        return (bytes, "it yields more than \(limits.output >> 20) MiB")
      }
      bytes += chunk[..<count]
    }
  }

  private func outcome(_ answer: [UInt8], status: Int32) -> Outcome {
    let signal = status & 0x7F
    if signal == SIGKILL || signal == SIGXCPU {
      return .refused("it takes more than \(limits.seconds) s of processor time")
    }
    let memory = "\(limits.memory >> 20) MiB of memory"
    if signal == SIGABRT { return .refused("it takes more than \(memory)") }
    guard signal == 0, let letter = answer.first else {
      return .refused("libjq crashed; perhaps it needs more than \(memory), or more stack")
    }
    let rest = answer.dropFirst()
    func words() -> String { String(decoding: rest.prefix(300), as: UTF8.self) }
    switch letter {
    case UInt8(ascii: "v"): return .value(Array(rest))
    case UInt8(ascii: "c"): return .notCompiled(words())
    case UInt8(ascii: "e"): return .refused(words())
    default: return .refused("libjq gave no answer")
    }
  }
}
