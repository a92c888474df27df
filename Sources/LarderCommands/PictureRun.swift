import Base
import Catalog
import Imaging
import Larder
import Pipeline
import Synchronization
import SystemPackage

/// Runs `crop` or `stamp` on a batch of pictures, with signal handling, progress display and exit status.
struct PictureRun {
  /// The command's name, for the progress line.
  let verb: String
  let order: PictureOrder
  let options: PictureOptions
  let output: OutputOptions
  /// The uploader of finished pictures; nil if pictures are not uploaded.
  var upload: PictureUpload?

  /// Makes all pictures, prints a line for each, and returns the exit status.
  func run() throws -> ExitStatus {
    try order.making.check()
    defer { Workers.forPictures.end() }
    // The pictures, and the posts, must not depend on who reads the output.
    if upload != nil || !options.writesStandardOutput { Output.finishWork() }
    if options.writesStandardOutput { return try stream() }
    let limits = order.limits
    let batch = try PictureBatch(
      options.pictures.map { ProgramArguments.path($0) },
      into: ProgramArguments.path(options.place),
      format: options.format.picture,
      name: try options.name.map { try PictureName($0, size: options.size) } ?? .usual,
      standardInput: { () throws(LarderError) in try FileReading.picture(limits) }
    )
    tell(others: batch.others)
    if batch.items.isEmpty {
      let named = options.pictures.joined(separator: ", ")
      throw CommandFailure(
        "cannot find any picture in \(named); name JPEG, PNG, WebP, AVIF, GIF, HEIC, TIFF or BMP "
          + "files, or folders of them",
        .data
      )
    }
    if options.dryRun {
      let plan = batch.plan(overwrite: options.force, skipsExisting: options.skipExisting)
      for result in plan {
        Self.tell(result, isJSON: output.json, isQuiet: output.quiet, Log(output))
      }
      return ExitStatus(plan)
    }
    let upload = upload
    let making = Workers.forPictures.making(order)
    let signals = Signals { upload?.stop() }
    let stop = signals.stop
    let (isJSON, isQuiet, log) = (output.json, output.quiet, Log(output))
    let isVerbose = output.verbose > 0
    let total = batch.items.count
    let counts = Mutex((done: 0, failed: 0))
    let began = ContinuousClock.now
    let results = try CountDisplay.during(verb, "pictures", output) { display in
      try batch.run(
        making,
        workers: options.jobs,
        overwrite: options.force,
        skipsExisting: options.skipExisting
      ) { result in
        let (done, failed) = counts.withLock { counts in
          counts.done += 1
          counts.failed += result.error == nil ? 0 : 1
          return counts
        }
        display.show(done, of: total, failed: failed)
        // Without `-v`, pictures without a date are not listed one by one. A line at the end counts them.
        let isTold = isJSON || total == 1 || isVerbose || result.error?.code != .undated
        if isTold { display.above { Self.tell(result, isJSON: isJSON, isQuiet: isQuiet, log) } }
      } isCancelled: {
        stop.isRaised
      } deliver: { picture, result in
        upload?.deliver(picture, result) ?? result
      } isOwed: { output in
        upload?.isOwed(output) ?? false
      }
    }
    let undated = results.count { $0.error?.code == .undated }
    if undated > 0, total > 1, !isJSON {
      let words =
        undated == 1
        ? "1 picture has no date, and was not stamped"
        : "\(undated) pictures have no date, and were not stamped"
      Log(output).error("\(words); --time file uses the time at which a file was last written")
    }
    let showsProgress = Terminal(output).showsProgress
    if results.count < total {
      let rest = Quantities.count(total - results.count, "picture")
      Log(output).error(
        "interrupted: \(rest) of \(total) not made; the finished ones are complete"
      )
    } else if total > 1,
      showsProgress || results.contains(where: \.isFaulty) && !isJSON && !isQuiet
    {
      let time = Quantities.duration((ContinuousClock.now - began) / .seconds(1))
      Log(output).note(PictureResult.summary(of: results) + (showsProgress ? ", in \(time)" : ""))
    }
    return signals.status ?? ExitStatus(results)
  }

  /// Makes one picture, and writes it to stdout only when it is complete.
  ///
  /// Signals are not handled. They end the process, as they end other filters such as `sort`.
  private func stream() throws -> ExitStatus {
    guard !Terminal.isStandardOutput else {
      throw CommandFailure(
        "cannot write a picture to a terminal; redirect it with > or |, or give --out DIR"
      )
    }
    let input = options.pictures[0]
    guard !FileReading.isFolder(input) else {
      throw CommandFailure(
        "cannot write the folder \(input) to stdout: --out - is for one picture; give --out DIR"
      )
    }
    var result: PictureResult
    do throws(LarderError) {
      let file: PictureInput =
        try options.readsStandardInput
        ? .bytes(FileReading.picture(order.limits), name: "stdin")
        : .path(ProgramArguments.path(input))
      let picture = try Workers.forPictures.make(order, of: file, for: nil, isStopped: { false })
      Output.file(picture.bytes)
      result = PictureResult(input: input, output: PictureOptions.stream, summary: picture.summary)
      if !Output.hasFailed { result = upload?.deliver(picture, result) ?? result }
    } catch {
      if error.code == .usage { throw error }
      result = PictureResult(input: input, error: error)
    }
    if let error = result.error {
      Log(output).error(error.commandText)
    } else if output.verbose > 0, !output.quiet {
      Log(output).note(result.line)
    }
    for words in result.warnings { Log(output).error(words) }
    return ExitStatus([result])
  }

