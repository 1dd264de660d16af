// SPDX-License-Identifier: Apache-2.0
// The worker that TensorFusion's operator names: connection strings, and a service that answers with one.
#include "proxy/base/tensor_fusion.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "proxy/base/http_get.h"
#include "transport/net/socket.h"

namespace tf::proxy {
namespace {

std::string parsed(std::string_view text) {
  Result<std::string> worker = parse_tensor_fusion_connection(text);
  return worker ? *worker : "wrong";
}

TEST(TensorFusionConnection, NamesHostAndPort) {
  EXPECT_EQ(parsed("native+10.1.2.3+8000+worker-7-123"), "10.1.2.3:8000");
  EXPECT_EQ(parsed("hip+gpu-node+31000+pod-1+sharecode"), "gpu-node:31000");
  EXPECT_EQ(parsed("native+10.1.2.3+8000"), "10.1.2.3:8000");
  EXPECT_EQ(parsed("native+fd00::7+8000+w-1"), "[fd00::7]:8000");
}

TEST(TensorFusionConnection, NamesSharedMemory) {
  EXPECT_EQ(parsed("shmem+tf_shm+1024+1"), "unix:/dev/shm/tf_shm.sock");
  EXPECT_EQ(parsed("shmem+a"), "unix:/dev/shm/a.sock");
}

TEST(TensorFusionConnection, RefusesWhatIsNone) {
  for (const char* const bad :
       {"", "+", "native", "native+host", "native+host+", "native++8000", "native+host+port",
        "native+host+70000", "native+host+0", "native+unix:/a+8000", "cuda+host+8000", "shmem", "shmem+",
        "shmem+../etc/x+1", "shmem+.hidden+1", "shmem+a/b+1", "http://host:8000"}) {
    Result<std::string> worker = parse_tensor_fusion_connection(bad);
    ASSERT_FALSE(worker) << bad;
    EXPECT_EQ(worker.status().code(), Code::kInvalidArgument);
    EXPECT_NE(worker.status().message().find("native+HOST+PORT"), std::string::npos);
  }
}

TEST(HttpUrl, TakesPlainOnes) {
  Result<HttpUrl> url = parse_http_url("http://operator.ns.svc:8080/api/connection?name=a&namespace=b#c");
  ASSERT_TRUE(url) << url.status().message();
  EXPECT_EQ(url->host, "operator.ns.svc");
  EXPECT_EQ(url->port, 8080);
  EXPECT_EQ(url->target, "/api/connection?name=a&namespace=b");
  EXPECT_EQ(parse_http_url("http://[::1]")->authority(), "[::1]");
  EXPECT_EQ(parse_http_url("http://host?a=b")->target, "/?a=b");
}

TEST(HttpUrl, RefusesOthers) {
  for (const char* const bad : {"", "host", "https://host/", "ftp://host/", "http://", "http:///x",
                                "http://a b/", "http://host:x/", "http://user@host/", "http://host/\r\nX: y"})
    EXPECT_FALSE(parse_http_url(bad)) << bad;
}

// Answers each connection with the next reply, then with the last one again.
class Service {
 public:
  explicit Service(std::vector<std::string> replies)
      : replies_(std::move(replies)),
        listener_(net::Listener::open(net::Address::tcp("127.0.0.1", 0)).value()),
        thread_([this] { serve(); }) {}
  ~Service() {
    stop_ = true;
    thread_.join();
  }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  std::string url() const { return "http://" + listener_.address().to_string() + "/api/connection?name=x"; }
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  // The accepted socket does not block, and a request comes later than its connection. To close without
  // having read it would reset the connection, and the client would ask again.
  static std::string read_request(int socket) {
    const Deadline deadline = Deadline::after(std::chrono::seconds(10));
    std::string request;
    char byte = 0;
    while (request.find("\r\n\r\n") == std::string::npos && net::wait_readable(socket, deadline) &&
           ::recv(socket, &byte, 1, 0) == 1)
      request += byte;
    return request;
  }
  void serve() {
    std::size_t next = 0;
    while (!stop_) {
      if (!net::wait_readable(listener_.fd(), Deadline::after(std::chrono::milliseconds(20)))) continue;
      Result<net::OwnedFd> socket = listener_.accept();
      if (!socket) continue;
      const std::string request = read_request(socket->get());
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      const std::string& reply = replies_[std::min(next++, replies_.size() - 1)];
      static_cast<void>(net::write_all(socket->get(), std::as_bytes(std::span(reply)),
                                       Deadline::after(std::chrono::seconds(10))));
    }
  }

