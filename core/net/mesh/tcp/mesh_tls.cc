// TLS 1.3 between the members of an epoch, with a pre-shared key for each pair instead of
// certificates.
#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <vector>

#include "core/net/mesh/tcp/mesh_channel.h"

namespace tributary {
namespace {

constexpr std::size_t kKeyLength = 32;  // bytes of an X25519 key and of a pre-shared key
using Key = std::array<std::uint8_t, kKeyLength>;

// A deleter that calls one of OpenSSL's free functions.
template <auto free>
struct Free {
  template <typename T>
  void operator()(T* p) const {
    free(p);
  }
};
using SslPtr = std::unique_ptr<SSL, Free<SSL_free>>;
using SessionPtr = std::unique_ptr<SSL_SESSION, Free<SSL_SESSION_free>>;
using PkeyPtr = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using PkeyContextPtr = std::unique_ptr<EVP_PKEY_CTX, Free<EVP_PKEY_CTX_free>>;

// Takes the text of OpenSSL's oldest error, and clears the others so that they do not appear later.
Status tls_failed(std::string_view doing,
                  std::string expected = "the key that the coordinator names for this peer",
                  std::string remedy = "if this repeats, make new join files for both agents") {
  std::array<char, 256> text{};
  const unsigned long code = ERR_get_error();
  ERR_error_string_n(code, text.data(), text.size());
  ERR_clear_error();
  return Status(StatusCode::unavailable,
                {.what = std::string(doing),
                 .expected = std::move(expected),
                 .got = code == 0 ? "the end of the connection" : text.data(),
                 .remedy = std::move(remedy)});
}

// --- keys --------------------------------------------------------------------------------------

class X25519Keys final : public PairKeys {
 public:
  X25519Keys(const KeyPair& own, std::uint32_t rank, std::span<const PublicKey> members,
             std::uint64_t session)
      : own_(own), rank_(rank), members_(members.begin(), members.end()), session_(session) {}

  // The key depends on the session and the direction, so that no recorded connection can be
  // repeated in another epoch or in the other direction.
  Result<Key> key(std::uint32_t from, std::uint32_t to) const override {
    const std::uint32_t other = from == rank_ ? to : from;
    TRIBUTARY_ASSIGN(const Key shared, shared_with(members_[other]));
    const std::string context = fmt::format("tributary mesh 1 {} {} {}", session_, from, to);
    Key key;
    unsigned int bytes = kKeyLength;
    if (HMAC(EVP_sha256(), shared.data(), kKeyLength,
             reinterpret_cast<const unsigned char*>(context.data()), context.size(), key.data(),
             &bytes) == nullptr) {
      return tls_failed("deriving a peer's key");
    }
    return key;
  }

 private:
  Result<Key> shared_with(const PublicKey& other) const {
    const PkeyPtr ours(EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr,
                                                    own_.secret_key.bytes().data(), kKeyLength));
    const PkeyPtr theirs(
        EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, other.bytes.data(), kKeyLength));
    const PkeyContextPtr context(ours ? EVP_PKEY_CTX_new(ours.get(), nullptr) : nullptr);
    Key shared;
    std::size_t bytes = kKeyLength;
    // OpenSSL refuses a public key whose result is zero for every secret key.
    if (!theirs || !context || EVP_PKEY_derive_init(context.get()) <= 0 ||
        EVP_PKEY_derive_set_peer(context.get(), theirs.get()) <= 0 ||
        EVP_PKEY_derive(context.get(), shared.data(), &bytes) <= 0) {
      return tls_failed("agreeing on a peer's key");
    }
    return shared;
  }

  const KeyPair own_;
  const std::uint32_t rank_;
  const std::vector<PublicKey> members_;
  const std::uint64_t session_;
};

// --- callbacks of the TLS handshake -----------------------------------------------------------

// The state of one handshake. OpenSSL holds a pointer to it.
struct Handshake {
  const TlsSettings* settings = nullptr;
  std::uint32_t to = 0;                 // rank that this side connects to
  std::shared_ptr<std::uint32_t> from;  // rank of the member that connects to this side
  std::string identity;                 // sent to the other side: this member's rank as text
};

Handshake& handshake_of(SSL* ssl) { return *static_cast<Handshake*>(SSL_get_app_data(ssl)); }

