/// Protects the items of a catalog against a response that is truncated or is from another shop.
///
/// The held items of a section are the items that the cache shows now. The guard counts the held items that are not in
/// the section's new list. New items do not make up for them.
package enum ShrinkGuard {
  /// Whether the number of items that vanished from a section looks like a fault.
  ///
  /// If a section has more than 10 held items, at most 10 % of them are allowed to vanish at once. No section is
  /// allowed to lose all its items.
  ///
  /// If the loss looks like a fault, the section shows the held items instead of the new list. In the next sync, they
  /// are held items again. Therefore they stay until the shop lists them again, or the user allows removals.
  ///
  /// - Parameters:
  ///   - held: The number of held items.
  ///   - vanished: The number of held items that are not in the new list, in any form.
  /// - Returns: Whether the new list should be withheld.
  package static func isSuspicious(section held: Int, vanished: Int) -> Bool {
    vanished > 0 && (vanished == held || held > 10 && vanished * 10 > held)
  }

  /// Whether the number of items that vanished from all sections together looks like a fault.
  ///
  /// This finds a fault that removes only a few items from each of many small sections.
  ///
  /// - Parameters:
  ///   - held: The number of held items in all sections.
  ///   - vanished: The number of these items that are in no section any more.
  /// - Returns: Whether every section that lost items should be withheld.
  package static func isSuspicious(catalog held: Int, vanished: Int) -> Bool {
    held >= 30 && vanished * 10 > held
  }

  /// Whether the number of items whose detail is suddenly missing looks like a fault.
  ///
  /// - Parameters:
  ///   - held: The number of items whose detail the cache already had.
  ///   - missing: The number of these items whose detail is missing now.
  /// - Returns: Whether the old details should stay in the catalog.
  package static func isSuspicious(details held: Int, missing: Int) -> Bool {
    missing >= 3 && missing * 10 > held
  }
}
