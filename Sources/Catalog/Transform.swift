/// A jq program that turns one response into larder's own shape, or into what a mapping reads.
///
/// It runs in a process of its own without environment and files, and gets no more time and memory than
/// ``Limits`` allow, so that neither the program nor the response can harm the run.
public struct Transform: Hashable, Sendable {
  /// The program as it was written.
  public let program: String
  /// The line of the catalog file on which the program begins, counted from 1; nil without a file.
  public let line: Int?

  /// What a program may use for one response.
  public struct Limits: Hashable, Sendable {
    /// Seconds of processor time.
    public var seconds: Int
    /// Bytes of memory.
    public var memory: Int
    /// Bytes of JSON that it may yield.
    public var output: Int

    /// Makes limits.
    public init(seconds: Int, memory: Int, output: Int = 1 << 30) {
      self.seconds = seconds
      self.memory = memory
      self.output = output
    }

    /// What is enough for a response of so many bytes: jq reads 10 MB a second or more, holds a value in up to thirty
    /// times the space of its text, and yields little more than it reads.
    public static func usual(forBytes count: Int) -> Limits {
      Limits(
        seconds: 2 + count / 500_000,
        memory: 64 << 20 + 32 * count,
        output: max(4 << 20, 4 * count)
      )
    }
  }

  /// Takes a program that is known to compile.
  init(program: String, line: Int?) {
    self.program = program
    self.line = line
  }

  /// Compiles a program.
  ///
  /// - Parameter program: The program.
  /// - Throws: ``CatalogError`` when libjq does not know the program's words.
  public init(compiling program: String) throws(CatalogError) {
    try self.init(compiling: program, line: nil)
  }

  /// Compiles a program that begins on a line of a file.
  init(compiling program: String, line: Int?) throws(CatalogError) {
    self.init(program: program, line: line)
    guard !program.mentionsEnvironment else { throw fault("$ENV is not available in a transform") }
    switch try start(nil, limits: Limits(seconds: 10, memory: 512 << 20)) {
    case .value: return
    case .notCompiled(let words): throw fault(compiling: words)
    case .refused(let words): throw fault(words)
    }
  }

  /// The largest response that a program is given, in bytes: jq holds all of it at once, many times its size.
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
      remedy: "ask for it in pages, or read it by items and item alone"
    )
  }

  /// Runs the program on a response.
  ///
  /// - Parameters:
  ///   - body: JSON in UTF-8. A whole number that a `Double` does not hold exactly reaches the program as text
  ///     with the same digits, because jq would change it.
  ///   - subject: What it is, for messages: "section main".
  ///   - limits: What the run may use; nil for ``Limits/usual(forBytes:)``.
  ///   - isStopped: Asked several times a second whether the run is to end.
  /// - Returns: The one value that the program yields, as JSON in UTF-8.
  /// - Throws: ``CatalogError`` with code `transform`, and the line of the program in its catalog file.
  public func apply(
    to body: [UInt8],
    of subject: String,
    limits: Limits? = nil,
    isStopped: @escaping @Sendable () -> Bool = { false }
  ) throws(CatalogError) -> [UInt8] {
    let text = JSONText(body).bytes
    let exact = JSONRepair(text, wholeLimit: 1 << 53)?.bytes ?? text
    let result = try start(
      exact,
      limits: limits ?? .usual(forBytes: exact.count),
      isStopped: isStopped
    )
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

  private func start(
    _ body: ArraySlice<UInt8>?,
    limits: Limits,
    isStopped: @escaping @Sendable () -> Bool = { false }
  ) throws(CatalogError) -> JQRun.Outcome {
    do throws(JQRun.Failure) {
      return try JQRun(program: Self.preamble + program, limits: limits, isStopped: isStopped)
        .outcome(of: body)
    } catch {
      throw fault(error.reason)
    }
  }

  /// What the program must not use.
  ///
  /// Defined on the first line of the text that is compiled, so that lines keep their numbers.
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

  /// libjq's words, "jq: error: WHAT at <top-level>, line N:" and more, with the line in the file.
  private func fault(compiling words: String) -> CatalogError {
    let first = words.prefix { $0 != "\n" }
    let place = first.ranges(of: " at <top-level>, line ").last
    var what = place.map { first[..<$0.lowerBound] } ?? first
    if what.hasPrefix("jq: error: ") { what = what.dropFirst("jq: error: ".count) }
    // A hint for those who write programs on a command line.
    if let hint = what.firstRange(of: " (Unix shell quoting issues?)") {
      what = what[..<hint.lowerBound] + what[hint.upperBound...]
    }
    var error = fault("jq: \(what.prefix(200))", expected: "a jq program")
    let number = place.flatMap { Int(first[$0.upperBound...].prefix { $0.isNumber }) }
    if let line, let number { error.line = line + number - 1 }
    return error
  }

  private func fault(_ reason: String, expected: String? = nil) -> CatalogError {
    CatalogError(
      .catalogFile,
      subject: "transform",
      line: line,
      expected: expected,
      reason: reason
    )
  }
}

extension String {
  /// Whether the program mentions `$ENV`.
  ///
  /// libjq has no option that refuses it with a message of ours.
  fileprivate var mentionsEnvironment: Bool {
    ranges(of: "$ENV").contains { range in
      guard range.upperBound < endIndex else { return true }
      let next = self[range.upperBound]
      return !(next.isLetter || next.isNumber || next == "_")
    }
  }
}
