/// How many samples of colour there are for those of light, in a JPEG or an AVIF.
public enum ChromaSampling: String, Sendable, CaseIterable, Codable {
  /// One for four pixels: half across and half down.
  case quarter = "420"
  /// One for two pixels beside each other.
  case half = "422"
  /// One for each pixel.
  case full = "444"

  /// What people call it: `4:2:0`.
  public var name: String { rawValue.map(String.init).joined(separator: ":") }
}