  /// Reports the number of files in the folders that are not pictures, such as `3 .txt`; with `-v`, also their names.
  ///
  /// The most frequent kind comes first. At most six kinds are named.
  private func tell(others: [FilePath]) {
    guard !others.isEmpty, !output.quiet else { return }
    let kinds = Dictionary(grouping: others) { file in
      file.extension.map { "." + $0.lowercased() } ?? "without extension"
    }
    let words = kinds.mapValues(\.count).sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .map { "\($0.value) \($0.key)" }
    let named = words.prefix(6).joined(separator: ", ") + (words.count > 6 ? ", …" : "")
    let are = others.count == 1 ? "is not a picture" : "are not pictures"
    Log(output).note("\(Quantities.count(others.count, "file")) \(are): \(named)")
    guard output.verbose > 0 else { return }
    for file in others { Log(output).note("\(file.shown) is not a picture") }
  }

  private static func tell(_ result: PictureResult, isJSON: Bool, isQuiet: Bool, _ log: Log) {
    if isJSON {
      var line = result
      line.error = result.error.map { LarderError($0.code, $0.commandText) }
      Output.json((try? line.jsonLine()) ?? [])
    } else if let error = result.error {
      log.error(error.commandText)
    } else if !isQuiet {
      Output.data(result.line)
    }
    // Print warnings even with `--quiet`, so that a damaged picture is not mistaken for a whole one.
    for words in result.warnings { log.error(words) }
  }
}

extension ExitStatus {
  /// The status of a batch.
  ///
  /// A disk failure counts before a picture that could not be read, and such a picture before a damaged one.
  init(_ results: [PictureResult]) {
    let errors = results.compactMap(\.error)
    if errors.contains(where: { $0.code == .disk || $0.code == .diskFull }) {
      self = .io
    } else if errors.isEmpty {
      self = results.contains { $0.summary?.isDamaged == true } ? .partial : .done
    } else if errors.count == results.count, errors.allSatisfy({ $0.code == .unreachable }) {
      self = .unavailable
    } else if results.count == 1 {
      self = [.exists, .undelivered].contains(errors[0].code) ? .failed : .data
    } else {
      self = .partial
    }
  }
}

extension PictureResult {
  /// Whether the picture failed or is damaged.
  fileprivate var isFaulty: Bool { error != nil || summary?.isDamaged == true }

  /// Why there is no new picture, or why it was not posted, in a word such as `skipped`; nil if all was done.
  private var shortcoming: String? {
    if isSkipped { return "skipped" }
    guard let error else { return nil }
    return switch error.code {
    case .undated: "undated"
    case .exists: "existing"
    case .disk, .diskFull: "not written"
    case .undelivered, .unreachable: "not posted"
    default: "unreadable"
    }
  }

  /// The counts of a batch as text, such as `311 pictures made, 1 unreadable, 1 damaged`.
  fileprivate static func summary(of results: [PictureResult]) -> String {
    let shortcomings = results.compactMap(\.shortcoming)
    // A picture that could not be posted was made all the same.
    let made = results.count - shortcomings.count { $0 != "not posted" }
    let words = ["skipped", "unreadable", "undated", "existing", "not written", "not posted"]
    let counts = Quantities.counts(
      words.map { word in (shortcomings.count { $0 == word }, word) }
        + [(results.count { $0.summary?.isDamaged == true }, "damaged")]
    )
    return (["\(Quantities.count(made, "picture")) made"] + counts).joined(separator: ", ")
  }

  /// The name of the input for people: `stdin`, or the path.
  private var shownInput: String { input == PictureOptions.stream ? "stdin" : input }

  /// The name of the output for people: `stdout`, or the path; nil if there is no output.
  private var shownOutput: String? { output == PictureOptions.stream ? "stdout" : output }

  /// The line about a finished picture: the output, its size, the method such as `lossless`, and remarks.
  fileprivate var line: String {
    guard let shownOutput else { return PlainText.line(shownInput) }
    let output = PlainText.line(shownOutput)
    if isSkipped { return "\(output)  skipped: it exists already" }
    guard let summary else {
      return "\(output)  from \(PlainText.line(shownInput)) (not made yet)"
    }
    var line = "\(output)  \(summary.width)×\(summary.height)  \(summary.method.rawValue)"
    if summary.shift.x != 0 || summary.shift.y != 0 {
      line += "  moved by \(summary.shift.x), \(summary.shift.y) pixels"
    }
    if let time = summary.time { line += "  \(time) (\(time.source.rawValue))" }
    if summary.isDamaged { line += "  damaged" }
    if let upload, upload.isAccepted {
      line +=
        upload.attempts == 0
        ? "  already posted"
        : "  posted" + (upload.message.map { ": \(PlainText.line($0))" } ?? "")
    }
    return line
  }

  /// Warnings, for example that the input is damaged, or that the output is enlarged more than twice.
  fileprivate var warnings: [String] {
    guard let output = shownOutput, let summary else { return [] }
    let input = shownInput
    let damage =
      summary.isDamaged
      ? ["a part of \(input) is missing or broken, so a part of \(output) is too"] : []
    let remarks: KeyValuePairs<EncodedPicture.Remark, String> = [
      .notLossless: "\(input) could not be cropped without loss, so \(output) was re-encoded",
      .noGamma:
        "\(input) has a gamma value (gAMA chunk), which \(summary.format.name) cannot store: "
        + "\(output) may look lighter or darker; use --format png",
      .enlarged:
        "\(output) is enlarged more than twice from \(input), and looks blurred; choose a smaller --size, or "
        + "--no-enlarge",
      .smallText:
        "the text on \(output) is under 9 pixels high; make the picture larger with --size, or the text shorter",
      .faintText:
        "the text on \(output) is hard to read in places: its contrast is below 3:1; choose --style scrim or bar",
    ]
    return damage + remarks.filter { summary.remarks.contains($0.key) }.map(\.value)
  }
}
