import Crypto
import Synchronization

/// Hashes a picture as it comes, and says what its first bytes are.
final class PictureDigest: Sendable {
  private struct State {
    var hash = SHA256()
    var start: [UInt8] = []
  }

  private let state = Mutex(State())

  /// Forgets what came.
  func restart() { state.withLock { $0 = State() } }

  /// Takes the next bytes.
  func add(_ bytes: RawSpan) {
    state.withLock { state in
      bytes.withUnsafeBytes { buffer in
        let wanted = PictureType.sniffLength - state.start.count
        if wanted > 0 { state.start += buffer.prefix(wanted) }
        state.hash.update(bufferPointer: buffer)
      }
    }
  }

  /// What came, with the stamp of the file that it is.
  func file(_ stamp: FileStamp) -> FileDigest {
    state.withLock { state in
      FileDigest(
        sha256: Array(state.hash.finalize()),
        type: PictureType(sniffing: state.start),
        stamp: stamp
      )
    }
  }
}
