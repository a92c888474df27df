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
  /// The place that two paths lead to, numbers or numbers in texts; nil when either leads nowhere.
  ///
  /// - Throws: ``FieldFault`` when there is something that is no degree.
  func coordinate(_ north: [JSONPath], _ east: [JSONPath]) throws(FieldFault) -> Coordinate? {
    guard let latitude = try degree(north), let longitude = try degree(east) else { return nil }
    guard let place = Coordinate(latitude: latitude, longitude: longitude) else {
      throw FieldFault(
        field: north.first?.lastName,
        reason: "there is no place at \(latitude), \(longitude)"
      )
    }
    return place
  }

  private func degree(_ paths: [JSONPath]) throws(FieldFault) -> Double? {
    guard let (path, value) = first(paths) else { return nil }
    if let text = value.text, text.isEmpty { return nil }
    let number = value.real ?? value.integer.map(Double.init) ?? value.text.flatMap(Double.init)
    guard let number, number.isFinite else {
      throw FieldFault(field: path.lastName, reason: "expected a number of degrees")
    }
    return number
  }
}
