import Base
import CGlibc
import FoundationEssentials
import Glibc

/// The messages between larder and a worker process, over a socket.
///
/// A message begins with its kind (4 bytes), the size of its text (4 bytes) and the size of its bytes (8 bytes), in the
/// machine's byte order. Then come the text and the bytes. A message can also carry an open file, as a descriptor.
///
/// | kind | from | text | bytes | descriptor |
/// |---|---|---|---|---|
/// | make | larder | ``WorkerChannel/Request`` | ``PictureOrder/wire`` | the picture |
/// | seconds | worker | the requested processor time as JSON | | |
/// | place | worker | | | |
/// | placed | larder | | | the file for the result |
/// | made | worker | ``EncodedPicture/Summary`` as JSON | the result, unless its file was placed | |
/// | failed | both | ``LarderError`` as JSON | | |
///
/// A worker sends `seconds` only if ``PictureOrder/secondsUnasked`` is not enough, or if it has just started. It sends
/// `place` to get a file for a large result. larder answers with `placed` or `failed`.
struct WorkerChannel {
  enum Kind: UInt32 {
    case make = 1
    case seconds, place, placed, made, failed
  }

  struct Message {
    var kind: Kind
    var text: [UInt8] = []
    var bytes: [UInt8] = []
    /// The descriptor that came with the message, which the receiver must close; -1 if none came.
    var descriptor: Int32 = -1
  }

  /// A request for a picture.
  ///
  /// Its text is a byte of flags, followed by the name.
  ///
  /// Encoding the request as JSON would take a tenth of the time that a small picture takes.
  struct Request {
    let name: String
    /// Whether the picture is from a file.
    ///
    /// If so, the file's modification time counts.
    let isFile: Bool
    /// Whether the result will be written to a file.
    let becomesFile: Bool
  }

  let socket: Int32
  /// A received message is refused if it has more than this many bytes.
  var most = Int.max
  private static let mostText = 1 << 24
  private static let mostJoined = 1 << 16

  /// Waits until the socket can be read (`POLLIN`) or written (`POLLOUT`), or until the other end is closed.
  typealias Waiting = (_ events: Int32) throws(WorkerLoss) -> Void

  /// Sends a message.
  func send(
    _ kind: Kind,
    _ text: [UInt8] = [],
    _ bytes: [UInt8] = [],
    descriptor: Int32 = -1,
    wait: Waiting
  ) throws(WorkerLoss) {
    var head: [UInt8] = []
    withUnsafeBytes(of: kind.rawValue) { head += $0 }
    withUnsafeBytes(of: UInt32(text.count)) { head += $0 }
    withUnsafeBytes(of: UInt64(bytes.count)) { head += $0 }
    // A small message is sent in one piece, because each piece can wake the other process.
    let isSmall = bytes.count <= Self.mostJoined
    var descriptor = descriptor
    for part in isSmall ? [head + text + bytes] : [head + text, bytes] {
      var done = 0
      while done < part.count {
        let count = part.withUnsafeBytes {
          larder_send(socket, $0.baseAddress?.advanced(by: done), $0.count - done, descriptor)
        }
        if count > 0 {
          done += count
          // The descriptor was sent with the first byte.
          descriptor = -1
        } else if errno == EAGAIN {
          try wait(POLLOUT)
        } else if errno != EINTR {
          throw .closed
        }
      }
    }
  }

  /// Receives the next message.
  ///
  /// - Parameters:
  ///   - takesDescriptor: Whether the message is allowed to carry a descriptor. If not, a descriptor that comes with
  ///     it is closed.
  ///   - wait: Waits for the socket.
  /// - Returns: The message.
  /// - Throws: ``WorkerLoss``, also if `wait` throws it.
  func receive(
    takesDescriptor: Bool = false,
    wait: Waiting
  ) throws(WorkerLoss) -> Message {
    var descriptor: Int32 = -1
    do throws(WorkerLoss) {
      let head = try withUnsafeMutablePointer(to: &descriptor) {
        (place) throws(WorkerLoss) in try receive(16, takesDescriptor ? place : nil, wait)
      }
      let kind = head.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
      let text = head.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self) }
      let bytes = head.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self) }
      guard let kind = Kind(rawValue: kind), text <= Self.mostText, bytes <= most else {
        throw .nonsense
      }
      return Message(
        kind: kind,
        text: try receive(Int(text), nil, wait),
        bytes: try receive(Int(bytes), nil, wait),
        descriptor: descriptor
      )
    } catch {
      if descriptor >= 0 { close(descriptor) }
      throw error
    }
  }

  private func receive(
    _ size: Int,
    _ descriptor: UnsafeMutablePointer<Int32>?,
    _ wait: Waiting
  ) throws(WorkerLoss) -> [UInt8] {
    guard size > 0 else { return [] }
    var loss: WorkerLoss?
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { room, count in
      do throws(WorkerLoss) {
        while count < size {
          let place = room.baseAddress?.advanced(by: count)
          let got = larder_receive(socket, place, size - count, descriptor)
          if got > 0 {
            count += got
          } else if got < 0, errno == EAGAIN {
            try wait(POLLIN)
          } else if got == 0 || errno != EINTR {
            throw .closed
          }
        }
      } catch {
        loss = error
      }
    }
    if let loss { throw loss }
    return bytes
  }
}

extension WorkerChannel.Request {
  /// The request as the text of a message.
  var text: [UInt8] { [(isFile ? 1 : 0) | (becomesFile ? 2 : 0)] + name.utf8 }

  /// Reads a request from the text of a message.
  init(_ text: [UInt8]) throws(WorkerLoss) {
    guard let flags = text.first, flags < 4 else { throw .nonsense }
    self.init(
      name: String(decoding: text.dropFirst(), as: UTF8.self),
      isFile: flags & 1 != 0,
      becomesFile: flags & 2 != 0
    )
  }
}

/// Why a worker process cannot be used any more.
enum WorkerLoss: Error {
  /// The worker closed its end of the socket.
  ///
  /// This also happens when it exits.
  case closed
  /// The worker took more processor time than this many seconds, the limit for the picture.
  case overTime(Double)
  /// The worker made no progress for this many seconds.
  case stalled(Double)
  /// The caller stopped the work.
  case stopped
  /// The worker sent an invalid message.
  case nonsense
}

extension Encodable {
  /// The value as JSON, for the text of a message.
  ///
  /// Encoding cannot fail, because no number in a message is infinite or NaN.
  var text: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }
}

extension Decodable {
  /// Decodes the text of a message, which is JSON.
  init(text: [UInt8]) throws(WorkerLoss) {
    do { self = try JSONDecoder().decode(Self.self, from: Data(text)) } catch { throw .nonsense }
  }
}
