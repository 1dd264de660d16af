// SPDX-License-Identifier: Apache-2.0
// Runs TLS between two pieces of memory, and the two messages inside it.
#include "transport/secure/handshake.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "transport/secure/file.h"
#include "transport/secure/tls.h"

namespace tf::secure {
namespace {

constexpr std::uint8_t kVersion = 2;
constexpr std::string_view kLabel = "EXPORTER-hip-remote session";

struct Wish {
  std::uint8_t version = kVersion;
  std::uint8_t level = 0;
  std::uint8_t ciphers = 0;
  std::array<std::uint8_t, 5> reserved{};
};
struct Verdict {
  std::uint8_t version = kVersion;
  std::uint8_t code = 0;
  std::uint8_t level = 0;
  std::uint8_t cipher = 0;
  std::uint32_t message_bytes = 0;
};
static_assert(sizeof(Wish) == 8 && sizeof(Verdict) == 8);

Status malformed(const std::string& what) { return {Code::kProtocol, "handshake: " + what}; }

class TlsHandshake : public Handshake, private PeerJudge {
 public:
  explicit TlsHandshake(std::shared_ptr<const Identity> own) : own_(std::move(own)), ssl_(loaded_openssl()) {}

  Status open() {
    tls_.reset(ssl_.SSL_new(own_->tls().context.get()));
    BIO* const in = ssl_.BIO_new(ssl_.BIO_s_mem());
    BIO* const out = ssl_.BIO_new(ssl_.BIO_s_mem());
    // Ownership of both goes to it.
    if (tls_ != nullptr) ssl_.SSL_set_bio(tls_.get(), in, out);
    if (tls_ == nullptr || in == nullptr || out == nullptr) return openssl_failure(ssl_, "TLS");
    in_ = in;
    out_ = out;
    ssl_.SSL_set_ex_data(tls_.get(), 0, static_cast<PeerJudge*>(this));
    if (own_->side() == Side::kClient)
      ssl_.SSL_set_connect_state(tls_.get());
    else
      ssl_.SSL_set_accept_state(tls_.get());
    return Status::ok();
  }

  Status take(std::span<const std::byte> bytes) override {
    if (!failure_.is_ok()) return failure_;
    Status status = step(bytes);
    collect();
    if (!status.is_ok()) failure_ = status;
    return status;
  }
  std::vector<std::byte>& to_send() override { return to_send_; }
  bool done() const override { return session_.has_value() && failure_.is_ok(); }
  const Session& session() const override { return *session_; }
  const PublicKey* peer() const override { return established_ && shown_ ? &*shown_ : nullptr; }

 protected:
  // After TLS: says or hears the messages, and calls agree().
  virtual Status converse() = 0;
  virtual Status judge(const PublicKey& key) = 0;

  // True: so many bytes of the peer's messages are here, in heard_.
  Result<bool> hear(std::size_t bytes) {
    while (heard_.size() < bytes) {
      std::array<std::byte, 256> part;
      const int want = static_cast<int>(std::min(part.size(), bytes - heard_.size()));
      const int got = ssl_.SSL_read(tls_.get(), part.data(), want);
      if (got <= 0) {
        if (ssl_.SSL_get_error(tls_.get(), got) == SSL_ERROR_WANT_READ) return false;
        return tls_failure();
      }
      heard_.insert(heard_.end(), part.begin(), part.begin() + got);
    }
    return true;
  }

  Status say(std::span<const std::byte> bytes) {
    if (ssl_.SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size())) <= 0) return tls_failure();
    return Status::ok();
  }

  Status agree(Level level, Cipher cipher) {
    const std::array<unsigned char, 2> context = {static_cast<unsigned char>(level),
                                                  static_cast<unsigned char>(cipher)};
    Session session;
    session.level = level;
    session.cipher = cipher;
    if (ssl_.SSL_export_keying_material(tls_.get(), session.secret.data(), Secret32::size(), kLabel.data(),
                                        kLabel.size(), context.data(), context.size(), 1) != 1)
      return openssl_failure(ssl_, "TLS exporter");
    session_ = session;
    return Status::ok();
  }

