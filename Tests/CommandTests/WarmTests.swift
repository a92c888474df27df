import Foundation
import SampleStore
import Support
import Testing

/// `larder warm` as started by cron: its output, statuses and metrics.
@Suite struct WarmTests {
  @Test func `nothing is printed after success, and --json prints a line for each catalog`() throws
  {
    let shop = try Shop()
    shop.list([Shop.item("A1"), Shop.item("A2")], in: "main")
    let second = try shop.folder.write(
      try shop.folder.text("shop.yaml").replacing("name: banchan", with: "name: other"),
      to: "other.yaml"
    )

    let quiet = try shop.larder("warm", shop.catalog, second)
    let json = try shop.larder("warm", shop.catalog, second, "--json")

    #expect(quiet.status == 0)
    #expect(quiet.output == "" && quiet.errors == "")
    #expect(json.status == 0)
    #expect(json.lines.count == 2)
    #expect(json.lines.allSatisfy { $0.hasPrefix(#"{"#) && $0.contains(#""outcome":"complete""#) })
    // Both catalogs list the same pictures, which are fetched only once.
    #expect(shop.store.requestCounts["/pictures/A1.jpg"] == 1)
  }

  @Test func `failures are explained one per line, after the outcome`() throws {
    let shop = try Shop(
      faults: "path=/pictures/A1.jpg status=404\npath=/develop/soup hits=2 status=500"
    )
    shop.list([Shop.item("A1"), Shop.item("A2")], in: "main")
    let first = try shop.larder("warm", shop.catalog, "--retries", "0")
    let second = try shop.larder("warm", shop.catalog, "--retries", "0")

    for warm in [first, second] {
      #expect(warm.status == 3)
      #expect(warm.output == "")
      #expect(warm.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("warning: banchan: ") })
      #expect(warm.errors.hasPrefix("warning: banchan: partial; "))
    }
    #expect(first.errors.contains("banchan: image A1: http-404: "))
    #expect(second.errors.contains("banchan: section soup: http-500: "))
    #expect(second.errors.contains("banchan: 1 known failing picture; -v names each"))
  }

  @Test
  func `an unreachable shop gives one line per cause, and status 69`()
    throws
  {
    let shop = try Shop()
    #expect(try shop.larder("warm", shop.catalog).status == 0)
    shop.store.faults = try FaultScript(text: "path=/* status=503 retry-after=0")

    let warm = try shop.larder("warm", shop.catalog, "--retries", "0")

    #expect(warm.status == 69)
    #expect(warm.errors.split(separator: "\n").count <= 4)
    #expect(
      warm.errors.contains(#/section main: http-503: .*\(and \d more like it\)\n/#)
    )
  }

  @Test func `a dead picture is reported once, and then raises neither a status nor an alarm`()
    throws
  {
    let shop = try Shop(faults: "path=/pictures/A1.jpg status=404")
    shop.list([Shop.item("A1"), Shop.item("A2")], in: "main")
    let metrics = shop.folder.path("larder.prom")

    let runs = try (0..<3).map { _ in
      try shop.larder("warm", shop.catalog, "--metrics", metrics)
    }
    let check = try shop.larder("status", "--check", "6h")
    let sync = try shop.sync()
    let strict = try shop.sync("--strict")

    #expect(runs.map(\.status) == [3, 0, 0])
    #expect(runs.map(\.errors.isEmpty) == [false, true, true])
    #expect(check.status == 0 && check.output.contains("1 known failing picture"))
    let text = try shop.folder.text("larder.prom")
    #expect(text.contains("larder_last_run_success{catalog=\"banchan\"} 1"))
    #expect(text.contains("larder_last_success_timestamp_seconds{catalog=\"banchan\"}"))
    #expect(!text.contains("larder_run_failures{"))
    #expect(text.contains("larder_run_known_failures{catalog=\"banchan\",stage=\"image\","))
    #expect(sync.status == 0 && sync.errors.contains("1 known failing picture; -v names each"))
    #expect(strict.status == 3)
  }

