// A slow link to this machine: packets to FAR come back to HERE after half of MILLISECONDS, and so do the answers. So
// handshakes, windows and congestion control are the kernel's own, which a delay inside a server would leave out.
//
//     far-link HERE FAR MILLISECONDS     HERE is an address of this machine; prints "up" when ready; runs until killed
//
// Needs root, in a network namespace of its own: it creates the device `far0` and a route. It swaps the addresses of
// each packet, so that one machine is both ends; checksums stay valid.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { PLACES = 16384, SIZE = 1504, SOURCE = 12, TARGET = 16, ADDRESS = 4 };

static struct packet {
  int64_t due;
  ssize_t size;
  unsigned char bytes[SIZE];
} line[PLACES];

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void turn(unsigned char *packet) {
  unsigned char source[ADDRESS];
  memcpy(source, packet + SOURCE, ADDRESS);
  memcpy(packet + SOURCE, packet + TARGET, ADDRESS);
  memcpy(packet + TARGET, source, ADDRESS);
}

int main(int argc, char **argv) {
  if (argc != 4) return 64;
  const int64_t way = (int64_t)(atof(argv[3]) * 1e6 / 2);
  struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI, .ifr_name = "far0"};
  const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
  char command[256];
  snprintf(command, sizeof command, "ip link set far0 txqueuelen 10000 up && ip route add %s dev far0 src %s", argv[2], argv[1]);
  if (device < 0 || ioctl(device, TUNSETIFF, &request) < 0 || system(command) != 0) {
    perror("far-link: no device");
    return 1;
  }
  puts("up");
  fflush(stdout);
  for (unsigned first = 0, last = 0;;) {
    struct pollfd ready = {.fd = device, .events = POLLIN};
    struct timespec rest = {0};
    if (first != last) {
      const int64_t left = line[first % PLACES].due - now();
      if (left > 0) rest = (struct timespec){left / 1000000000, left % 1000000000};
    }
    ppoll(&ready, 1, first == last ? NULL : &rest, NULL);
    while (last - first < PLACES) {
      struct packet *packet = &line[last % PLACES];
      packet->size = read(device, packet->bytes, SIZE);
      if (packet->size <= 0) break;
      if (packet->bytes[0] >> 4 != 4) continue;
      turn(packet->bytes);
      packet->due = now() + way;
      last++;
    }
    for (const int64_t moment = now(); first != last && line[first % PLACES].due <= moment; first++) {
      // A full device drops packets, as any link does.
      if (write(device, line[first % PLACES].bytes, line[first % PLACES].size) < 0) continue;
    }
  }
}
