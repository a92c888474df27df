import GRDB

// To change the tables: write what changes as a new constant below (`ALTER TABLE … ADD COLUMN`,
// `CREATE TABLE`), append a `Migration` with a new name to the end of `migrations`, and never edit
// one that has been released: files remember by name what they have seen. A new column needs a
// default or may be NULL, and a column of `picture` goes into `Index.pictureColumns` too, which is
// what a damaged index is salvaged by. `user_version` counts by itself. `MigrationTests` then brings
// the files of every earlier version up to date; keep one of today's there before you start.

extension Index {
  /// One change to the tables, made in one transaction together with the note that it was made.
  struct Migration: Sendable {
    /// What `grdb_migrations` remembers it by; never changed.
    let name: String
    /// Makes the change.
    let change: @Sendable (Database) throws -> Void
  }

  /// Every change to the tables, in the order in which a file goes through them.
  static let migrations = [
    Migration(name: "tables") { try $0.execute(sql: schema) },
    Migration(name: "sweeps") { try $0.execute(sql: sweepSchema) },
    Migration(name: "squares") { try $0.execute(sql: squareSchema) },
    Migration(name: "details that are gone") { try $0.execute(sql: goneSchema) },
    Migration(name: "keys of 128 bits") { try lengthenKeys(in: $0) },
  ]

  /// What `PRAGMA user_version` holds in a file that has seen all ``migrations``: their number.
  ///
  /// It is also the version of the stored forms of items and details, which carry none of their own. A new member
  /// that an older larder may ignore needs no migration. Anything that it would refuse or misread, such as a new kind
  /// of picture, needs one, even if no table changes.
  static let version = migrations.count

  /// Brings a file up to date, each change whole or not at all.
  ///
  /// `user_version` rises with each, so that opening an up-to-date file costs one look at its header.
  static let migrator: DatabaseMigrator = {
    var migrator = DatabaseMigrator()
    for (place, migration) in migrations.enumerated() {
      migrator.registerMigration(migration.name) { db in
        try migration.change(db)
        try db.execute(sql: "PRAGMA user_version = \(place + 1)")
      }
    }
    return migrator
  }()

  /// How many migrations a file says it has seen; 0 for one without tables.
  static func userVersion(of db: Database) throws -> Int {
    try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
  }

  /// The tables as they were first released, with what each is for.
  ///
  /// Times are seconds since 1970, digests the first 63 bits of a SHA-256, packed lists 8 bytes a
  /// number, little-endian.
  static let schema = """
    -- Single values: `folders` is when each picture folder last changed, as the last run left it;
    -- `lost` is when the index was made anew beside pictures that it did not know; `selection` is the
    -- digest of the fields that requests for pictures sent. Each may be gone, or anything: that costs a
    -- look into the folders or a question to the origin. Keys of a newer larder are left alone.
    CREATE TABLE meta(key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;

    -- A catalog by its name; several may share a cache.
    CREATE TABLE catalog(
      id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, currency TEXT NOT NULL, source TEXT);

    -- A picture by its URL. sha256 is NULL while no bytes are held. The path is a function of the
    -- URL and so not kept. `expiry` is when the origin's word ends; `response` what it said.
    -- Rows stand in the order of their first commit and only the small index is in the order of
    -- the ids: a group of new pictures then touches a few pages of the table, not one each.
    CREATE TABLE picture(
      row INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE, url TEXT NOT NULL,
      sha256 BLOB, content INTEGER, bytes INTEGER, type TEXT, inode INTEGER, modified INTEGER,
      response TEXT, expiry INTEGER NOT NULL DEFAULT 0, fetched INTEGER, checked INTEGER,
      failure TEXT, failing_since INTEGER);

    -- A section's page or an item's detail by its URL: when to ask again, and what the last body
    -- was. `mapping` tells whether it was read as the catalog file now says.
    CREATE TABLE document(
      id INTEGER PRIMARY KEY, url TEXT NOT NULL, mapping INTEGER NOT NULL,
      response TEXT, expiry INTEGER NOT NULL DEFAULT 0, digest INTEGER, fetched INTEGER,
      next TEXT);

    -- What a section's page was decoded to, in order; one page may hold several sections.
    CREATE TABLE decoded(
      document INTEGER NOT NULL, position INTEGER NOT NULL,
      key TEXT NOT NULL, title TEXT NOT NULL, subtitle TEXT,
      listing INTEGER NOT NULL, skipped TEXT NOT NULL,
      PRIMARY KEY(document, position)) WITHOUT ROWID;

    -- One version of one item, written once and shared by every run that saw it.
    CREATE TABLE item(
      row INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE, key TEXT NOT NULL, body BLOB NOT NULL, pictures BLOB NOT NULL);

    -- An ordered list of item versions, written once. `id` is the digest of `items`; `keys` are the
    -- items' ids, each ended by a zero byte, so that lists are compared without reading items.
    CREATE TABLE listing(
      id INTEGER PRIMARY KEY, items BLOB NOT NULL, keys BLOB NOT NULL, pictures BLOB NOT NULL);

    -- What is known beyond the listing of an item: held, missing (the origin has none) or failed.
    CREATE TABLE detail(
      catalog INTEGER NOT NULL, item TEXT NOT NULL, document INTEGER NOT NULL,
      state TEXT NOT NULL, body BLOB, pictures BLOB,
      PRIMARY KEY(catalog, item)) WITHOUT ROWID;

    -- A run; `finished` stays NULL when it was killed.
    CREATE TABLE run(
      id INTEGER PRIMARY KEY, catalog INTEGER NOT NULL, started INTEGER NOT NULL,
      finished INTEGER, outcome TEXT, report BLOB);
    CREATE INDEX run_catalog ON run(catalog, id);

    -- A section as a finished run left it. `listing` is what is shown.
    CREATE TABLE run_section(
      run INTEGER NOT NULL, position INTEGER NOT NULL,
      key TEXT NOT NULL, title TEXT NOT NULL, subtitle TEXT,
      listing INTEGER, source TEXT NOT NULL,
      PRIMARY KEY(run, position)) WITHOUT ROWID;

    -- A picture whose bytes changed in a run.
    CREATE TABLE picture_change(
      run INTEGER NOT NULL, picture INTEGER NOT NULL, before BLOB NOT NULL, after BLOB NOT NULL,
      PRIMARY KEY(run, picture)) WITHOUT ROWID;
    """

  /// What sweeps need.
  static let sweepSchema = """
    -- A picture that no catalog refers to, and since when.
    CREATE TABLE unreferenced(picture INTEGER PRIMARY KEY, since INTEGER NOT NULL);

    -- A picture that a sweep removed, and why.
    CREATE TABLE tombstone(
      row INTEGER PRIMARY KEY, url TEXT NOT NULL, removed INTEGER NOT NULL, reason TEXT NOT NULL);
    CREATE INDEX tombstone_removed ON tombstone(removed);
    """

  /// What details need that the origin has no more: since when, with what was held beside it.
  static let goneSchema = "ALTER TABLE detail ADD COLUMN since INTEGER"

  /// What squares need.
  static let squareSchema = """
    -- A square of a picture, of one size: what it was made of, or why there is none.
    CREATE TABLE square(
      picture INTEGER NOT NULL, side INTEGER NOT NULL, path TEXT NOT NULL, source BLOB NOT NULL,
      sha256 BLOB, bytes INTEGER, inode INTEGER, modified INTEGER, failure TEXT,
      PRIMARY KEY(picture, side)) WITHOUT ROWID;
    """
}
