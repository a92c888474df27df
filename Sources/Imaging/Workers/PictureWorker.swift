import Base
import CGlibc
import Glibc
import SystemPackage

/// The main loop of a worker process, which makes pictures for the process that started it.
///
/// ``PictureWorkers`` starts such processes.
///
/// A worker is allowed to read any file, because libraries and fonts are opened when they are needed. It can write only
/// to files that the other process hands over. It starts no program and opens no socket. Its memory is limited for each
/// picture, and its processor time is limited by the size in the picture's header. It ends when the other process ends.
package struct PictureWorker {
  private let channel: WorkerChannel
  private var known: PictureOrder?
  /// Whether the other process still waits for a sign that this process has started.
  private var isNew = true

  /// Makes pictures until the other end of the socket is closed, and then exits the process.
  ///
  /// Call it before the process starts a second thread.
  ///
  /// - Parameter socket: The socket to the other process.
  package static func run(on socket: Int32) -> Never {
    var status = stat()
    guard fstat(socket, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK,
      larder_confine("larder-pictures") == 0
    else { _exit(64) }
    // These signals, for example from Ctrl-C, end the other process, and this process ends after it. So they are
    // ignored here.
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_IGN) }
    guard larder_end_with(socket) == 0 else { _exit(71) }
    var worker = PictureWorker(channel: WorkerChannel(socket: socket))
    do throws(WorkerLoss) {
      while true { try worker.makeNext() }
    } catch {
      _exit(0)
    }
  }

  private func wait(_ events: Int32) throws(WorkerLoss) {
    var one = pollfd(fd: channel.socket, events: Int16(events), revents: 0)
    while poll(&one, 1, -1) < 0, errno == EINTR {}
  }

  private mutating func makeNext() throws(WorkerLoss) {
    let message = try channel.receive(takesDescriptor: true, wait: wait)
    // If the request is invalid, the error ends the process, which also closes the input.
    let request = try WorkerChannel.Request(message.text)
    let order = try order(message.bytes)
    let made = Result { () throws(LarderError) in
      try make(request, order, message.descriptor)
    }
    // The input is closed before the answer is sent, so that an idle worker has no open file except its socket.
    if message.descriptor >= 0 { close(message.descriptor) }
    switch made {
    case .failure(let error): try channel.send(.failed, error.text, wait: wait)
    case .success(let picture):
      var bytes: [UInt8] = []
      if case .held(let held) = picture.file { bytes = held }
      try channel.send(.made, picture.summary.text, bytes, wait: wait)
    }
  }

  private mutating func order(_ wire: [UInt8]) throws(WorkerLoss) -> PictureOrder {
    if let known, known.wire == wire { return known }
    let order = try PictureOrder(wire: wire)
    known = order
    // If a bitmap were freed and allocated again for each picture, each of its memory pages would cost a page fault.
    // A photo that is not scaled is processed row by row. If the memory of its coefficients were kept for the next
    // photo, the worker would take twice as much memory.
    if order.makesBitmaps { larder_keep_blocks(16 << 20) }
    return order
  }

  private mutating func make(
    _ request: WorkerChannel.Request,
    _ order: PictureOrder,
    _ descriptor: Int32
  ) throws(LarderError) -> EncodedPicture {
    larder_limit_memory(order.memory)
    let (bytes, modified) = try PictureFile.read(descriptor, request.name, order.limits)
    demand(PictureOrder.secondsUnasked)
    let file = try PictureFile(
      bytes,
      name: request.name,
      modified: request.isFile ? modified : nil,
      limits: order.limits
    )
    demand(order.seconds(for: file.probe))
    guard request.becomesFile else { return try order.make(from: file, opening: nil) }
    return try order.make(from: file) { [self] () throws(LarderError) in
      try place(for: request.name)
    }
  }

  /// Sets the processor time after which the kernel ends this process.
  ///
  /// The other process is told if the picture needs more than ``PictureOrder/secondsUnasked``, or if this process is
  /// new.
  private mutating func demand(_ seconds: Double) {
    larder_limit_processor(seconds)
    guard isNew || seconds > PictureOrder.secondsUnasked else { return }
    isNew = false
    try? channel.send(.seconds, seconds.text, wait: wait)
  }

  /// Asks the other process to create a temporary file, for a result that is too large for memory.
  private func place(for name: String) throws(LarderError) -> PartFile {
    let refusal: LarderError
    do throws(WorkerLoss) {
      try channel.send(.place, wait: wait)
      let answer = try channel.receive(takesDescriptor: true, wait: wait)
      if answer.kind == .placed, answer.descriptor >= 0 {
        return PartFile(begun: answer.descriptor, for: FilePath(name))
      }
      refusal = try LarderError(text: answer.text)
    } catch {
      // The other process is gone.
      _exit(0)
    }
    throw refusal
  }
}
