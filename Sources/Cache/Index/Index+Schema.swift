import GRDB
import SQLite

// To change the tables after a release, write the change as a new constant below (`ALTER TABLE … ADD COLUMN`,
// `CREATE TABLE`). Then append a migration with a new name to the end of `tables`, and count up its version. Never edit
// a released migration, because index files record the names of the migrations that were applied to them.
//
// A new column needs a default value or must be allowed to be NULL. Add a new column of `picture` to
// `Index.pictureColumns` too, which is used to read damaged indexes. If a view of `Index+Views.swift` reads a changed
// table, the migration first drops the view, and then creates it again with the same columns.
//
// `MigrationTests` migrates a file of each released version. Before you start, add a file of the present version to its
// fixtures.

extension Index {
  /// The migrations of the tables, in the order in which they are applied.
  ///
  /// The version counts up with each change of the tables between two releases too. An index that such a build wrote is
  /// rebuilt; see ``released``.
  static let tables = DatabaseSchema([.init("rows") { try makeTables(in: $0) }], version: 11)

  /// The version of an index file after all migrations of ``tables``.
  ///
  /// It also stands for the version of the JSON of items and details, which does not contain a version. If an older
  /// version of larder can ignore a new member of the JSON, no migration is needed. If an older version of larder would
  /// refuse or misread the JSON, for example because of a new kind of picture, a migration is needed even if no table
  /// changes.
  static let version = tables.version

  /// The versions of the index files of releases before this one, which are migrated.
  ///
  /// Files of the versions before and between them cannot be read, because no release has written them.
  static let released: Set<Int> = [4]

  /// Creates the tables of a new index, or migrates an index of larder 0.2.0.
  private static func makeTables(in db: Database) throws {
    if try db.tableExists("catalog") { return try migrate(db) }
    try db.execute(sql: lastingSchema)
    try db.execute(sql: schema)
    try db.execute(sql: viewSchema)
  }

  /// The tables that larder 0.2.0 has too, each with a comment about its purpose.
  ///
  /// Times are seconds since 1970.
  private static let lastingSchema = """
    -- Single values: `folders` is when each picture folder last changed, as the last run left it;
    -- `lost` is when the index was made anew beside pictures that it did not know; `selection` is the
    -- digest of the fields that requests for pictures sent. Without one of these, larder looks into the
    -- folders or asks the origin again. `forgotten` is a time: `gc` deleted changes
    -- before it. Keys of a newer larder are left alone.
    CREATE TABLE meta(key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;

    -- A catalog by its name; several may share a cache.
    CREATE TABLE catalog(
      id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, currency TEXT NOT NULL, source TEXT);

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

    -- A picture that a sweep removed, and why.
    CREATE TABLE tombstone(
      row INTEGER PRIMARY KEY, url TEXT NOT NULL, removed INTEGER NOT NULL, reason TEXT NOT NULL);
    CREATE INDEX tombstone_removed ON tombstone(removed);
    """