  template <typename T>
  T heard_as() const {
    T value;
    std::memcpy(&value, heard_.data(), sizeof value);
    return value;
  }
  std::string heard_text(std::size_t from) const {
    return {reinterpret_cast<const char*>(heard_.data()) + from, heard_.size() - from};
  }
  template <typename T>
  static std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
  }

 private:
  bool accepts(const PublicKey& key) final {
    shown_ = key;
    judged_ = judge(key);
    return judged_.is_ok();
  }

  Status step(std::span<const std::byte> bytes) {
    taken_ += bytes.size();
    if (taken_ > kHandshakeBytesMax) return malformed("the peer sends more than any handshake needs");
    if (!bytes.empty() &&
        ssl_.BIO_write(in_, bytes.data(), static_cast<int>(bytes.size())) != static_cast<int>(bytes.size()))
      return openssl_failure(ssl_, "no memory for a handshake");
    if (session_) return bytes.empty() ? Status::ok() : too_much();
    if (!established_) {
      const int result = ssl_.SSL_do_handshake(tls_.get());
      if (result != 1 && ssl_.SSL_get_error(tls_.get(), result) == SSL_ERROR_WANT_READ) return Status::ok();
      if (result != 1) return tls_failure();
      TF_RETURN_IF_ERROR(check_protocol());
      established_ = true;
    }
    TF_RETURN_IF_ERROR(converse());
    return session_ && ssl_.BIO_ctrl_pending(in_) != 0 ? too_much() : Status::ok();
  }

  static Status too_much() { return malformed("the peer sends more than it may now"); }

  Status check_protocol() {
    const unsigned char* name = nullptr;
    unsigned int bytes = 0;
    ssl_.SSL_get0_alpn_selected(tls_.get(), &name, &bytes);
    const std::string_view chosen(reinterpret_cast<const char*>(name), bytes);
    return chosen == kAlpn.substr(1) ? Status::ok() : malformed("the peer speaks another protocol in TLS");
  }

  Status tls_failure() {
    if (!judged_.is_ok()) {
      ssl_.ERR_clear_error();
      return judged_;
    }
    const Status failed = openssl_failure(ssl_, "handshake: TLS");
    return {Code::kProtocol, failed.message()};
  }

  void collect() {
    std::array<std::byte, 2048> part;
    for (;;) {
      const int got = ssl_.BIO_read(out_, part.data(), static_cast<int>(part.size()));
      if (got <= 0) return;
      to_send_.insert(to_send_.end(), part.begin(), part.begin() + got);
    }
  }

  const std::shared_ptr<const Identity> own_;
  const OpenSsl& ssl_;
  Owned<SSL> tls_;
  BIO* in_ = nullptr;  // both are tls_'s
  BIO* out_ = nullptr;
  std::vector<std::byte> to_send_;
  std::vector<std::byte> heard_;
  std::size_t taken_ = 0;
  bool established_ = false;
  std::optional<PublicKey> shown_;
  Status judged_;
  Status failure_;
  std::optional<Session> session_;
};

class ClientHandshake final : public TlsHandshake {
 public:
  ClientHandshake(std::shared_ptr<const Identity> own, Level wanted, JudgeWorker judge)
      : TlsHandshake(std::move(own)), wanted_(wanted), judge_(std::move(judge)) {}

 private:
  Status judge(const PublicKey& key) override { return judge_(key); }

