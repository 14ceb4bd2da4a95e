// Addresses: what is taken, and for each kind of mistake a text that says how to write it.
#include <troupe/config/address.hpp>

#include <gtest/gtest.h>

namespace troupe {
namespace {

TEST(Address, ReadsAndPrints) {
  const std::pair<const char*, Address> rows[] = {
      {"localhost:2222", {"localhost", 2222}},
      {"ps0.svc.cluster.local:1", {"ps0.svc.cluster.local", 1}},
      {"my_ps-1:65535", {"my_ps-1", 65535}},
      {"10.0.0.1:0", {"10.0.0.1", 0}},
      {"[::1]:2222", {"::1", 2222}},
      {"[fe80::1%eth0]:2222", {"fe80::1%eth0", 2222}},
      {"[2001:db8::7]:80", {"2001:db8::7", 80}},
      {"worker.:2222", {"worker.", 2222}},
  };
  for (const auto& [text, address] : rows) {
    auto parsed = parse_address(text);
    ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.status();
    EXPECT_EQ(*parsed, address) << text;
    EXPECT_EQ(to_string(*parsed), text);
  }
}

TEST(Address, RefusesWithAdvice) {
  const std::pair<std::string, const char*> rows[] = {
      {"", "the address is empty; write 'host:port'"},
      {":2222", "the host is empty"},
      {"ps0", "'ps0' has no port; write 'ps0:2222'"},
      {"ps0:", "the port '' is no number"},
      {"ps0:x", "the port 'x' is no number"},
      {"ps0:22x", "the port '22x' is no number"},
      {"ps0: 22", "the port ' 22' is no number"},
      {"ps0:+22", "the port '+22' is no number"},
      {"ps0:-1", "the port -1 is out of range"},
      {"ps0:65536", "the port 65536 is out of range"},
      {"ps0:99999999999999999999", "the port 99999999999999999999 is out of range"},
      {"grpc://ps0:2222", "has the scheme 'grpc://'; write 'host:port' without it"},
      {"::1:2222", "an IPv6 address needs brackets, like '[::1]:2222'"},
      {"a:1,b:2", "several colons"},
      {"[::1]", "has no port; write '[::1]:2222'"},
      {"[::1]2222", "has no port"},
      {"[::1:2222", "no closing ']'"},
      {"[zz]:1", "'zz' is no IPv6 address"},
      {"[fe80::1%]:1", "is no IPv6 address"},
      {"[]:1", "'' is no IPv6 address"},
      {"1.2.3:1", "'1.2.3' is no IPv4 address"},
      {"1.2.3.256:1", "is no IPv4 address"},
      {"a b:1", "has the character ' '"},
      {"$HOST:1", "has the character '$'"},
      {"a/b:1", "has the character '/'"},
      {"-a:1", "starts with '-'"},
      {".a:1", "starts with '.'"},
      {"a..b:1", "two dots"},
      {std::string("a\0b:1", 5), "has the character"},
      {std::string(300, 'a') + ":1", "300 characters"},
  };
  for (const auto& [text, why] : rows) {
    auto parsed = parse_address(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.status().code(), Code::kInvalidArgument);
    EXPECT_NE(text_of(parsed.status()).find(why), std::string::npos) << text << ": " << parsed.status();
  }
}

TEST(Address, ReadsHostsAlone) {
  for (const char* host : {"localhost", "10.0.0.1", "::1", "::"}) EXPECT_EQ(*parse_host(host), host);
  EXPECT_EQ(*parse_host("[::1]"), "::1");
  for (const char* text : {"", "a:1", "[a]", "1.2.3", "a b", "["}) EXPECT_FALSE(parse_host(text).ok()) << text;
}

TEST(Address, KnowsLoopbackAndWildcard) {
  for (const char* host : {"localhost", "LocalHost", "localhost.", "127.0.0.1", "127.1.2.3", "::1", "0:0:0:0:0:0:0:1"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"", "local", "128.0.0.1", "127.example.com", "::", "0.0.0.0", "::2"}) EXPECT_FALSE(is_loopback(host)) << host;
  for (const char* host : {"0.0.0.0", "::", "0:0::0"}) EXPECT_TRUE(is_wildcard(host)) << host;
  for (const char* host : {"", "10.0.0.0", "::1", "localhost"}) EXPECT_FALSE(is_wildcard(host)) << host;
}

}  // namespace
}  // namespace troupe