  /// All other tables.
  ///
  /// Keys and digests of 16 bytes are the first 128 bits of a SHA-256. Rows of other tables are named by their numbers,
  /// because numbers are small and their index grows at its end.
  static let schema = """
    -- A picture by its identity, whose key `id` is: `identity`, or `url` where that is NULL. `url` is asked.
    -- sha256 is NULL while no bytes are held. The path is a function of the identity and so not kept. `expiry` is when
    -- the origin's word ends; `response` what it said. `older` is the path of its file while that lies where an older
    -- larder put it. Rows stand in the order of their first commit and only the small index is in the order of
    -- the ids: a group of new pictures then touches a few pages of the table, not one each.
    CREATE TABLE picture(
      row INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, url TEXT NOT NULL,
      sha256 BLOB, content INTEGER, bytes INTEGER, type TEXT, inode INTEGER, modified INTEGER,
      response TEXT, expiry INTEGER NOT NULL DEFAULT 0, fetched INTEGER, checked INTEGER,
      failure TEXT, failing_since INTEGER, older TEXT, identity TEXT);
    CREATE INDEX picture_older ON picture(older) WHERE older IS NOT NULL;

    -- A section's page or an item's detail by its URL: when to ask again, and what the last body
    -- was. `id` is the key of who reads the document and of its URL. `mapping` tells whether it was read as the catalog
    -- file now says.
    CREATE TABLE document(
      id BLOB PRIMARY KEY, url TEXT NOT NULL, mapping INTEGER NOT NULL,
      response TEXT, expiry INTEGER NOT NULL DEFAULT 0, digest INTEGER, fetched INTEGER,
      next TEXT) WITHOUT ROWID;

    -- What a section's page was decoded to, in order; one page may hold several sections.
    CREATE TABLE decoded(
      document BLOB NOT NULL, position INTEGER NOT NULL,
      key TEXT NOT NULL, title TEXT NOT NULL, subtitle TEXT,
      listing INTEGER NOT NULL, skipped TEXT NOT NULL,
      PRIMARY KEY(document, position)) WITHOUT ROWID;

    -- One version of one item, written once and shared by every run that saw it. `key` is the item's id, `digest` that
    -- of `body`. New rows enter the index in the order of the items' ids, which often is that of the feed.
    CREATE TABLE item(
      row INTEGER PRIMARY KEY, key TEXT NOT NULL, digest BLOB NOT NULL, body BLOB NOT NULL, UNIQUE(key, digest));

    -- A picture that an item shows, at its place from 0.
    CREATE TABLE item_picture(
      item INTEGER NOT NULL, place INTEGER NOT NULL, picture INTEGER NOT NULL,
      PRIMARY KEY(item, place)) WITHOUT ROWID;
    CREATE INDEX item_picture_picture ON item_picture(picture);

    -- An ordered list of item versions, written once, and how many they are. `digest` is that of their rows, 8 bytes
    -- each. It is NULL while the list is being written, and such a list is removed at the next start.
    CREATE TABLE listing(
      id INTEGER PRIMARY KEY, digest BLOB UNIQUE, items INTEGER NOT NULL);

    -- An item at its place in a listing, from 0.
    CREATE TABLE listing_item(
      listing INTEGER NOT NULL, place INTEGER NOT NULL, item INTEGER NOT NULL,
      PRIMARY KEY(listing, place)) WITHOUT ROWID;
    CREATE UNIQUE INDEX listing_member ON listing_item(listing, item);

    -- What is known beyond the listing of an item: held, missing (the origin has none) or failed. `since` is when the
    -- shop first no longer had it; the row keeps the last version. `lost` is whether the body ends with a list of
    -- fields that could not be read, and NULL where there is none. A long body is in pages of its own, so it is last:
    -- a run reads all other columns of each detail, and need not read the body.
    CREATE TABLE detail(
      row INTEGER PRIMARY KEY, catalog INTEGER NOT NULL, item TEXT NOT NULL, document BLOB NOT NULL,
      state TEXT NOT NULL, since INTEGER, lost INTEGER AS (substr(body, -3) = x'7d5d7d') STORED, body BLOB,
      UNIQUE(catalog, item));

    -- A picture that a detail shows, at its place from 0.
    CREATE TABLE detail_picture(
      detail INTEGER NOT NULL, place INTEGER NOT NULL, picture INTEGER NOT NULL,
      PRIMARY KEY(detail, place)) WITHOUT ROWID;
    CREATE INDEX detail_picture_picture ON detail_picture(picture);

    -- A picture whose bytes changed in a run.
    CREATE TABLE picture_change(
      run INTEGER NOT NULL, picture BLOB NOT NULL, before BLOB NOT NULL, after BLOB NOT NULL,
      PRIMARY KEY(run, picture)) WITHOUT ROWID;

    -- A picture that no catalog refers to, and since when.
    CREATE TABLE unreferenced(picture BLOB PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID;

    -- A square of a picture, of one size: what it was made of, or why there is none.
    CREATE TABLE square(
      picture BLOB NOT NULL, side INTEGER NOT NULL, path TEXT NOT NULL, source BLOB NOT NULL,
      sha256 BLOB, bytes INTEGER, inode INTEGER, modified INTEGER, failure TEXT,
      PRIMARY KEY(picture, side)) WITHOUT ROWID;

    -- A run in which something changed, and when it ended. The first of a catalog, in which its history begins, is always
    -- there. It outlives the row of `run`. Prices of this currency are numbers.
    CREATE TABLE history_run(
      run INTEGER PRIMARY KEY, catalog INTEGER NOT NULL, time INTEGER NOT NULL, currency TEXT NOT NULL);
    CREATE INDEX history_run_time ON history_run(catalog, time);

    -- An item in the section that lists it, or listed it last, once something of it has changed. `changed` is the last run
    -- that changed something.
    CREATE TABLE history_item(
      row INTEGER PRIMARY KEY, catalog INTEGER NOT NULL, key TEXT NOT NULL, section TEXT NOT NULL,
      changed INTEGER NOT NULL, UNIQUE(catalog, key, section));

    -- The value that a field of an item has since a run. The numbers of the fields are those of `HistoryField`. The
    -- first of a field is from before its first change. The rows of an item are adjacent in the table. So its history
    -- is one range of the table, and finding a price at a moment takes one search.
    CREATE TABLE history(
      item INTEGER NOT NULL, field INTEGER NOT NULL, run INTEGER NOT NULL, value,
      PRIMARY KEY(item, field, run)) WITHOUT ROWID;
    """
}
