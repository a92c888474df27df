import Imaging

/// One made picture as people read it.
struct PictureLine {
  private let result: PictureResult

  init(_ result: PictureResult) {
    self.result = result
  }

  /// The output, its size, how it was made, and what to know of it.
  var text: String {
    guard let output = result.output, let summary = result.summary else { return result.input }
    var line = "\(output)  \(summary.width)×\(summary.height)  \(summary.method.rawValue)"
    if summary.shift.x != 0 || summary.shift.y != 0 {
      line += "  moved by \(summary.shift.x), \(summary.shift.y) pixels"
    }
    if let time = result.time { line += "  \(time) (\(result.timeSource ?? ""))" }
    if summary.isDamaged { line += "  damaged" }
    if let upload = result.upload, upload.isAccepted {
      line += "  posted" + (upload.message.map { ": \($0)" } ?? "")
    }
    return line
  }

  /// What must be known of a picture that was made of a broken one; nil of a whole one.
  var warning: String? {
    guard let output = result.output, result.summary?.isDamaged == true else { return nil }
    return "a part of \(result.input) is missing or broken, so a part of \(output) is too"
  }
}
