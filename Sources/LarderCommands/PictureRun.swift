import Imaging
import Synchronization
import SystemPackage

/// A batch of pictures with everything that a person sees around it.
struct PictureRun<Making: PictureMaking> {
  let making: Making
  let options: PictureOptions
  let output: OutputOptions

  /// Makes all pictures, prints a line for each, and says how to end the process.
  func run() throws -> ExitStatus {
    let batch = try PictureBatch(
      options.pictures.map { FilePath($0) },
      into: FilePath(options.out)
    )
    if batch.items.isEmpty {
      throw CommandFailure("cannot find any JPEG or PNG in what was named", .data)
    }
    let isStopped = Mutex(false)
    let signals = Signals { _ in isStopped.withLock { $0 = true } }
    let (isJSON, isQuiet) = (output.json, output.quiet)
    let results = try batch.run(making, overwrite: options.force) { result in
      if isJSON {
        Output.json((try? result.jsonLine()) ?? [])
      } else if let error = result.error {
        Output.error(error.description)
      } else if !isQuiet {
        Output.data(PictureLine(result).text)
      }
    } isCancelled: {
      isStopped.withLock(\.self)
    }
    if let signal = signals.signal { return signal == 15 ? .terminated : .interrupted }
    return ExitStatus(results)
  }
}

extension ExitStatus {
  /// The status of a batch: disk failures first, then all or some that could not be read.
  init(_ results: [PictureResult]) {
    let errors = results.compactMap(\.error)
    if errors.contains(where: { $0.code == .disk || $0.code == .diskFull }) {
      self = .io
    } else if errors.isEmpty {
      self = .done
    } else if results.count == 1 {
      self = errors[0].code == .exists ? .failed : .data
    } else {
      self = .partial
    }
  }
}
