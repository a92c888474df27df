import Catalog

/// The part of a machine that a plan may use: environment variables by name, and its rights to run a command.
///
/// Whoever can write the plan's folder writes the catalog file in it, and with it the hosts that get its headers.
package struct PlanTrust: Sendable {
  /// Why a plan is not used.
  package enum Fault: Equatable, Sendable {
    /// It is another plan than the one that was named, with its own digest.
    case digest(String)
    /// Its catalog file names a variable that is not allowed.
    case variable(String)
  }

  private let variables: Set<String>
  private let digest: String?

  /// Trusts a plan so far.
  ///
  /// - Parameters:
  ///   - variables: The names of the environment variables that it may use; those that no plan may use are left out.
  ///   - digest: The SHA-256 of the plan that is meant, in lower case; nil for any plan.
  package init(variables: Set<String>, digest: String? = nil) {
    self.variables = variables.filter(Self.mayBeAllowed)
    self.digest = digest
  }

  /// Whether a plan may be allowed a variable: never the credentials of a store, or those that larder reads itself.
  package static func mayBeAllowed(_ name: String) -> Bool {
    !["AWS_", "LARDER_"].contains { name.uppercased().hasPrefix($0) }
  }

  /// The first reason not to use a plan; nil when there is none.
  package func fault(of planned: PlannedRun) -> Fault? {
    if let digest, digest != planned.plan.digest { return .digest(planned.plan.digest) }
    return planned.catalog.variableNames.first { !variables.contains($0) }.map(Fault.variable)
  }

  /// The plan as it may be used: without its command for new tokens, unless its digest was named.
  package func admitted(_ planned: PlannedRun) -> PlannedRun {
    digest == nil ? planned.withoutToken() : planned
  }

  /// The environment of a plan's run.
  ///
  /// - Parameter environment: That of the process.
  /// - Returns: The variables that are allowed, and where programs and their files are found.
  package func environment(_ environment: [String: String]) -> [String: String] {
    environment.filter { variables.contains($0.key) || ["PATH", "HOME"].contains($0.key) }
  }
}
