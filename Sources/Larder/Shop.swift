import Pipeline

/// A shop's catalog, and the cache that holds it.
public final class Shop: Sendable {
  init() {}
}
