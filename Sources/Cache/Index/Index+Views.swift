import Base
import SQLite

extension Index {
  /// The SQL views that `docs/database.md` describes for people and other programs.
  ///
  /// They are stored in the database file, so that other programs such as SQLite's shell and Datasette can use them.
  /// In a view, SQLite's shell allows only functions that are marked innocuous. For example, it allows `json_each`,
  /// but not `json_extract` or `->>`. (https://sqlite.org/pragma.html#pragma_trusted_schema)
  static let viewSchema = """
    -- The version of these views. It grows when a column is removed or changes its meaning.
    CREATE VIEW version AS SELECT 1 AS views;

    -- The runs of all catalogs. `current` is 1 for the last one of a catalog that ended, whose catalog is shown.
    CREATE VIEW runs AS
    SELECT run.id AS run, catalog.name AS catalog,
      strftime('%Y-%m-%dT%H:%M:%SZ', run.started, 'unixepoch') AS started,
      strftime('%Y-%m-%dT%H:%M:%SZ', run.finished, 'unixepoch') AS finished, run.outcome AS outcome,
      run.id IS (SELECT max(id) FROM run AS last WHERE last.catalog = run.catalog AND last.finished IS NOT NULL) AS current
    FROM run JOIN catalog ON catalog.id = run.catalog;

    -- The sections as last synced, in the catalog's order.
    CREATE VIEW sections AS
    SELECT catalog.name AS catalog, s.position AS position, s.key AS section, s.title AS title, s.subtitle AS subtitle,
      s.source AS source, coalesce(listing.items, 0) AS items
    FROM catalog JOIN run_section AS s ON s.run = (
      SELECT max(id) FROM run WHERE run.catalog = catalog.id AND run.finished IS NOT NULL)
    LEFT JOIN listing ON listing.id = s.listing;

    -- The items as last synced, in the catalog's order: a row for each section that lists one. The comparison of `place`
    -- makes SQLite read a listing in its order.
    CREATE VIEW items AS
    WITH listed(catalog, section, position, body) AS (
      SELECT catalog.name, s.key, l.place, CAST(item.body AS TEXT)
      FROM catalog JOIN run_section AS s ON s.run = (
        SELECT max(id) FROM run WHERE run.catalog = catalog.id AND run.finished IS NOT NULL)
      CROSS JOIN listing_item AS l ON l.listing = s.listing AND l.place >= 0
      CROSS JOIN item ON item.row = l.item)
    SELECT catalog, section, position, (SELECT value FROM json_each(body) WHERE key = 'id') AS id,
      (SELECT value FROM json_each(body) WHERE key = 'title') AS title,
      (SELECT value FROM json_each(body) WHERE key = 'description') AS description,
      (SELECT value FROM json_each(body) WHERE key = 'badges') AS badges,
      (SELECT value FROM json_each(body) WHERE key = 'deliveryTypes') AS delivery_types,
      (SELECT value FROM json_each(body, '$.normalPrice') WHERE key = 'minorUnits') AS normal_price,
      (SELECT value FROM json_each(body, '$.salePrice') WHERE key = 'minorUnits') AS sale_price,
      coalesce((SELECT value FROM json_each(body, '$.salePrice') WHERE key = 'currency'),
        (SELECT value FROM json_each(body, '$.normalPrice') WHERE key = 'currency')) AS currency,
      (SELECT value FROM json_each(body) WHERE key = 'address') AS address,
      (SELECT value FROM json_each(body) WHERE key = 'coordinate') AS coordinate,
      (SELECT (SELECT value FROM json_each(image.value) WHERE key = 'url') FROM json_each(body, '$.images') AS image
        WHERE (SELECT value FROM json_each(image.value) WHERE key = 'role') = 'thumbnail' LIMIT 1) AS thumbnail
    FROM listed;

    -- All pictures that were ever asked for and are not forgotten. The others have rows only for their URLs.
    CREATE VIEW pictures AS
    SELECT url, nullif(lower(hex(sha256)), '') AS sha256, CASE WHEN sha256 IS NOT NULL THEN bytes END AS bytes, type,
      sha256 IS NOT NULL AS held,
      strftime('%Y-%m-%dT%H:%M:%SZ', fetched, 'unixepoch') AS fetched,
      strftime('%Y-%m-%dT%H:%M:%SZ', checked, 'unixepoch') AS checked, failure,
      strftime('%Y-%m-%dT%H:%M:%SZ', failing_since, 'unixepoch') AS failing_since
    FROM picture WHERE sha256 IS NOT NULL OR checked IS NOT NULL;

    -- The failures of the last run of each catalog.
    CREATE VIEW failures AS
    SELECT runs.catalog AS catalog, runs.run AS run, (SELECT value FROM json_each(f.value) WHERE key = 'stage') AS stage,
      (SELECT value FROM json_each(f.value) WHERE key = 'id') AS id,
      (SELECT value FROM json_each(f.value) WHERE key = 'url') AS url,
      (SELECT value FROM json_each(f.value) WHERE key = 'reason') AS reason,
      (SELECT value FROM json_each(f.value) WHERE key = 'attempts') AS attempts,
      (SELECT value FROM json_each(f.value) WHERE key = 'known') AS known
    FROM runs JOIN run ON run.id = runs.run JOIN json_each(CAST(run.report AS TEXT), '$.failures') AS f
    WHERE runs.current;

    -- The changes as `larder history` prints them.
    CREATE VIEW changes AS
    SELECT strftime('%Y-%m-%dT%H:%M:%SZ', r.time, 'unixepoch') AS time, v.run AS run, c.name AS catalog,
      i.section AS section, i.key AS id,
      CASE v.field WHEN 1 THEN CASE WHEN v.value IS NULL THEN 'removed' WHEN v.number = 1 THEN 'added' ELSE 'back' END
        WHEN 2 THEN 'normalPrice' WHEN 3 THEN 'salePrice' WHEN 4 THEN 'section' WHEN 5 THEN 'title' WHEN 6 THEN 'badges'
        WHEN 7 THEN 'deliveryTypes' WHEN 8 THEN 'thumbnail' WHEN 9 THEN 'images' END AS field,
      CASE WHEN v.field = 1 THEN NULL WHEN v.field IN (2, 3) THEN CAST(v.old AS INTEGER)
        WHEN typeof(v.old) = 'blob' THEN lower(hex(v.old)) ELSE v.old END AS old,
      CASE WHEN v.field = 1 THEN NULL WHEN v.field IN (2, 3) THEN CAST(v.value AS INTEGER)
        WHEN typeof(v.value) = 'blob' THEN lower(hex(v.value)) ELSE v.value END AS new,
      CASE WHEN v.field NOT IN (2, 3) THEN NULL
        WHEN typeof(v.value) = 'text' THEN substr(v.value, instr(v.value, ' ') + 1) ELSE r.currency END AS currency,
      CASE WHEN v.field NOT IN (2, 3) OR v.old IS NULL THEN NULL
        WHEN typeof(v.old) = 'text' THEN substr(v.old, instr(v.old, ' ') + 1)
        ELSE (SELECT currency FROM history_run WHERE run = v.before) END AS old_currency
    FROM (SELECT item, field, run, value, lag(value) OVER step AS old, lag(run) OVER step AS before,
      row_number() OVER step AS number FROM history
      WINDOW step AS (PARTITION BY item, field ORDER BY run)) AS v
    JOIN history_item AS i ON i.row = v.item JOIN history_run AS r ON r.run = v.run JOIN catalog AS c ON c.id = r.catalog
    WHERE v.number > 1
      OR v.field = 1 AND v.value = 1 AND v.run > (SELECT min(run) FROM history_run AS b WHERE b.catalog = r.catalog);

    -- Each price that an item had, and since when. An item without rows has had its price from the beginning.
    CREATE VIEW prices AS
    SELECT c.name AS catalog, i.section AS section, i.key AS id,
      CASE h.field WHEN 2 THEN 'normalPrice' ELSE 'salePrice' END AS field, CAST(h.value AS INTEGER) AS minor_units,
      CASE typeof(h.value) WHEN 'text' THEN substr(h.value, instr(h.value, ' ') + 1) ELSE r.currency END AS currency,
      strftime('%Y-%m-%dT%H:%M:%SZ', r.time, 'unixepoch') AS since, h.run AS run
    FROM history AS h JOIN history_item AS i ON i.row = h.item JOIN history_run AS r ON r.run = h.run
    JOIN catalog AS c ON c.id = r.catalog WHERE h.field IN (2, 3);
    """

  /// Runs a read-only query on the views of a cache, for `larder sql`.
  ///
  /// - Parameters:
  ///   - sql: One SELECT.
  ///   - root: The path of the cache.
  /// - Returns: All rows of the result.
  /// - Throws: ``LarderError/Code/usage`` when the query is wrong or takes too long, and the errors of
  ///   ``init(reading:)``.
  package static func rows(_ sql: String, of root: String) throws(LarderError) -> QueryRows {
    // Opening the index throws if the file is damaged, and rolls back the transaction of a killed run.
    let path = try Index(reading: root).path
    do {
      return try SQLiteDatabase(asFound: path).read { db in
        guard try DatabaseSchema.version(of: db) == version else {
          throw LarderError(
            .failed,
            "cannot query \(path): an older larder wrote it; sync once to upgrade it",
            thing: path
          )
        }
        return try db.rows(ofQuery: sql, seconds: 8)
      }
    } catch DatabaseFailure.refused(let words, _) {
      throw LarderError(.usage, "cannot run the query: \(words)")
    } catch {
      throw LarderError(error, with: path)
    }
  }
}
