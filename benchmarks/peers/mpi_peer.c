/* SPDX-License-Identifier: Apache-2.0
 * mpi_peer METRIC BYTES COUNT CORE0 CORE1: what two MPI ranks reach. Prints "METRIC value" (ns, 1/s or GB/s).
 *   round_trip  COUNT trips, median over batches
 *   one_way     COUNT messages in windows, one answer at the end
 *   bulk        COUNT payloads, each answered by one byte; median
 * A core of -1 leaves the rank where the kernel puts it. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBatch = 100, kWindow = 64, kTag = 1 };

static void pin(int core) {
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

static int ascending(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

static double median(double* samples, int count) {
  qsort(samples, (size_t)count, sizeof *samples, ascending);
  return samples[count / 2];
}

static void send_to(int rank, char* data, int bytes) { MPI_Send(data, bytes, MPI_BYTE, rank, kTag, MPI_COMM_WORLD); }

static void receive_from(int rank, char* data, int bytes) {
  MPI_Recv(data, bytes, MPI_BYTE, rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double round_trip(int rank, char* data, int bytes, int count) {
  const int batches = count / kBatch > 0 ? count / kBatch : 1;
  double* samples = malloc(sizeof *samples * (size_t)batches);
  for (int batch = 0; batch < batches; ++batch) {
    const double start = MPI_Wtime();
    for (int trip = 0; trip < kBatch; ++trip) {
      if (rank == 0) send_to(1, data, bytes);
      receive_from(1 - rank, data, bytes);
      if (rank == 1) send_to(0, data, bytes);
    }
    samples[batch] = (MPI_Wtime() - start) / kBatch;
  }
  const double seconds = median(samples, batches);
  free(samples);
  return seconds * 1e9;
}

static double one_way(int rank, char* data, int bytes, int count) {
  MPI_Request requests[kWindow];
  const double start = MPI_Wtime();
  for (int done = 0; done < count; done += kWindow) {
    for (int slot = 0; slot < kWindow; ++slot) {
      char* place = data + (size_t)slot * (size_t)bytes;
      if (rank == 0) {
        MPI_Isend(place, bytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &requests[slot]);
      } else {
        MPI_Irecv(place, bytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, &requests[slot]);
      }
    }
    MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
  }
  char answer = 0;
  if (rank == 0) receive_from(1, &answer, 1);
  if (rank == 1) send_to(0, &answer, 1);
  return count / (MPI_Wtime() - start);
}

static double bulk(int rank, char* data, int bytes, int count) {
  double* samples = malloc(sizeof *samples * (size_t)count);
  char answer = 0;
  for (int done = 0; done < count; ++done) {
    const double start = MPI_Wtime();
    if (rank == 0) {
      send_to(1, data, bytes);
      receive_from(1, &answer, 1);
    } else {
      receive_from(0, data, bytes);
      send_to(0, &answer, 1);
    }
    samples[done] = MPI_Wtime() - start;
  }
  const double seconds = median(samples, count);
  free(samples);
  return bytes / seconds / 1e9;
}

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pin(atoi(argv[4 + rank]));
  const int bytes = atoi(argv[2]);
  const int count = atoi(argv[3]);
  char* data = malloc((size_t)bytes * (strcmp(argv[1], "one_way") == 0 ? kWindow : 1));
  memset(data, 1, (size_t)bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  double value = 0;
  if (strcmp(argv[1], "round_trip") == 0) value = round_trip(rank, data, bytes, count);
  if (strcmp(argv[1], "one_way") == 0) value = one_way(rank, data, bytes, count);
  if (strcmp(argv[1], "bulk") == 0) value = bulk(rank, data, bytes, count);
  if (rank == 0) printf("%s %.9g\n", argv[1], value);
  free(data);
  MPI_Finalize();
  return 0;
}
