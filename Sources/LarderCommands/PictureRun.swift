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
    if options.writesStandardOutput { return try stream() }
    let limits = order.limits
    let batch = try PictureBatch(
      options.pictures.map { ProgramArguments.path($0) },
      into: ProgramArguments.path(options.place),
      format: options.format.picture,
      name: try options.pictureName,
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
    if options.dryRun { return try tell(planOf: batch) }
    let upload = upload
    let signals = Signals { upload?.stop() }
    let stop = signals.stop
    let (isJSON, isQuiet) = (output.json, output.quiet)
    let total = batch.items.count
    let terminal = Terminal(output)
    let tally = Mutex(PictureTally())
    let began = ContinuousClock.now
    let results = try CountDisplay.during(verb, "pictures", output) { display in
      try batch.run(
        Workers.forPictures.making(order),
        workers: options.jobs,
        overwrite: options.force,
        skipsExisting: options.skipExisting
      ) { result in
        let now = tally.withLock { tally in
          tally.add(result)
          return tally
        }
        display.show(now.done, of: total, failed: now.failed)
        // Pictures without a date are not listed one by one. A line at the end counts them.
        let isTold = isJSON || total == 1 || result.error?.code != .undated
        if isTold { display.above { Self.tell(result, isJSON: isJSON, isQuiet: isQuiet) } }
      } isCancelled: {
        stop.isRaised
      } deliver: { picture, result in
        upload?.deliver(picture, result) ?? result
      }
    }
    let counts = tally.withLock(\.self)
    if counts.undated > 0, total > 1, !isJSON {
      let words =
        counts.undated == 1
        ? "1 picture has no date, and was not stamped"
        : "\(counts.undated) pictures have no date, and were not stamped"
      Output.error(
        "\(words); --time file uses the time at which a file was last written"
      )
    }
    if results.count < total {
      let rest = Quantities.count(total - results.count, "picture")
      Output.error("interrupted: \(rest) of \(total) not made; the finished ones are complete")
    } else if total > 1, terminal.showsProgress || counts.isNotable && !isJSON && !isQuiet {
      let seconds = (ContinuousClock.now - began) / .seconds(1)
      let time = terminal.showsProgress ? ", in \(Quantities.duration(seconds))" : ""
      Output.note(counts.text + time)
    }
    return signals.status ?? ExitStatus(results)
  }

  /// Makes one picture, and writes it to stdout only when it is complete.
  ///
  /// Signals are not handled. They end the process, as they end other filters such as `sort`.
  private func stream() throws -> ExitStatus {
    guard !Terminal.isStandardOutput else {
      throw CommandFailure(
        "cannot write a picture to a terminal; redirect it with > or |, or give --out DIR",
        .usage
      )
    }
    let input = options.pictures[0]
    guard !FileReading.isFolder(input) else {
      throw CommandFailure(
        "cannot write the folder \(input) to stdout: --out - is for one picture; give --out DIR",
        .usage
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
      result = PictureResult(input: input, output: PictureOptions.stream, picture: picture)
      result = upload?.deliver(picture, result) ?? result
    } catch {
      if error.code == .usage { throw error }
      result = PictureResult(input: input, error: error)
    }
    let line = PictureLine(result)
    if let error = result.error {
      Output.error(error.commandText)
    } else if output.verbose > 0, !output.quiet {
      Output.note(line.text)
    }
    for words in line.warnings { Output.error(words) }
    return ExitStatus([result])
  }

  /// Reports the number of files in the folders that are not pictures; with `-v`, also their names.
  private func tell(others: [FilePath]) {
    guard !others.isEmpty, !output.quiet else { return }
    Output.note(OtherFiles(files: others).summary)
    guard output.verbose > 0 else { return }
    for file in others { Output.note("\(file.shown) is not a picture") }
  }

  /// Prints the planned outputs.
  private func tell(planOf batch: PictureBatch) throws -> ExitStatus {
    let results = batch.plan(
      overwrite: options.force,
      skipsExisting: options.skipExisting
    )
    for result in results { Self.tell(result, isJSON: output.json, isQuiet: output.quiet) }
    return ExitStatus(results)
  }

  private static func tell(_ result: PictureResult, isJSON: Bool, isQuiet: Bool) {
    if isJSON {
      var line = result
      line.error = result.error.map { LarderError($0.code, $0.commandText) }
      Output.json((try? line.jsonLine()) ?? [])
    } else if let error = result.error {
      Output.error(error.commandText)
    } else if !isQuiet {
      Output.data(PictureLine(result).text)
    }
    // Print warnings even with `--quiet`, so that a damaged picture is not mistaken for a whole one.
    for words in PictureLine(result).warnings { Output.error(words) }
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

/// The number of pictures in a batch with each result, such as skipped or damaged.
struct PictureTally {
  private(set) var done = 0
  private(set) var failed = 0
  private(set) var undated = 0
  private var damaged = 0
  private var skipped = 0
  private var there = 0
  private var unposted = 0
  private var unwritten = 0

  /// Counts a result.
  mutating func add(_ result: PictureResult) {
    done += 1
    damaged += result.summary?.isDamaged == true ? 1 : 0
    skipped += result.isSkipped ? 1 : 0
    guard let error = result.error else { return }
    failed += 1
    switch error.code {
    case .undated: undated += 1
    case .exists: there += 1
    case .undelivered, .unreachable: unposted += 1
    case .disk, .diskFull: unwritten += 1
    default: break
    }
  }

  /// Whether some pictures failed or are damaged.
  var isNotable: Bool { failed + damaged > 0 }

  /// The counts as text, such as `311 pictures made, 1 unreadable, 1 damaged`.
  var text: String {
    let unreadable = failed - undated - there - unposted - unwritten
    // A picture that could not be posted was made all the same.
    let made = done - skipped - failed + unposted
    let words = Quantities.counts([
      (skipped, "skipped"), (unreadable, "unreadable"), (undated, "undated"),
      (there, "existing"), (unwritten, "not written"), (unposted, "not posted"),
      (damaged, "damaged"),
    ])
    return (["\(Quantities.count(made, "picture")) made"] + words).joined(separator: ", ")
  }
}

/// The line and the warnings about one finished picture.
struct PictureLine {
  private let result: PictureResult
  /// The name of the input for people: `stdin`, or the path.
  private let input: String

  init(_ result: PictureResult) {
    self.result = result
    input = result.input == PictureOptions.stream ? "stdin" : result.input
  }

  /// The name of the output for people: `stdout`, or the path; nil if there is no output.
  private var output: String? {
    result.output == PictureOptions.stream ? "stdout" : result.output
  }

  /// The line: the output, its size, the method such as `lossless`, and remarks.
  var text: String {
    guard let output else { return PlainText.line(input) }
    if result.isSkipped { return "\(PlainText.line(output))  skipped: it exists already" }
    guard let summary = result.summary else {
      return "\(PlainText.line(output))  from \(PlainText.line(input)) (not made yet)"
    }
    var line =
      "\(PlainText.line(output))  \(summary.width)×\(summary.height)  \(summary.method.rawValue)"
    if summary.shift.x != 0 || summary.shift.y != 0 {
      line += "  moved by \(summary.shift.x), \(summary.shift.y) pixels"
    }
    if let time = summary.time { line += "  \(time) (\(time.source.rawValue))" }
    if summary.isDamaged { line += "  damaged" }
    if let upload = result.upload, upload.isAccepted {
      line +=
        upload.attempts == 0
        ? "  already posted"
        : "  posted" + (upload.message.map { ": \(PlainText.line($0))" } ?? "")
    }
    return line
  }

  /// Warnings, for example that the input is damaged, or that the output is enlarged more than twice.
  var warnings: [String] {
    guard let output, let summary = result.summary else { return [] }
    var warnings: [String] = []
    if summary.isDamaged {
      warnings.append(
        "a part of \(input) is missing or broken, so a part of \(output) is too"
      )
    }
    if summary.remarks.contains(.notLossless) {
      warnings.append(
        "\(input) could not be cropped without loss, so \(output) was re-encoded"
      )
    }
    if summary.remarks.contains(.noGamma) {
      warnings.append(
        "\(input) has a gamma value (gAMA chunk), which \(summary.format.name) cannot store: "
          + "\(output) may look lighter or darker; use --format png"
      )
    }
    if summary.remarks.contains(.enlarged) {
      warnings.append(
        "\(output) is enlarged more than twice from \(input), and looks blurred; "
          + "choose a smaller --size, or --no-enlarge"
      )
    }
    if summary.remarks.contains(.smallText) {
      warnings.append(
        "the text on \(output) is under 9 pixels high; make the picture larger with --size, or the text shorter"
      )
    }
    if summary.remarks.contains(.faintText) {
      warnings.append(
        "the text on \(output) is hard to read in places: its contrast is below 3:1; choose "
          + "--style scrim or bar"
      )
    }
    return warnings
  }
}

/// The files in the input folders that are not pictures, for a summary.
struct OtherFiles {
  /// The maximum number of kinds to name.
  ///
  /// The files of all other kinds are counted together.
  private static let most = 6

  let files: [FilePath]

  /// The number of files with each extension, such as `3 .txt`; the most frequent extension comes first.
  var summary: String {
    let kinds = Dictionary(grouping: files, by: Self.kind).mapValues(\.count)
      .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    var words = kinds.prefix(Self.most).map { "\($0.value) \($0.key)" }
    let rest = kinds.dropFirst(Self.most).reduce(0) { $0 + $1.value }
    if rest > 0 { words.append("\(rest) of other kinds") }
    let are = files.count == 1 ? "is not a picture" : "are not pictures"
    return "\(Quantities.count(files.count, "file")) \(are): " + words.joined(separator: ", ")
  }

  private static func kind(of file: FilePath) -> String {
    file.extension.map { "." + $0.lowercased() } ?? "without extension"
  }
}