  @Test func `two catalogs of one name are an error of these files, and the other catalogs run`()
    throws
  {
    let shop = try Shop()
    shop.list([Shop.item("A1"), Shop.item("A2")], in: "main")
    let text = try shop.folder.text("shop.yaml")
    let second = try shop.folder.write(text, to: "second.yaml")
    let other = try shop.folder.write(
      text.replacing("name: banchan", with: "name: other"),
      to: "other.yaml"
    )

    let warm = try shop.larder("warm", shop.catalog, second, other)

    #expect(warm.status == 78)
    #expect(warm.errors.contains("cannot warm \(shop.catalog) and \(second): both have the name"))
    #expect(try Document(try shop.larder("status", "--json"))["catalogs"].count == 1)
    #expect(try shop.larder("list", "--catalog", "other").status == 0)
  }

  @Test func `runs that are too soon or overlap end with 75 at once`() throws {
    let shop = try Shop()
    #expect(try shop.larder("warm", shop.catalog, "--min-interval", "40m").status == 0)
    let asked = shop.store.requests.count

    let soon = try shop.larder("warm", shop.catalog, "--min-interval", "40m", "--splay", "10m")

    #expect(soon.status == 75)
    #expect(soon.output == "" && soon.errors == "")
    let json = try shop.larder("warm", shop.catalog, "--min-interval", "40m", "--json")
    let error = try Document(json)["error"]
    #expect(json.status == 75 && error["code"].string == "try-again")
    #expect(error["remedy"].string?.hasPrefix("not again before ") == true)
    for told in [
      try shop.larder("warm", shop.catalog, "--min-interval", "40m", "-v"),
      try shop.larder("warm", shop.catalog, "--min-interval", "40m", terminal: .errors),
    ] {
      let line =
        #/banchan: last run [^ ]+( [^ ]+)? ago; not again before [-0-9]+T[:0-9]+Z \(--min-interval\)/#
      #expect(told.status == 75 && told.errors.contains(line), "\(told.errors)")
    }
    #expect(shop.store.requests.count == asked)

    let slow = try Shop(faults: "path=/develop/soup hang")
    let running = try slow.startSync(requests: 2)
    let overlapping = try slow.larder("warm", slow.catalog)
    #expect(overlapping.status == 75)
    #expect(overlapping.errors.contains("larder sync banchan, process"))
    running.send(15)
    #expect(try running.wait().status == 143)
  }

  @Test func `a faulty catalog file does not stop the other catalogs, and ends with 78`() throws {
    let shop = try Shop()
    let faulty = try shop.folder.write("name: x\nsektions: []\n", to: "a-faulty.yaml")

    let alone = try shop.larder("warm", faulty)
    let beside = try shop.larder("warm", shop.folder.path, shop.folder.path("none.yaml"))

    #expect(alone.status == 78 && beside.status == 78)
    #expect(alone.errors.contains("sektions") && beside.errors.contains("sektions"))
    #expect(beside.errors.contains("none.yaml"))
    #expect(try Document(try shop.larder("list", "--json")).count == 3)
  }

  @Test func `the format file of a catalog can be in the folder of the catalogs`() throws {
    let shop = try Shop()
    let folder = try TemporaryFolder()
    try folder.write(try Command.larder(["catalog", "show", "banchan"]).output, to: "mine.yaml")
    let text = try String(contentsOfFile: shop.catalog, encoding: .utf8)
    try folder.write(
      text.replacing("format: banchan", with: "format: ./mine.yaml"),
      to: "shop.yaml"
    )

    let warm = try shop.larder("warm", folder.path)
    try folder.write("about: Mine.\n", to: "other.yaml")
    let beside = try shop.larder("warm", folder.path)

    #expect(warm.status == 0, "\(warm.errors)")
    // A file that no catalog names is still a mistake.
    #expect(beside.status == 78 && beside.errors.contains("other.yaml"))
  }

