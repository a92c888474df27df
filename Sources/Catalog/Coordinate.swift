/// A place on earth in degrees, as WGS 84 has it: where a shop, a branch or an item is.
public struct Coordinate: Hashable, Sendable, Codable {
  /// Degrees north, from -90 to 90.
  public let latitude: Double
  /// Degrees east, from -180 to 180.
  public let longitude: Double

  /// Makes a place; nil when there is none such.
  public init?(latitude: Double, longitude: Double) {
    guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
    self.latitude = latitude
    self.longitude = longitude
  }

  /// Both numbers with a space between, as the index keeps them.
  var text: String { "\(latitude) \(longitude)" }

  /// Reads ``text`` back.
  init?(text: String) {
    let parts = text.split(separator: " ").compactMap { Double($0) }
    guard parts.count == 2 else { return nil }
    self.init(latitude: parts[0], longitude: parts[1])
  }
}

extension FieldReader {
  /// The place that two paths lead to, numbers or numbers in texts; nil when both lead nowhere, or one
  /// leads to something that is no degree.
  mutating func coordinate(_ north: [JSONPath], _ east: [JSONPath]) -> Coordinate? {
    let faultCount = faults.count
    let degrees = (degree(north, limit: 90), degree(east, limit: 180))
    switch degrees {
    case (let latitude?, let longitude?):
      return Coordinate(latitude: latitude, longitude: longitude)
    case (nil, nil): return nil
    // One that was refused is said already.
    case (nil, _) where faults.count == faultCount:
      return fail(north.first, "the item has a longitude and no latitude")
    case (_, nil) where faults.count == faultCount:
      return fail(east.first, "the item has a latitude and no longitude")
    default: return nil
    }
  }

  private mutating func degree(_ paths: [JSONPath], limit: Double) -> Double? {
    guard let (path, value) = first(paths) else { return nil }
    guard let number = value.real ?? value.integer.map(Double.init) ?? Self.number(in: value)
    else {
      return fail(path, "expected a number of degrees")
    }
    guard (-limit...limit).contains(number) else {
      return fail(path, "\(number) is not between -\(Int(limit)) and \(Int(limit)) degrees")
    }
    return number
  }

  private static func number(in value: JSONNode) -> Double? {
    guard let text = value.text, let first = text.firstIndex(where: { $0 != " " }),
      let last = text.lastIndex(where: { $0 != " " })
    else { return nil }
    return Double(text[first...last])
  }
}
