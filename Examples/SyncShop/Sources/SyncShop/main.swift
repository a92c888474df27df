import Larder

let shop = try Shop(catalog: "shop.yaml", cache: "cache")
let report = try await shop.sync { print($0.pictures.done, "of", $0.pictures.total) }
for failure in report.failures { print(failure.url, failure.reason) }
for item in try shop.items(in: "main") { print(item.title, item.thumbnail?.file ?? "–") }
for change in try await shop.history() { print(change.date, change.id, change.field) }
