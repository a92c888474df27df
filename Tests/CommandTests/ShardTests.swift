import Foundation
import Support
import Testing

/// `larder shard` as used from a shell.
@Suite struct ShardTests {
  private func plan(_ shop: Shop, _ shards: Int, _ more: String...) throws -> Command {
    try Command.larder(
      [
        "shard", "plan", shop.catalog, "--cache", shop.cache, "--shards", "\(shards)", "--out",
        shop.folder.path("plan"), "--retries", "0",
      ] + more
    )
  }

  private func run(
    _ shop: Shop,
    _ shard: String,
    _ more: String...,
    environment: [String: String] = [:]
  ) throws -> Command {
    try Command.larder(
      [
        "shard", "run", "--plan", shop.folder.path("plan"), "--shard", shard, "--cache",
        shop.cache, "--retries", "0", "--json",
      ] + more,
      environment: environment
    )
  }

  private func merge(_ shop: Shop, _ more: String...) throws -> Command {
    try Command.larder(
      ["shard", "merge", "--plan", shop.folder.path("plan"), "--cache", shop.cache, "--json"]
        + more
    )
  }

  private func expect(_ printed: Command, fits name: String) throws {
    #expect(!printed.lines.isEmpty, "\(printed.errors)")
    for line in printed.lines { #expect(try JSONSchema(name).findings(in: line) == []) }
  }

  @Test func `a shop is planned, run by three shards and merged, with the result of a sync`()
    throws
  {
    let shop = try Shop()
    let planned = try plan(shop, 3, "--json")
    #expect(planned.status == 0, "\(planned.errors)")
    try expect(planned, fits: "shard-plan")
    #expect(try shop.larder("list").status == 1)

    for shard in 0..<3 {
      let printed = try run(shop, "auto", environment: ["SLURM_ARRAY_TASK_ID": "\(shard)"])
      #expect(printed.status == 0, "\(printed.errors)")
      try expect(printed, fits: "shard-run")
      #expect(try Document(printed)["shard"].int == shard)
      #expect(try Document(printed)["committed"].bool == true)
      let manifest = try shop.folder.text("plan/manifest-\(shard).ndjson")
      for line in manifest.split(separator: "\n") {
        #expect(try JSONSchema("shard-manifest").findings(in: line) == [])
      }
    }
    let again = try run(shop, "1")
    #expect(again.status == 0)
    #expect(try Document(again)["committed"].bool == false)
    let merged = try merge(shop)
    let synced = shop.folder.path("other")
    let sync = try Command.larder(["sync", shop.catalog, "--cache", synced, "--json"])

    #expect(merged.status == 0, "\(merged.errors)")
    try expect(merged, fits: "sync")
    #expect(try Document(merged)["images"]["fetched"].int == 5)
    #expect(try Document(merged)["requests"].int == Document(sync)["requests"].int)
    #expect(try shop.larder("verify").output == "5 pictures checked: clean\n")
    let list = try Command.larder(["list", "--json", "--cache", synced])
    // The price histories of the two caches start at different times.
    let moment = #/"at":\s*"[^"]*"/#
    #expect(
      try shop.larder("list", "--json").output.replacing(moment, with: "")
        == list.output.replacing(moment, with: "")
    )
  }

