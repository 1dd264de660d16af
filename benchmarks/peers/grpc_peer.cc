// SPDX-License-Identifier: Apache-2.0
// grpc_peer METRIC BYTES COUNT CORE0 CORE1 ADDRESS: what one bidirectional gRPC stream of raw bytes reaches.
// Prints "METRIC value" (ns, 1/s or GB/s); the metrics are those of mpi_peer.c. The child serves ADDRESS; a
// core of -1 leaves a process where the kernel puts it. The service is written out by hand: no protobuf
// messages.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/method_handler.h>
#include <grpcpp/impl/codegen/rpc_service_method.h>
#include <grpcpp/impl/codegen/service_type.h>
#include <grpcpp/support/byte_buffer.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr const char* kMethod = "/peer.Bytes/Stream";
constexpr int kBatch = 100;

using grpc::ByteBuffer;
using ServerStream = grpc::ServerReaderWriter<ByteBuffer, ByteBuffer>;
using ClientStream = grpc::ClientReaderWriter<ByteBuffer, ByteBuffer>;

void pin(int core) {
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

// The bytes stay where they are; every message refers to them.
ByteBuffer message(const std::string& data) {
  const grpc::Slice slice(data.data(), data.size(), grpc::Slice::STATIC_SLICE);
  return ByteBuffer(&slice, 1);
}

class Bytes final : public grpc::Service {
 public:
  explicit Bytes(std::string metric) : metric_(std::move(metric)) {
    AddMethod(new grpc::internal::RpcServiceMethod(
        kMethod, grpc::internal::RpcMethod::BIDI_STREAMING,
        new grpc::internal::BidiStreamingHandler<Bytes, ByteBuffer, ByteBuffer>(
            [](Bytes* self, grpc::ServerContext*, ServerStream* stream) { return self->serve(*stream); },
            this)));
  }

 private:
  grpc::Status serve(ServerStream& stream) {
    const std::string answer = "!";
    ByteBuffer received;
    while (stream.Read(&received)) {
      if (metric_ == "round_trip") stream.Write(received);
      if (metric_ == "bulk") stream.Write(message(answer));
    }
    if (metric_ == "one_way") stream.Write(message(answer));
    return grpc::Status::OK;
  }
  std::string metric_;
};

[[noreturn]] void serve(const std::string& metric, const std::string& address) {
  Bytes service(metric);
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(-1);
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) std::_Exit(1);
  server->Wait();
  std::_Exit(0);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double>& samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

double measure(ClientStream& stream, const std::string& metric, const std::string& data, int count) {
  ByteBuffer received;
  std::vector<double> samples;
  bool alive = true;
  if (metric == "one_way") {
    const auto start = std::chrono::steady_clock::now();
    for (int sent = 0; sent < count; ++sent) alive = alive && stream.Write(message(data));
    stream.WritesDone();
    return alive && stream.Read(&received) ? count / seconds_since(start) : 0;
  }
  const int batch = metric == "round_trip" ? kBatch : 1;
  for (int done = 0; done < count && alive; done += batch) {
    const auto start = std::chrono::steady_clock::now();
    for (int trip = 0; trip < batch && alive; ++trip)
      alive = stream.Write(message(data)) && stream.Read(&received);
    samples.push_back(seconds_since(start) / batch);
  }
  if (!alive) return 0;
  return metric == "bulk" ? static_cast<double>(data.size()) / median(samples) / 1e9 : median(samples) * 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  const std::string metric = argv[1];
  const std::string data(std::strtoull(argv[2], nullptr, 10), 'x');
  const pid_t child = ::fork();  // before gRPC has threads
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(std::atoi(argv[5]));
    serve(metric, argv[6]);
  }
  pin(std::atoi(argv[4]));
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  const auto channel = grpc::CreateCustomChannel(argv[6], grpc::InsecureChannelCredentials(), arguments);
  double value = 0;
  if (channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(10))) {
    grpc::ClientContext context;
    const grpc::internal::RpcMethod method(kMethod, grpc::internal::RpcMethod::BIDI_STREAMING);
    const std::unique_ptr<ClientStream> stream(
        grpc::internal::ClientReaderWriterFactory<ByteBuffer, ByteBuffer>::Create(channel.get(), method,
                                                                                  &context));
    value = measure(*stream, metric, data, std::atoi(argv[3]));
    context.TryCancel();
  }
  ::kill(child, SIGTERM);
  ::waitpid(child, nullptr, 0);
  if (value <= 0) {
    std::fprintf(stderr, "grpc_peer: the stream broke or never was\n");
    return 1;
  }
  std::printf("%s %.9g\n", metric.c_str(), value);
  return 0;
}