  @Test func `skipped items are named, one per line, although nothing failed`() throws {
    let shop = try Shop()

    let warm = try shop.larder("warm", shop.catalog)

    #expect(warm.status == 0 && warm.output == "")
    #expect(warm.errors.split(separator: "\n").count == 1)
    #expect(
      warm.errors.contains(
        "banchan: section main: skipped item 2, detail_hash: the item has no id"
      )
    )
  }

  @Test func `a first run that fails stores no catalog, and a later failure says since when`()
    throws
  {
    let shop = try Shop(
      faults: "path=/develop/main hits=1 status=500\npath=/develop/soup hits=1 status=500"
    )

    let first = try shop.larder("warm", shop.catalog, "--retries", "0")
    let status = try shop.larder("status")
    let list = try shop.larder("list")

    #expect(first.status == 69)
    #expect(status.status == 0 && status.output.contains("no catalog: nothing was synced yet"))
    #expect(list.status == 1 && list.errors.contains("nothing was synced yet"))

    #expect(try shop.larder("warm", shop.catalog).status == 0)
    shop.store.faults = try FaultScript(text: "path=/develop/soup status=503")
    #expect(try shop.larder("warm", shop.catalog, "--retries", "0").status == 3)
    let failing = try shop.larder("status").output
    #expect(failing.contains(#/section soup: stale since \d{4}-\d\d-\d\dT\S+Z: .*503/#))
    let row = try Document(try shop.larder("status", "--json"))["catalogs"][0]["failing"][0]
    #expect(row["section"].string == "soup" && row["source"].string == "stale")
  }

  @Test func `a pipe given to --metrics receives the text and stays a pipe`() throws {
    let shop = try Shop()
    let pipe = shop.folder.path("pipe")

    let warm = try Command.shell(
      #"""
      mkfifo "$pipe"; exec 3<>"$pipe"
      "$larder" warm "$catalog" --cache "$cache" -q --metrics "$pipe" || exit
      dd bs=65536 count=1 iflag=nonblock <&3 2>/dev/null; test -p "$pipe"
      """#,
      environment: ["catalog": shop.catalog, "cache": shop.cache, "pipe": pipe]
    )

    #expect(warm.status == 0 && warm.output.contains("# TYPE larder_run_images gauge"))
    try FileManager.default.removeItem(atPath: pipe)
    try shop.folder.write("", to: "pipe")
    #expect(try shop.larder("warm", shop.catalog, "-q", "--metrics", pipe).status == 0)
    #expect(try shop.folder.text("pipe").contains("# TYPE larder_run_images gauge"))
  }

  @Test func `--metrics writes a file that everybody may read, in Prometheus' format`() throws {
    let shop = try Shop(faults: "path=/pictures/A1.jpg status=404")
    let file = shop.folder.path("larder.prom")

    let warm = try Command.shell(
      #"umask 077; "$larder" warm "$catalog" --cache "$cache" --retries 0 --metrics "$file""#,
      environment: ["catalog": shop.catalog, "cache": shop.cache, "file": file]
    )

    #expect(warm.status == 3)
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o644)
    let text = try shop.folder.text("larder.prom")
    for line in [
      "# TYPE larder_run_images gauge",
      #"larder_run_images{catalog="banchan",outcome="failed"} 1"#,
      #"larder_run_failures{catalog="banchan",stage="image",reason="http-404"} 1"#,
      "larder_cache_pictures 4", #"larder_last_run_success{catalog="banchan"} 0"#,
      "larder_failing_pictures 1",
    ] { #expect(text.contains(line + "\n"), "\(line)") }
    #expect(!text.contains("larder_last_success_timestamp_seconds"))
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      #expect(line.wholeMatch(of: #/larder_[a-z_]+(\{[^}]*\})? [0-9.e+-]+/#) != nil, "\(line)")
    }
    let names = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE") }
    #expect(Set(names).count == names.count)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: shop.folder.path)
        .allSatisfy { !$0.hasSuffix(".tmp") }
    )
  }

  @Test func `logs as JSON have one object per line`() throws {
    let shop = try Shop(faults: "path=/pictures/A1.jpg status=404")
    shop.list([Shop.item("A1"), Shop.item("A2")], in: "main")

    let warm = try shop.larder("warm", shop.catalog, "--log-format", "json")

    let lines = warm.errors.split(separator: "\n")
    let object =
      try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: String]
    #expect(lines.count == 2)
    #expect(object?["level"] == "warning")
    #expect(object?["message"]?.hasPrefix("banchan: partial; ") == true)
    #expect(object?["time"]?.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/#) != nil)
  }
}
