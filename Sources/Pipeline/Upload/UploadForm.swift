import Imaging

/// What goes to a server with a stamped photo, and under which names.
///
///     var form = UploadForm()
///     form.text = "up before the sun"
///     form.imageName = "photo"
package struct UploadForm: Sendable, Equatable {
  /// A field of the caller's own.
  package struct Field: Sendable, Equatable {
    /// Its name.
    package var name: String
    /// Its value.
    package var value: String

    /// Makes a field.
    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The name of the field with the time on the stamp, `2021-01-13 06:30:00`.
  package var timeName = "dateTime"
  /// The name of the field with the text on the stamp.
  package var textName = "timeStampContents"
  /// The name of the file.
  package var imageName = "image"
  /// The text on the stamp; empty without one.
  package var text = ""
  /// Further fields, which come first, as some servers read a form no further than its file.
  package var extra: [Field] = []

  /// Makes the form that wake-up diaries take.
  package init() {}

  /// The form filled in, its picture last.
  func filled(time: CivilTime?, jpeg: [UInt8], fileName: String) -> MultipartForm {
    var parts = extra.map { MultipartForm.Part(name: $0.name, bytes: Array($0.value.utf8)) }
    if let time {
      parts.append(MultipartForm.Part(name: timeName, bytes: Array(time.text.utf8)))
    }
    parts.append(MultipartForm.Part(name: textName, bytes: Array(text.utf8)))
    parts.append(
      MultipartForm.Part(name: imageName, fileName: fileName, type: "image/jpeg", bytes: jpeg)
    )
    return MultipartForm(parts)
  }
}