// OpenSSL represents an external pre-shared key as a session. Its cipher must be the one that the
// context allows.
SSL_SESSION* session_for(SSL* ssl, const Key& key) {
  static constexpr unsigned char kAes128GcmSha256[] = {0x13, 0x01};
  SessionPtr session(SSL_SESSION_new());
  const SSL_CIPHER* const cipher = SSL_CIPHER_find(ssl, kAes128GcmSha256);
  if (!session || cipher == nullptr ||
      SSL_SESSION_set1_master_key(session.get(), key.data(), key.size()) != 1 ||
      SSL_SESSION_set_cipher(session.get(), cipher) != 1 ||
      SSL_SESSION_set_protocol_version(session.get(), TLS1_3_VERSION) != 1) {
    return nullptr;
  }
  return session.release();
}

// Called on the connecting side: provides the key and this member's identity.
int use_session(SSL* ssl, const EVP_MD*, const unsigned char** id, std::size_t* id_bytes,
                SSL_SESSION** session) {
  Handshake& handshake = handshake_of(ssl);
  const Result<Key> key = handshake.settings->keys().key(handshake.settings->rank(), handshake.to);
  if (!key.ok()) return 0;
  *session = session_for(ssl, *key);
  handshake.identity = fmt::format("{}", handshake.settings->rank());
  *id = reinterpret_cast<const unsigned char*>(handshake.identity.data());
  *id_bytes = handshake.identity.size();
  return *session != nullptr ? 1 : 0;
}

// Finds the pre-shared key of the connecting member. Without one the handshake fails, because no
// certificate can replace it.
int find_session(SSL* ssl, const unsigned char* id, std::size_t id_bytes, SSL_SESSION** session) {
  Handshake& handshake = handshake_of(ssl);
  const char* const text = reinterpret_cast<const char*>(id);
  std::uint32_t from = 0;
  const auto [end, error] = std::from_chars(text, text + id_bytes, from);
  *session = nullptr;
  if (error != std::errc() || end != text + id_bytes) return 1;
  if (from >= handshake.settings->members() || from == handshake.settings->rank()) return 1;
  const Result<Key> key = handshake.settings->keys().key(from, handshake.settings->rank());
  if (!key.ok()) return 0;
  *session = session_for(ssl, *key);
  *handshake.from = from;
  return *session != nullptr ? 1 : 0;
}

// --- a connection ------------------------------------------------------------------------------

// A BIO that sends with MSG_NOSIGNAL. With OpenSSL's own socket BIO, SIGPIPE ends the process when
// the peer has closed the connection.
class SocketBio {
 public:
  static BIO* make(int file, MeshChannel& channel) {
    static const std::unique_ptr<BIO_METHOD, Free<BIO_meth_free>> method(make_method());
    BIO* const bio = method ? BIO_new(method.get()) : nullptr;
    if (bio == nullptr) return nullptr;
    BIO_set_data(bio, new SocketBio{file, channel});
    BIO_set_init(bio, 1);
    return bio;
  }

 private:
  SocketBio(int file, MeshChannel& channel) : file_(file), channel_(channel) {}

  static BIO_METHOD* make_method() {
    BIO_METHOD* const method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    if (method == nullptr) return nullptr;
    BIO_meth_set_read(method, read);
    BIO_meth_set_write(method, write);
    // OpenSSL flushes a BIO after each handshake message. This BIO has no buffer, so the flush
    // succeeds without doing anything.
    BIO_meth_set_ctrl(method, [](BIO*, int command, long, void*) -> long {
      return command == BIO_CTRL_FLUSH ? 1 : 0;
    });
    BIO_meth_set_destroy(method, [](BIO* bio) {
      delete static_cast<SocketBio*>(BIO_get_data(bio));
      return 1;
    });
    return method;
  }

