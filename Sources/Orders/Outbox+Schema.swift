import GRDB

extension Outbox {
  /// The number that `PRAGMA user_version` holds: raised with every change below.
  static let version = 1

  /// The tables, with what each is for.
  ///
  /// Times are milliseconds since 1970.
  static let schema = """
    -- An order, in the order of placing. Nothing but `state` ever changes.
    CREATE TABLE placed(
      row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, by TEXT NOT NULL,
      note TEXT, currency TEXT NOT NULL, total INTEGER NOT NULL, language TEXT NOT NULL,
      placed INTEGER NOT NULL, state TEXT NOT NULL);

    -- What is ordered.
    CREATE TABLE line(
      placed INTEGER NOT NULL, position INTEGER NOT NULL, item TEXT NOT NULL,
      title TEXT NOT NULL, price INTEGER NOT NULL, quantity INTEGER NOT NULL,
      PRIMARY KEY(placed, position)) WITHOUT ROWID;

    -- Every state that an order came into, and when.
    CREATE TABLE change(
      placed INTEGER NOT NULL, position INTEGER NOT NULL, state TEXT NOT NULL,
      time INTEGER NOT NULL,
      PRIMARY KEY(placed, position)) WITHOUT ROWID;

    -- A message about an order, in the order of sending.
    CREATE TABLE message(
      row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, placed INTEGER NOT NULL,
      state TEXT NOT NULL, changed INTEGER NOT NULL,
      delivery TEXT NOT NULL, attempts INTEGER NOT NULL, tries INTEGER NOT NULL,
      error TEXT, next INTEGER);
    CREATE INDEX message_placed ON message(placed, row);
    CREATE INDEX message_waiting ON message(delivery, row)
      WHERE delivery NOT IN ('delivered', 'dead');

    -- Every attempt: when it began, and how it ended, NULL while nobody knows.
    CREATE TABLE attempt(
      message INTEGER NOT NULL, number INTEGER NOT NULL, began INTEGER NOT NULL,
      ended INTEGER, outcome TEXT,
      PRIMARY KEY(message, number)) WITHOUT ROWID;

    -- What is remembered of a webhook, by the SHA-256 of its URL: the URL itself is kept nowhere.
    CREATE TABLE webhook(
      digest TEXT PRIMARY KEY, host TEXT NOT NULL, stopped TEXT, stopped_at INTEGER,
      paused_until INTEGER, next_slot INTEGER) WITHOUT ROWID;
    """
}
