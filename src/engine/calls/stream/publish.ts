import type { Call } from '../../../domain/model/call.ts'
import { signalIdOf } from '../../../domain/model/keyed-id.ts'
import type { StreamItem } from '../../../domain/model/stream.ts'
import { sha256 } from '../../../lib/digest.ts'
import type { RunRef } from '../../../protocol/run-ref.ts'
import { type PublishInput, STREAM_PUBLISH } from '../../../protocol/stream.ts'
import { toPayload } from '../../../temporal/payload.ts'
import { payloadToWire } from '../../../temporal/payload-wire.ts'
import type { EngineContext } from '../../context.ts'
import { signal } from '../signal.ts'

/**
 * Publishes items with a signal, once for each `key`: the engine drops a second signal to the same run, and the stream
 * drops one to a later run of the chain, which has that batch of the publisher already. Only for a run with a stream.
 */
export async function publish(
  context: EngineContext,
  run: RunRef,
  items: readonly Omit<StreamItem, 'offset'>[],
  key: string | null,
  call: Call,
): Promise<void> {
  const input: PublishInput = {
    items: items.map(({ topic, data }) => ({ topic, data: payloadToWire(toPayload(data)) })),
    publisher_id: key === null ? '' : (await sha256(key)).slice(0, 16),
    sequence: key === null ? 0 : 1,
  }
  const requestId = key === null ? {} : { requestId: await signalIdOf(key, STREAM_PUBLISH) }
  await signal(context, run, { name: STREAM_PUBLISH, args: [input], ...requestId }, call)
}
