// The typed handles of master and worker, made from the table of RPCs.
#pragma once

#include <troupe/wire/master.pb.h>
#include <troupe/wire/worker.pb.h>
#include <caf/all.hpp>
#include <troupe/messaging/messages.hpp>

#include <type_traits>

namespace troupe {

/// What an actor gets for a wire message: the message itself, or our own struct for the hot ones.
template <class Wire>
struct Native {
  using type = Wire;
};
#define HOT(name)              \
  template <>                  \
  struct Native<wire::name> {  \
    using type = troupe::name; \
  };
HOT(RunStepRequest)
HOT(RunStepResponse)
HOT(RunGraphRequest)
HOT(RunGraphResponse)
HOT(RecvTensorRequest)
HOT(RecvTensorResponse)
#undef HOT
template <class Wire>
using native = typename Native<Wire>::type;

namespace service {
struct Master;
struct Worker;

template <class... Lists>
struct Join;
template <class... A>
struct Join<caf::detail::type_list<A...>> {
  using type = caf::typed_actor<A...>;
};
template <class... A, class... B, class... Rest>
struct Join<caf::detail::type_list<A...>, caf::detail::type_list<B...>, Rest...> : Join<caf::detail::type_list<A..., B...>, Rest...> {};

template <bool Keep, class Signature>
using Row = std::conditional_t<Keep, caf::detail::type_list<Signature>, caf::detail::type_list<>>;

template <class Service>
using Handle = typename Join<caf::detail::type_list<caf::reacts_to<CancelCall>>
#define RPC(owner, name)                \
  , Row<std::is_same_v<Service, owner>, \
        typename caf::replies_to<Parcel<native<wire::name##Request>>>::template with<Parcel<native<wire::name##Response>>>>
#include <troupe/actors/rpcs.def>
#undef RPC
                             >::type;
}  // namespace service

using Master = service::Handle<service::Master>;
using Worker = service::Handle<service::Worker>;

/// Short names for handlers: what comes in and what goes out.
template <class Wire>
using Asked = Parcel<native<Wire>>;
template <class Wire>
using Answer = caf::result<Parcel<native<Wire>>>;

}  // namespace troupe