  std::vector<std::string> replies_;
  std::mutex mutex_;
  std::vector<std::string> requests_;
  std::atomic<bool> stop_{false};
  net::Listener listener_;
  std::thread thread_;
};

constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";

Status ask(Service& service, Settings& settings, const std::string& token_file = "/nonexistent",
           std::chrono::milliseconds patience = std::chrono::seconds(20)) {
  settings.operator_url = service.url();
  return ask_tensor_fusion(settings, token_file, Deadline::after(patience));
}

TEST(TensorFusionOperator, AnswersWithAConnection) {
  Service service({std::string(kOk) + "native+10.0.0.7+8000+w-1\n"});
  Settings settings;
  const Status asked = ask(service, settings);
  ASSERT_TRUE(asked) << asked.message();
  EXPECT_EQ(settings.worker, "10.0.0.7:8000");
  EXPECT_TRUE(settings.operator_url.empty());
  const std::string request = service.requests().at(0);
  EXPECT_EQ(request.find("GET /api/connection?name=x HTTP/1.0\r\n"), 0u) << request;
  EXPECT_EQ(request.find("Authorization"), std::string::npos);
}

TEST(TensorFusionOperator, SeesTheServiceAccountsToken) {
  const std::string file = ::testing::TempDir() + "token";
  const std::string token(3000, 'k');  // longer than one buffer of a small client
  std::ofstream(file) << token << '\n';
  Service service({std::string(kOk) + "native+10.0.0.7+8000"});
  Settings settings;
  ASSERT_TRUE(ask(service, settings, file));
  EXPECT_NE(service.requests().at(0).find("\r\nAuthorization: Bearer " + token + "\r\n"), std::string::npos);
  std::ofstream(file) << "two\nlines";
  EXPECT_EQ(ask(service, settings, file).code(), Code::kInvalidArgument);
}

TEST(TensorFusionOperator, IsAskedAgainWhileItHasNoWorker) {
  Service service({"HTTP/1.1 503 Service Unavailable\r\n\r\nno worker", "HTTP/1.0 504 Timeout\r\n\r\n",
                   std::string(kOk) + "hip+10.0.0.8+9000"});
  Settings settings;
  ASSERT_TRUE(ask(service, settings));
  EXPECT_EQ(settings.worker, "10.0.0.8:9000");
  EXPECT_EQ(service.requests().size(), 3u);
  Service never({"HTTP/1.1 503 Service Unavailable\r\n\r\n"});
  const Status late = ask(never, settings, "/nonexistent", std::chrono::milliseconds(50));
  EXPECT_EQ(late.code(), Code::kTimeout);
  EXPECT_NE(late.message().find("no worker yet"), std::string::npos) << late.message();
}

TEST(TensorFusionOperator, SaysWhyItRefuses) {
  struct Case {
    std::string reply;
    Code code;
    const char* said;
  };
  for (const Case& each :
       {Case{"HTTP/1.1 401 Unauthorized\r\nContent-Length: 9\r\n\r\nbad token and more", Code::kPermission,
             "it answered 401: bad token"},
        Case{"HTTP/1.1 404 Not Found\r\n\r\n", Code::kUnavailable, "it answered 404"},
        Case{"HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\n\r\n", Code::kUnavailable, "302"},
        Case{std::string(kOk) + "teapot", Code::kProtocol, "expected native+HOST+PORT"},
        Case{"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nnative+a+1", Code::kProtocol, "cut short"},
        Case{"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nnative+a+1", Code::kProtocol, "length"},
        Case{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", Code::kProtocol, "encodings"},
        Case{"HTTP/1.1 200 OK\r\nServer: x", Code::kProtocol, "head"},
        Case{"SSH-2.0-x\r\n", Code::kProtocol, "status"}, Case{"", Code::kProtocol, "status"},
        Case{std::string(kOk) + std::string(2 * kHttpReplyBytesMax, 'a'), Code::kProtocol, "more than"}}) {
    Service service({each.reply});
    Settings settings;
    settings.worker = "localhost:18515";
    const Status asked = ask(service, settings);
    EXPECT_EQ(asked.code(), each.code) << each.reply.substr(0, 80) << ": " << asked.message();
    EXPECT_NE(asked.message().find(each.said), std::string::npos) << asked.message();
    EXPECT_NE(asked.message().find("127.0.0.1"), std::string::npos) << asked.message();
    EXPECT_EQ(settings.worker, "localhost:18515");
  }
}

TEST(TensorFusionOperator, IsNotAskedWithoutAnAddress) {
  Settings settings;
  settings.worker = "gpu:1";
  EXPECT_TRUE(ask_tensor_fusion(settings, "/nonexistent", Deadline::now()));
  EXPECT_EQ(settings.worker, "gpu:1");
  settings.operator_url = "https://operator/";
  EXPECT_EQ(ask_tensor_fusion(settings, "/nonexistent", Deadline::now()).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace tf::proxy