  @Test
  func
    `in a run and in a merge, a plan's catalog file gets only the allowed variables`()
    throws
  {
    let shop = try Shop(headers: "headers: {X-Token: \"${SHOP_TOKEN}\"}")
    let secret = ["SHOP_TOKEN": "s3cret-t0ken", "AWS_SECRET_ACCESS_KEY": "s3cret-key"]
    let planned = try Command.larder(
      [
        "shard", "plan", shop.catalog, "--cache", shop.cache, "--shards", "2", "--out",
        shop.folder.path("plan"),
      ],
      environment: secret
    )
    #expect(planned.status == 0, "\(planned.errors)")

    let refused = try run(shop, "0", environment: secret)
    #expect(refused.status == 78)
    #expect(
      refused.errors.contains("takes the environment variable SHOP_TOKEN; add --env SHOP_TOKEN")
    )
    #expect(try merge(shop).status == 78)
    let stores = try run(shop, "0", "--env", "AWS_SECRET_ACCESS_KEY", environment: secret)
    #expect(stores.status == 64 && stores.errors.contains("AWS_… and LARDER_…"))
    #expect(try run(shop, "0", "--env", "LARDER_WEBHOOK_URL").status == 64)
    #expect(try run(shop, "0", "--env", "SHOP_TOKEN", environment: secret).status == 0)
    #expect(try run(shop, "1", "--catalog-file", shop.catalog, environment: secret).status == 0)
    let merged = try Command.larder(
      [
        "shard", "merge", "--plan", shop.folder.path("plan"), "--cache", shop.cache, "--env",
        "SHOP_TOKEN",
      ],
      environment: secret
    )
    #expect(merged.status == 0, "\(merged.errors)")
  }

  @Test func `a run with --plan-digest uses only the plan with that digest`() throws {
    let shop = try Shop()
    let planned = try plan(shop, 2, "--json")
    let digest = try #require(try Document(planned)["digest"].string)
    let sum = try Command.shell("sha256sum <\(shop.folder.path("plan/plan.json"))").output
    #expect(sum.hasPrefix(digest))

    #expect(try run(shop, "0", "--plan-digest", digest).status == 0)
    #expect(try run(shop, "1", "--plan-digest", "abc").status == 64)
    let forged = try Command.shell(
      """
      cd \(shop.folder.path("plan"))
      old=$(sha256sum <catalog.yaml | cut -c 1-64)
      printf '\\ntoken: {header: T, command: [touch, RAN]}\\n' >>catalog.yaml
      new=$(sha256sum <catalog.yaml | cut -c 1-64)
      sed -i "s/{.bytes.:[0-9]*,.sha256.:.$old.}/{\\"bytes\\":$(stat -c %s catalog.yaml),\\"sha256\\":\\"$new\\"}/" plan.json
      grep -c "$new" plan.json
      """
    )
    #expect(forged.output == "1\n", "\(forged.errors)")
    let other = try run(shop, "1", "--plan-digest", digest)
    #expect(other.status == 65 && other.errors.contains("its digest is "))
    let unnamed = try run(shop, "1")
    #expect(unnamed.status == 0, "\(unnamed.errors)")
    #expect(unnamed.errors.contains("command for new tokens is not run without --plan-digest"))
  }

  @Test func `exit statuses tell a scheduler which shards to retry`() throws {
    let shop = try Shop()
    #expect(try plan(shop, 2).status == 0)
    // The store's port decides the shard of each picture, so one of the two shards may have none.
    let last = try shop.folder.text("plan/shard-1.ndjson").isEmpty ? 0 : 1
    #expect(try run(shop, "\(1 - last)").status == 0)

    let missing = try merge(shop)
    #expect(missing.status == 75 && missing.errors.contains("shard \(last) has no manifest"))
    #expect(try run(shop, "2").status == 64)
    #expect(try run(shop, "auto").status == 64)
    let wrong = try run(shop, "auto", environment: ["JOB_COMPLETION_INDEX": "one"])
    #expect(wrong.status == 64)
    // A port held closed, because another test might get the port of a stopped store.
    let closed = try ClosedPort()
    let down = try run(shop, "\(last)", "--connect-to", "::127.0.0.1:\(closed.number)")
    withExtendedLifetime(closed) {}
    #expect(down.status == 75, "\(down.errors)")
    #expect(try Document(down)["error"]["status"].int == 75)
    try shop.folder.write("{}\n", to: "plan/manifest-\(last).ndjson")
    #expect(try merge(shop).status == 65)
    #expect(try run(shop, "\(last)").status == 65)
  }

  @Test func `a merge ends with 69 while the shop cannot be reached, and can be run again`() throws
  {
    let shop = try Shop()
    #expect(try plan(shop, 1).status == 0)
    #expect(try run(shop, "0").status == 0)
    let closed = try ClosedPort()

    let down = try merge(shop, "--retries", "0", "--connect-to", "::127.0.0.1:\(closed.number)")

    withExtendedLifetime(closed) {}
    #expect(down.status == 69, "\(down.errors)")
    let merged = try merge(shop)
    #expect(merged.status == 0, "\(merged.errors)")
    #expect(try Document(merged)["images"]["fetched"].int == 5)
  }

  @Test func `a shard takes its share of a host's connections, and less than one is refused`()
    throws
  {
    let shop = try Shop()
    #expect(try plan(shop, 1, "--shard-by", "host").status == 0)

    let refused = try run(shop, "0", "--cluster-slots", "5", "--host-limit", "4")
    #expect(refused.status == 64 && refused.errors.contains("more than --host-limit 4"))
    #expect(try run(shop, "0", "--cluster-slots", "5").status == 64)
    let both = try run(
      shop,
      "0",
      "--cluster-slots",
      "2",
      "--host-limit",
      "4",
      "--per-host",
      "2"
    )
    #expect(both.status == 64)
    #expect(try run(shop, "0", "--cluster-slots", "2", "--host-limit", "4").status == 0)
  }

  @Test func `object stores and local files are refused with a reason`() throws {
    let shop = try Shop()
    let local = try shop.folder.write(
      "name: local\ncurrency: KRW\nsections: [{key: a, title: A, url: a.json}]\n",
      to: "local.yaml"
    )
    let cases = [
      ["plan", shop.catalog, "--shards", "2", "--out", "s3://bucket/plan"],
      ["plan", shop.catalog, "--shards", "2", "--out", "plan", "--cache", "s3://bucket/cache"],
      ["run", "--plan", "s3://bucket/plan", "--shard", "0"],
      ["merge", "--plan", "s3://bucket/plan"],
      ["plan", local, "--shards", "2", "--out", shop.folder.path("local")],
      ["plan", shop.catalog, "--shards", "0", "--out", "plan"],
    ]
    for arguments in cases {
      let printed = try Command.larder(["shard"] + arguments)
      #expect(printed.status == 64, "\(arguments)")
      #expect(printed.errors.contains("larder: "), "\(printed.errors)")
    }
  }

  @Test func `a catalog whose format is a file is refused before anything is fetched`() throws {
    let shop = try Shop()
    let file = try String(contentsOfFile: shop.catalog, encoding: .utf8)
    let own = try shop.folder.write(
      file.replacing("format: banchan", with: "format: ./mine.yaml")
        .replacing("detail: {url: \"detail/{id}\"}\n", with: ""),
      to: "own.yaml"
    )
    try shop.folder.write(
      "items: $.body\nitem: {id: $.detail_hash, title: $.title}",
      to: "mine.yaml"
    )

    let printed = try Command.larder([
      "shard", "plan", own, "--cache", shop.cache, "--shards", "2", "--out",
      shop.folder.path("plan"),
    ])

    #expect(printed.status == 78)
    #expect(printed.errors.contains("write the keys of ./mine.yaml into the catalog file"))
    #expect(shop.store.requests.isEmpty)
    #expect(shop.folder.files(below: "plan").isEmpty)
  }

  @Test func `a plan that failed to fetch its sections is not written`() throws {
    let shop = try Shop(faults: "path=/develop/* status=503")

    let printed = try plan(shop, 2)

    #expect(printed.status == 69)
    #expect(shop.folder.files(below: "plan").isEmpty)
    #expect(try merge(shop).status == 65)
  }
}
