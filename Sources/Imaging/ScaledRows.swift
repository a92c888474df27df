import CZimg

extension czimg_rows {
  /// The rows scaled to `width` × `height`, strip by strip, as ``Bitmap/scaled(_:width:height:limits:name:portable:)``
  /// makes them of a whole picture.
  ///
  /// - Parameters:
  ///   - width: Pixels of a row that is made.
  ///   - height: Rows that are made.
  ///   - layout: Of these rows and of those that are made; not indices, unless there are `colours`.
  ///   - depth: 8 or 16 bits a sample.
  ///   - strip: Bytes of these rows that are held at a time, about.
  ///   - colours: What these rows stand for, if they are indices; nil where they hold samples.
  ///   - body: What to do with the rows while they can be asked for.
  /// - Returns: What `body` returns; false when memory is short.
  func scaled(
    width: Int,
    height: Int,
    layout: Bitmap.Layout,
    depth: Int,
    strip: Int,
    colours: Bitmap.Palette.Table? = nil,
    _ body: (czimg_rows) -> Bool
  ) -> Bool {
    let shape = czimg_picture(
      samples: nil,
      width: UInt32(width),
      height: UInt32(height),
      channels: Int32(layout.channels),
      wide: depth == 16
    )
    func open(_ colours: UnsafePointer<UInt32>?) -> Bool {
      var made = czimg_rows()
      let isOpen = withUnsafePointer(to: self) { source in
        withUnsafePointer(to: shape) {
          czimg_scaling_open(
            source,
            colours,
            $0,
            Int32(layout.meaningful),
            layout.hasAlpha,
            strip,
            false,
            &made
          )
        }
      }
      defer { czimg_scaling_close(&made) }
      return isOpen && body(made)
    }
    guard let colours else { return open(nil) }
    return colours.colours.withUnsafeBufferPointer { open($0.baseAddress) }
  }
}
