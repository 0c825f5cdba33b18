#include "core/round/coordinator/context/aggregate_stream.h"

#include <algorithm>
#include <utility>

#include "core/round/common/machine/part_message.h"

namespace tributary {

std::uint64_t stream_aggregate(CoordinatorContext& context, AgentSession& session,
                               const StageAggregate& aggregate, std::uint64_t from) {
  const std::uint64_t bytes = aggregate.payload->size();
  session.conversation.stream(
      context.now,
      {.id = {.round = aggregate.key, .bucket = aggregate.bucket, .stage = aggregate.stage},
       .bytes = bytes,
       .slice = slices_of(aggregate.payload),
       .frame =
           [key = aggregate.key, bucket = aggregate.bucket, stage = aggregate.stage,
            contributors = aggregate.contributors,
            bytes](std::uint64_t offset, const PayloadSlice& slice) {
             wire::AggregateT message;
             message.part = describe_part(key, bucket, stage, bytes, offset, slice);
             message.contributors = contributors;
             return frame_with(std::move(message));
           }},
      from, context.out);
  return bytes - std::min(from, bytes);
}

}  // namespace tributary