  static int read(BIO* bio, char* into, int bytes) {
    const auto& self = *static_cast<SocketBio*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    const ssize_t got = ::recv(self.file_, into, static_cast<std::size_t>(bytes), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
    if (got > 0) self.channel_.bytes_in += static_cast<std::uint64_t>(got);
    return static_cast<int>(got);
  }

  static int write(BIO* bio, const char* from, int bytes) {
    const auto& self = *static_cast<SocketBio*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    const ssize_t sent = ::send(self.file_, from, static_cast<std::size_t>(bytes), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
    if (sent > 0) self.channel_.bytes_out += static_cast<std::uint64_t>(sent);
    return static_cast<int>(sent);
  }

  const int file_;
  MeshChannel& channel_;
};

class TlsChannel final : public MeshChannel {
 public:
  TlsChannel(SslPtr ssl, std::unique_ptr<Handshake> handshake)
      : handshake_(std::move(handshake)), ssl_(std::move(ssl)) {}

  bool attach(int file) {
    BIO* const bio = SocketBio::make(file, *this);
    if (bio == nullptr) return false;
    SSL_set_bio(ssl_.get(), bio, bio);
    return true;
  }

  Result<std::size_t> read(MutableByteSpan into) override {
    std::size_t got = 0;
    const int done = SSL_read_ex(ssl_.get(), into.data(), into.size(), &got);
    return outcome(done, got, "reading");
  }

  Result<std::size_t> write(std::span<const iovec> from) override {
    std::size_t all = 0;
    for (const iovec& part : from) {
      std::size_t sent = 0;
      const int done = SSL_write_ex(ssl_.get(), part.iov_base, part.iov_len, &sent);
      TRIBUTARY_ASSIGN(const std::size_t bytes, outcome(done, sent, "sending"));
      all += bytes;
      if (bytes < part.iov_len) break;
    }
    return all;
  }

  bool has_to_write() const override { return SSL_want_write(ssl_.get()) != 0; }
  bool holds_bytes() const override { return SSL_has_pending(ssl_.get()) != 0; }

 private:
  // Only an error before the end of the handshake can be caused by a wrong key.
  Result<std::size_t> outcome(int done, std::size_t bytes, std::string_view doing) const {
    if (done > 0) return bytes;
    const int error = SSL_get_error(ssl_.get(), done);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return std::size_t{0};
    if (SSL_is_init_finished(ssl_.get()) != 0) {
      return tls_failed(fmt::format("{} under TLS", doing), "an open connection", {});
    }
    return tls_failed(fmt::format("handshake with a peer, {} under TLS", doing));
  }

  const std::unique_ptr<Handshake> handshake_;
  const SslPtr ssl_;
};

}  // namespace

std::unique_ptr<PairKeys> make_pair_keys(const KeyPair& own, std::uint32_t rank,
                                         std::span<const PublicKey> members,
                                         std::uint64_t session) {
  return std::make_unique<X25519Keys>(own, rank, members, session);
}

Result<std::unique_ptr<TlsSettings>> TlsSettings::make(const PairKeys& keys, std::uint32_t rank,
                                                       std::uint32_t members) {
  SSL_CTX* const context = SSL_CTX_new(TLS_method());
  if (context == nullptr) return tls_failed("setting up TLS");
  std::unique_ptr<TlsSettings> settings(new TlsSettings(keys, rank, members, context));
  if (SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") != 1 ||
      // Without tickets, no session can be resumed.
      SSL_CTX_set1_groups_list(context, "X25519") != 1 ||
      SSL_CTX_set_num_tickets(context, 0) != 1) {
    return tls_failed("setting up TLS");
  }
  // A write may take only a part of the data, and a repeated write may pass the same bytes at
  // another address.
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_psk_use_session_callback(context, use_session);
  SSL_CTX_set_psk_find_session_callback(context, find_session);
  return settings;
}

TlsSettings::~TlsSettings() { SSL_CTX_free(context_); }

Result<std::unique_ptr<MeshChannel>> TlsSettings::call(int file, std::uint32_t to) const {
  SslPtr ssl(SSL_new(context_));
  if (!ssl) return tls_failed("calling a peer");
  auto handshake = std::make_unique<Handshake>();
  handshake->settings = this;
  handshake->to = to;
  SSL_set_app_data(ssl.get(), handshake.get());
  // No certificate is trusted, so a peer without the key cannot authenticate in another manner.
  SSL_set_verify(ssl.get(), SSL_VERIFY_PEER, nullptr);
  SSL_set_connect_state(ssl.get());
  auto channel = std::make_unique<TlsChannel>(std::move(ssl), std::move(handshake));
  if (!channel->attach(file)) return tls_failed("calling a peer");
  return std::unique_ptr<MeshChannel>(std::move(channel));
}

Result<TlsSettings::Answered> TlsSettings::answer(int file) const {
  SslPtr ssl(SSL_new(context_));
  if (!ssl) return tls_failed("answering a peer");
  auto handshake = std::make_unique<Handshake>();
  handshake->settings = this;
  handshake->from = std::make_shared<std::uint32_t>(rank_);
  const std::shared_ptr<const std::uint32_t> from = handshake->from;
  SSL_set_app_data(ssl.get(), handshake.get());
  SSL_set_accept_state(ssl.get());
  auto channel = std::make_unique<TlsChannel>(std::move(ssl), std::move(handshake));
  if (!channel->attach(file)) return tls_failed("answering a peer");
  return Answered{std::move(channel), from};
}

}  // namespace tributary
