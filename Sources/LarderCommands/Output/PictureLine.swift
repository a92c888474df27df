import Catalog
import Imaging

/// One made picture as people read it.
struct PictureLine {
  private let result: PictureResult
  /// What people call the input.
  private let input: String

  init(_ result: PictureResult) {
    self.result = result
    input = result.input == PictureOptions.stream ? "stdin" : result.input
  }

  /// What people call the output; nil without one.
  private var output: String? {
    result.output == PictureOptions.stream ? "stdout" : result.output
  }

  /// The output, its size, how it was made, and what to know of it.
  var text: String {
    guard let output else { return PlainText.line(input) }
    if result.isSkipped { return "\(PlainText.line(output))  skipped: it is there already" }
    guard let summary = result.summary else {
      return "\(PlainText.line(output))  to be made of \(PlainText.line(input))"
    }
    var line =
      "\(PlainText.line(output))  \(summary.width)×\(summary.height)  \(summary.method.rawValue)"
    if summary.shift.x != 0 || summary.shift.y != 0 {
      line += "  moved by \(summary.shift.x), \(summary.shift.y) pixels"
    }
    if let time = result.time { line += "  \(time) (\(result.timeSource ?? ""))" }
    if summary.isDamaged { line += "  damaged" }
    if let upload = result.upload, upload.isAccepted {
      line += "  posted" + (upload.message.map { ": \(PlainText.line($0))" } ?? "")
    }
    return line
  }

  /// What must be known of a picture that was made of a broken one, or not as was asked.
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
    if summary.remarks.contains(.notDated), let time = result.time {
      let source = result.timeSource == "file" ? "its file's time" : "the clock's time"
      warnings.append(
        "\(input) does not say when it was taken; \(output) shows \(source), \(time)"
      )
    }
    if summary.remarks.contains(.smallText) {
      warnings.append(
        "the text on \(output) is under 9 pixels high; make the picture larger with --size, or say less"
      )
    }
    if summary.remarks.contains(.faintText) {
      warnings.append(
        "the text on \(output) is hard to read in places: it stands out less than 3 to 1; choose "
          + "--style scrim or bar"
      )
    }
    return warnings
  }
}
