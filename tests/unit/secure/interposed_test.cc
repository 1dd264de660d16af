// SPDX-License-Identifier: Apache-2.0
// A program that has an OpenSSL of another kind linked into it and exports its functions: they are not called
// by ours, and what the program sees stays its own. Not under address sanitizers, which forbid what it takes.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <utility>
#include <vector>

#include "transport/secure/handshake.h"
#include "transport/secure/records.h"

namespace {

std::atomic<int> calls{0};

}  // namespace

// Names that libssl calls in libcrypto for every handshake and record. Their real types do not matter: nobody
// may call them.
#define TF_INTERPOSE(name)                                         \
  extern "C" __attribute__((visibility("default"))) void* name();  \
  extern "C" __attribute__((visibility("default"))) void* name() { \
    calls.fetch_add(1, std::memory_order_relaxed);                 \
    return nullptr;                                                \
  }
TF_INTERPOSE(CRYPTO_malloc)
TF_INTERPOSE(CRYPTO_zalloc)
TF_INTERPOSE(CRYPTO_free)
TF_INTERPOSE(OPENSSL_init_crypto)
TF_INTERPOSE(OPENSSL_init_ssl)
TF_INTERPOSE(BIO_new)
TF_INTERPOSE(BIO_read)
TF_INTERPOSE(BIO_write)
TF_INTERPOSE(EVP_CIPHER_CTX_new)
TF_INTERPOSE(EVP_CIPHER_fetch)
TF_INTERPOSE(EVP_EncryptUpdate)
TF_INTERPOSE(EVP_MD_CTX_new)
TF_INTERPOSE(EVP_MD_fetch)
TF_INTERPOSE(EVP_PKEY_new)
TF_INTERPOSE(SSL_new)
TF_INTERPOSE(SSL_CTX_new)
TF_INTERPOSE(SSL_do_handshake)
TF_INTERPOSE(X509_new)

namespace tf::secure {
namespace {

std::unique_ptr<Handshake> make(Side side) {
  const auto own = Identity::make(generate_key().value(), side);
  EXPECT_TRUE(own.is_ok()) << own.status().to_string();
  if (side == Side::kClient)
    return Handshake::client(own.value(), Level::kEncrypt, [](const PublicKey&) { return Status::ok(); })
        .value();
  return Handshake::worker(own.value(), [](const PublicKey&, Level level) { return Result<Level>(level); })
      .value();
}

TEST(Interposed, TheProgramsFunctionsAreNotCalled) {
  ASSERT_NE(::dlsym(RTLD_DEFAULT, "EVP_EncryptUpdate"), nullptr) << "this program does not export them";
  const std::unique_ptr<Handshake> client = make(Side::kClient);
  const std::unique_ptr<Handshake> worker = make(Side::kWorker);
  ASSERT_TRUE(client->take({}).is_ok());
  for (int turn = 0; turn < 4; ++turn) {
    const auto clients = std::exchange(client->to_send(), {});
    if (!clients.empty()) {
      ASSERT_TRUE(worker->take(clients).is_ok());
    }
    const auto workers = std::exchange(worker->to_send(), {});
    if (!workers.empty()) {
      ASSERT_TRUE(client->take(workers).is_ok());
    }
  }
  ASSERT_TRUE(client->done() && worker->done());
  Sealer sealer = Sealer::make(client->session().secret, client->session().cipher).value();
  const std::vector<std::byte> plain(100);
  std::vector<std::byte> record(plain.size() + kRecordOverhead);
  EXPECT_TRUE(sealer.seal(plain, record).is_ok());
  EXPECT_EQ(calls.load(), 0);
}

TEST(Interposed, TheProgramSeesNothingOfOurs) {
  ASSERT_TRUE(load_library().is_ok());
  EXPECT_EQ(::dlsym(RTLD_DEFAULT, "SSL_CTX_new_ex"), nullptr) << "the library is visible to the program";
}

}  // namespace
}  // namespace tf::secure