  Status converse() override {
    if (!std::exchange(wished_, true)) {
      Wish wish;
      wish.level = static_cast<std::uint8_t>(wanted_);
      wish.ciphers = possible_ciphers();
      TF_RETURN_IF_ERROR(say(bytes_of(wish)));
    }
    Result<bool> complete = hear(sizeof(Verdict));
    if (!complete || !*complete) return complete.status();
    const auto verdict = heard_as<Verdict>();
    if (verdict.version != kVersion) return malformed("the worker is of another release");
    if (verdict.code != static_cast<std::uint8_t>(Code::kOk)) return take_refusal(verdict);
    const auto cipher = static_cast<Cipher>(verdict.cipher);
    if (verdict.level != static_cast<std::uint8_t>(wanted_) || verdict.message_bytes != 0 ||
        (cipher != Cipher::kAes128Gcm && cipher != Cipher::kChaCha20Poly1305))
      return malformed("the worker grants what nobody asked for");
    return agree(wanted_, cipher);
  }

  Status take_refusal(const Verdict& verdict) {
    if (verdict.message_bytes > kRefusalBytesMax) return malformed("a refusal that is too long");
    Result<bool> complete = hear(sizeof verdict + verdict.message_bytes);
    if (!complete || !*complete) return complete.status();
    return {Code::kPermission, "the worker refused: " + shown_line(heard_text(sizeof verdict))};
  }

  static std::string shown_line(std::string text) {
    for (char& character : text)
      if (character < ' ' || character > '~') character = '?';
    return text;
  }

  const Level wanted_;
  const JudgeWorker judge_;
  bool wished_ = false;
};

class WorkerHandshake final : public TlsHandshake {
 public:
  WorkerHandshake(std::shared_ptr<const Identity> own, JudgeClient judge)
      : TlsHandshake(std::move(own)), judge_(std::move(judge)) {}

 private:
  // Strangers are told why they may not come in, so they may go on to the end.
  Status judge(const PublicKey&) override { return Status::ok(); }

  Status converse() override {
    Result<bool> complete = hear(sizeof(Wish));
    if (!complete || !*complete) return complete.status();
    const auto wish = heard_as<Wish>();
    if (wish.version != kVersion || wish.reserved != decltype(wish.reserved){} ||
        wish.level > static_cast<std::uint8_t>(Level::kEncrypt) || wish.level == 0)
      return malformed("the client asks for what is not possible");
    const auto wanted = static_cast<Level>(wish.level);
    const Result<Level> granted = judge_(*peer(), wanted);
    Verdict verdict;
    if (!granted) {
      const std::string why = granted.status().message().substr(0, kRefusalBytesMax);
      verdict.code = static_cast<std::uint8_t>(Code::kPermission);
      verdict.message_bytes = static_cast<std::uint32_t>(why.size());
      TF_RETURN_IF_ERROR(say(bytes_of(verdict)));
      if (!why.empty()) TF_RETURN_IF_ERROR(say(std::as_bytes(std::span(why))));
      return granted.status();
    }
    const Cipher cipher = choose_cipher(possible_ciphers(), wish.ciphers);
    verdict.level = static_cast<std::uint8_t>(granted.value());
    verdict.cipher = static_cast<std::uint8_t>(cipher);
    TF_RETURN_IF_ERROR(agree(granted.value(), cipher));
    return say(bytes_of(verdict));
  }

  const JudgeClient judge_;
};

Result<std::unique_ptr<Handshake>> opened(std::unique_ptr<TlsHandshake> handshake) {
  if (Status status = handshake->open(); !status.is_ok()) return status;
  return std::unique_ptr<Handshake>(std::move(handshake));
}

}  // namespace

Result<std::unique_ptr<Handshake>> Handshake::client(std::shared_ptr<const Identity> own, Level wanted,
                                                     JudgeWorker judge) {
  return opened(std::make_unique<ClientHandshake>(std::move(own), wanted, std::move(judge)));
}

Result<std::unique_ptr<Handshake>> Handshake::worker(std::shared_ptr<const Identity> own, JudgeClient judge) {
  return opened(std::make_unique<WorkerHandshake>(std::move(own), std::move(judge)));
}

}  // namespace tf::secure
