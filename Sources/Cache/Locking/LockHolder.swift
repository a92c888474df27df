import Glibc
import Transport

/// How the claim that somebody finds in the way stands to who finds it.
enum LockHolder: Equatable {
  /// A run on this machine left it, which cannot be at work any more.
  case free
  /// Another machine wrote it, and there is no telling whether it is at work.
  case foreign(String)
  /// Another machine wrote it, at `since` by its own clock. This machine has watched it for `seconds` without
  /// seeing it renewed, and takes it over after `patience` of them.
  case silent(String, since: UnixTime, seconds: Int64, patience: Int64)
  /// Another machine wrote it, and has not renewed it for longer than a run at work ever takes to.
  case gone

  /// Judges a claim; its text is empty for a moment after the file was made.
  ///
  /// Where the boot of the holder's kernel is ours, the name of the host says nothing: a container that
  /// was started anew has another, and two containers may share one, yet all of them ask the same kernel
  /// for the `flock`, and the caller has it. Where it is another's, equal names say nothing either. Claims
  /// of older larders have the name alone, or no heartbeat: from another machine they are never taken over.
  ///
  /// - Parameters:
  ///   - claim: the claim.
  ///   - host: this machine's name.
  ///   - boot: what this machine's kernel calls its boot; empty when it does not tell.
  ///   - heir: what somebody has written who is taking the claim over; nil when nobody is.
  ///   - isLocked: whether the caller holds the `flock`, without which the own kernel proves nothing.
  ///   - seconds: for how long this machine has seen the claim, and the heir's file, unchanged.
  init(
    _ claim: ClaimText,
    host: String,
    boot: String,
    heir: String? = nil,
    isLocked: Bool = true,
    unchangedFor seconds: Int64 = 0
  ) {
    let isOurs =
      if let other = claim.boot, !boot.isEmpty {
        other == boot
      } else {
        claim.holder.hasSuffix(" on \(host)")
      }
    if isOurs, heir == nil, isLocked {
      self = .free
    } else if let pulse = claim.pulse, claim.boot != nil, !boot.isEmpty {
      self =
        seconds >= pulse.patience
        ? .gone
        : .silent(
          claim.holder,
          since: pulse.since,
          seconds: seconds,
          patience: pulse.patience
        )
    } else {
      self = .foreign(claim.holder.isEmpty ? "another machine" : claim.holder)
    }
  }

  /// Who holds the cache, since when, and what is known of its life, for a message.
  var words: String {
    switch self {
    case .free, .gone: "nobody holds it"
    case .foreign(let holder):
      "\(holder) holds it or was killed; a network file system does not show which"
    case .silent(let holder, let since, let seconds, let patience):
      "\(holder) holds it since \(since.rfc3339) and "
        + (seconds == 0 ? "may be at work" : "gave no sign of life for \(seconds) s")
        + "; try again: once it has given none for \(patience) s, a run takes the cache over"
    }
  }
}
