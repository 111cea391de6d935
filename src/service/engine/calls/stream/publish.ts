import { sha256 } from '../../../../shared/lib/digest.ts'
import { toPayload } from '../../../../shared/temporal/payload.ts'
import { payloadToWire } from '../../../../shared/temporal/payload-wire.ts'
import type { RunRef } from '../../../../shared/wire/run-ref.ts'
import { type PublishInput, STREAM_PUBLISH } from '../../../../shared/wire/stream.ts'
import type { Call } from '../../../model/call.ts'
import { signalIdOf } from '../../../model/keyed-id.ts'
import type { StreamItem } from '../../../model/stream.ts'
import type { EngineContext } from '../../context.ts'
import { signalOnce } from '../signal.ts'

/**
 * Publishes items with a signal, once for each `key`: the engine drops a second signal to the same run, and the stream
 * drops one to a later run of the chain, which has that batch of the publisher already. Only for a run with a stream.
 */
export async function publishToRun(
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
  await signalOnce(context, run, { name: STREAM_PUBLISH, args: [input], ...requestId }, call)
}
