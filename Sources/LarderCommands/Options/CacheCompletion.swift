import ArgumentParser
import Catalog
import Orders
import Pipeline

/// What a shell offers from the cache and the orders that the command line so far names.
///
/// What cannot be read offers nothing; a shell that completes has no place for a message.
enum CacheCompletion {
  /// The names of the cache's catalogs.
  static let catalogs = CompletionKind.custom { words, _, prefix in
    offered((try? CatalogReader.names(in: cache(words))) ?? [], prefix)
  }

  /// The keys of the catalog's sections.
  static let sections = CompletionKind.custom { words, _, prefix in
    offered((try? reader(words).sections().map(\.key)) ?? [], prefix)
  }

  /// The ids of the catalog's items.
  static let ids = CompletionKind.custom { words, _, prefix in
    offered((try? reader(words).ids()) ?? [], prefix)
  }

  /// The ids of the orders, the newest where there are very many.
  static let orders = CompletionKind.custom { words, _, prefix in
    guard let path = OutboxOptions.path(value(of: "--orders", in: words)) else { return [] }
    return offered(Outbox.ids(beginning: prefix, at: path, limit: limit), prefix)
  }

  /// Catalog files.
  static let files = CompletionKind.file(extensions: ["yaml", "yml", "json"])

  /// The most words that help anybody.
  private static let limit = 1000

  /// Those words that begin as the one that is being typed does.
  private static func offered(_ words: [String], _ prefix: String) -> [String] {
    // One line a word is how shells read them.
    let fitting = words.filter { $0.hasPrefix(prefix) && PlainText.isPlain($0) }
    var seen: Set<String> = []
    let distinct = fitting.filter { seen.insert($0).inserted }
    return Array(distinct.prefix(limit))
  }

  private static func reader(_ words: [String]) throws -> CatalogReader {
    try CatalogReader(cache: cache(words), catalog: value(of: "--catalog", in: words))
  }

  private static func cache(_ words: [String]) -> String {
    CacheOptions.path(value(of: "--cache", in: words))
  }

  /// What is given to an option, as a word of its own or behind an equals sign; the last counts.
  private static func value(of option: String, in words: [String]) -> String? {
    var value: String?
    for (place, word) in words.enumerated() {
      if word == option, place + 1 < words.count { value = words[place + 1] }
      if word.hasPrefix(option + "=") { value = String(word.dropFirst(option.count + 1)) }
    }
    return value.map(unquoted)
  }

  /// A word as the shell would hand it over: some shells complete with the quotes in place.
  private static func unquoted(_ word: String) -> String {
    guard word.count > 1, let quote = word.first, "'\"".contains(quote), word.last == quote else {
      return word.replacing("\\ ", with: " ")
    }
    return String(word.dropFirst().dropLast())
  }
}
