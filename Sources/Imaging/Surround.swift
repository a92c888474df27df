/// What lies around a picture that does not fill its frame, and what its pixels have to have for that.
struct Surround {
  /// The colour; clear where the picture has alpha that is kept and no background is asked for, else white.
  let colour: PictureColour
  /// Whether pixels without alpha have to get it.
  let needsAlpha: Bool
  /// Whether grey has to become colour.
  let needsColour: Bool

  /// Decides for a picture of a layout, which is not one of indices.
  init(_ background: PictureColour?, around layout: Bitmap.Layout, keepsAlpha: Bool) {
    colour = background ?? (layout.hasAlpha && keepsAlpha ? .transparent : .white)
    needsAlpha = keepsAlpha && colour.alpha < 255 && !layout.hasAlpha
    // What is clear has no colour to show.
    needsColour = !colour.isGrey && colour.alpha > 0
  }
}
