import Catalog
import Pipeline

/// A plan as people read it.
struct PlanText {
  private let plan: SyncPlan

  init(_ plan: SyncPlan) {
    self.plan = plan
  }

  /// A line for each thing that would be asked for, then the counts.
  var text: String {
    var lines = plan.sections.map {
      "\($0.action)  \($0.method == "GET" ? "" : "\($0.method) ")\($0.url)"
    }
    lines += plan.details.fetch.map { "fetch  \($0)" }
    lines += plan.details.revalidate.map { "revalidate  \($0)" }
    lines += plan.images.fetch.map { "fetch  \($0)" }
    lines += plan.images.revalidate.map { "revalidate  \($0)" }
    lines += plan.sweep.map { "sweep  \($0)" }
    lines.append(
      "\(plan.catalog): \(Quantities.count(plan.sections.count, "section")); "
        + "details: \(counts(plan.details)); pictures: \(counts(plan.images)); "
        + "\(plan.sweep.count) to sweep. Nothing was changed; what new sections will list is "
        + "not known yet."
    )
    return lines.map(PlainText.row).joined(separator: "\n")
  }

  private func counts(_ work: SyncPlan.Work) -> String {
    "\(work.fetch.count) to fetch, \(work.revalidate.count) to revalidate, \(work.fresh) fresh"
  }
}
