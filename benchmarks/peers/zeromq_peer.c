/* SPDX-License-Identifier: Apache-2.0
 * zeromq_peer METRIC BYTES COUNT CORE0 CORE1 ADDRESS: what two processes reach over a pair of ZeroMQ sockets.
 * Prints "METRIC value" (ns, 1/s or GB/s); the metrics are those of mpi_peer.c. The child binds ADDRESS and
 * tells the parent where; a core of -1 leaves a process where the kernel puts it. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

enum { kBatch = 100, kQueue = 100000, kAddressMax = 256 };

static void pin(int core) {
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int ascending(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

static double median(double* samples, int count) {
  qsort(samples, (size_t)count, sizeof *samples, ascending);
  return samples[count / 2];
}

static void* open_socket(void* context) {
  void* socket = zmq_socket(context, ZMQ_PAIR);
  const int queue = kQueue, wait_ms = 20000, linger_ms = 1000;
  zmq_setsockopt(socket, ZMQ_SNDHWM, &queue, sizeof queue);
  zmq_setsockopt(socket, ZMQ_RCVHWM, &queue, sizeof queue);
  zmq_setsockopt(socket, ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms);
  zmq_setsockopt(socket, ZMQ_SNDTIMEO, &wait_ms, sizeof wait_ms);
  zmq_setsockopt(socket, ZMQ_LINGER, &linger_ms, sizeof linger_ms);
  return socket;
}

static void must(int result) {
  if (result >= 0) return;
  fprintf(stderr, "zeromq_peer: %s\n", zmq_strerror(zmq_errno()));
  exit(1);
}

static void receive(void* socket) {
  zmq_msg_t message;
  zmq_msg_init(&message);
  must(zmq_msg_recv(&message, socket, 0));
  zmq_msg_close(&message);
}

/* The payload stays in our memory: ZeroMQ sends it from there. */
static void keep(void* data, void* hint) { (void)data, (void)hint; }

static void send_in_place(void* socket, char* data, size_t bytes) {
  zmq_msg_t message;
  zmq_msg_init_data(&message, data, bytes, keep, NULL);
  must(zmq_msg_send(&message, socket, 0));
}

static void serve(void* socket, const char* metric, char* data, size_t bytes, int count) {
  if (strcmp(metric, "round_trip") == 0) {
    for (int done = 0; done < count; ++done) {
      receive(socket);
      must(zmq_send(socket, data, bytes, 0));
    }
  } else if (strcmp(metric, "one_way") == 0) {
    for (int done = 0; done < count; ++done) receive(socket);
    must(zmq_send(socket, data, 1, 0));
  } else {
    for (int done = 0; done < count; ++done) {
      receive(socket);
      must(zmq_send(socket, data, 1, 0));
    }
  }
}

static double measure(void* socket, const char* metric, char* data, size_t bytes, int count) {
  double* samples = malloc(sizeof *samples * (size_t)count);
  int taken = 0;
  double start = now();
  if (strcmp(metric, "round_trip") == 0) {
    for (int done = 0; done < count; done += kBatch, start = now()) {
      for (int trip = 0; trip < kBatch; ++trip) {
        must(zmq_send(socket, data, bytes, 0));
        receive(socket);
      }
      samples[taken++] = (now() - start) / kBatch;
    }
  } else if (strcmp(metric, "one_way") == 0) {
    for (int done = 0; done < count; ++done) must(zmq_send(socket, data, bytes, 0));
    receive(socket);
    samples[taken++] = (now() - start) / count;
  } else {
    for (int done = 0; done < count; ++done, start = now()) {
      send_in_place(socket, data, bytes);
      receive(socket);
      samples[taken++] = now() - start;
    }
  }
  const double seconds = median(samples, taken);
  free(samples);
  if (strcmp(metric, "round_trip") == 0) return seconds * 1e9;
  return strcmp(metric, "one_way") == 0 ? 1 / seconds : (double)bytes / seconds / 1e9;
}

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  const char* metric = argv[1];
  const size_t bytes = strtoull(argv[2], NULL, 10);
  const int count = (atoi(argv[3]) + kBatch - 1) / kBatch * kBatch;
  char* data = malloc(bytes);
  memset(data, 1, bytes);
  char address[kAddressMax] = {0};
  int told[2];
  if (pipe(told) != 0) return 1;
  const pid_t child = fork();
  void* context = NULL;
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(atoi(argv[5]));
    context = zmq_ctx_new();
    void* socket = open_socket(context);
    must(zmq_bind(socket, argv[6]));
    size_t length = sizeof address;
    zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, address, &length);
    if (write(told[1], address, sizeof address) != sizeof address) return 1;
    serve(socket, metric, data, bytes, count);
    zmq_close(socket);
    zmq_ctx_term(context);
    return 0;
  }
  close(told[1]);
  pin(atoi(argv[4]));
  if (read(told[0], address, sizeof address) != sizeof address) return 1;
  context = zmq_ctx_new();
  void* socket = open_socket(context);
  must(zmq_connect(socket, address));
  printf("%s %.9g\n", metric, measure(socket, metric, data, bytes, count));
  zmq_close(socket);
  zmq_ctx_term(context);
  waitpid(child, NULL, 0);
  return 0;
}
