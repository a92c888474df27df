/// What a body that holds the details of many items gave.
public struct DecodedDetails: Hashable, Sendable {
  /// The details that could be read, in the body's order.
  public var details: [ItemDetail]
  /// Those that could not.
  public var unreadable: [UnreadableDetail]

  /// Makes a record.
  public init(details: [ItemDetail], unreadable: [UnreadableDetail] = []) {
    self.details = details
    self.unreadable = unreadable
  }
}

/// A detail in a body of many that could not be read.
public struct UnreadableDetail: Hashable, Sendable {
  /// The id of its item; nil when that could not be read either.
  public var id: String?
  /// Its place in the body, from 0.
  public var index: Int
  /// Why it could not be read.
  public var reason: String

  /// Makes a record.
  public init(id: String?, index: Int, reason: String) {
    self.id = id
    self.index = index
    self.reason = reason
  }
}
