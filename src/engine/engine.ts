import type { Engine } from '../domain/model/engine.ts'
import { bind } from '../lib/bind.ts'
import type { Codec } from '../temporal/payload.ts'
import { fromPayloadJson } from '../temporal/payload-json.ts'
import { cancel, terminate } from './calls/control.ts'
import { describe } from './calls/describe.ts'
import { withProblem } from './calls/diagnosis/with-problem.ts'
import { events } from './calls/events.ts'
import { findMessage } from './calls/find-message.ts'
import { countRuns, listRuns } from './calls/list-runs.ts'
import { pause, pauseSupported, unpause } from './calls/pause.ts'
import { pollUpdate } from './calls/poll-update.ts'
import { lastPolledAt } from './calls/pollers.ts'
import { query } from './calls/query.ts'
import { input, read, readEntries } from './calls/read.ts'
import { ping, readiness } from './calls/readiness.ts'
import { endedActivity, reportActivity } from './calls/report-activity.ts'
import { reset } from './calls/reset.ts'
import { searchAttributeTypes } from './calls/search-attribute-types.ts'
import { signal } from './calls/signal.ts'
import { signalWithStart } from './calls/signal-with-start.ts'
import { checkStart, start } from './calls/start.ts'
import { publish } from './calls/stream/publish.ts'
import { startUpdate, update } from './calls/update.ts'
import { updateWithStart } from './calls/update-with-start.ts'
import { createEngineClock, type EngineContext } from './context.ts'
import { toServiceError } from './errors.ts'
import { lazyEventToJson } from './events/decode-events.ts'
import { createPayloads, type EncodedOutput } from './payloads.ts'
import { createRpc } from './rpc.ts'
import { createFeeds, type StreamOptions } from './streams/feeds.ts'
import { createVerification } from './streams/verification.ts'
import type { Transport } from './transport/transport.ts'
import { unsharedWait, waitPorts } from './waits/follow-run.ts'
import { createPollSlots } from './waits/poll-slots.ts'
import { createSharedWaits } from './waits/shared-waits.ts'

export interface EngineOptions {
  transport: Transport
  namespace: string
  /** Size limit for all payloads of one call together, encoded. */
  maxPayloadBytes: number
  codec: Codec | null
  /** Called for each output, query result or update result that needs a codec while none is configured. */
  onEncodedOutput?: (output: EncodedOutput) => void
  /**
   * Maximum number of long polls, whatever they wait for. Waits for the ends of runs share them. Default: no limit, and
   * each wait has its own, because a request cannot await the I/O of another request (workerd).
   */
  maxPolls?: number
  streams?: StreamOptions
}

const DEFAULT_STREAMS: StreamOptions = { maxBufferBytes: 4 * 1024 * 1024, maxUpdates: 1500 }

/** The port `Engine` for Temporal, over any transport. */
export function createEngine(options: EngineOptions): Engine {
  const { transport, namespace, maxPayloadBytes, codec, onEncodedOutput, maxPolls, streams = DEFAULT_STREAMS } = options
  const payloads = createPayloads({ codec, maxBytes: maxPayloadBytes, ...(onEncodedOutput && { onEncodedOutput }) })
  const polls = createPollSlots(maxPolls ?? Number.POSITIVE_INFINITY)
  const { features } = transport
  const [rpc, clock] = [createRpc(transport), createEngineClock()]
  const context: EngineContext = { rpc, features, namespace, payloads, clock, polls }
  const sharedWaits = maxPolls === undefined ? null : createSharedWaits(waitPorts(context))
  const eventToJson = lazyEventToJson()
  const wait: Engine['wait'] = (run, call) =>
    sharedWaits === null ? unsharedWait(context, run, call) : sharedWaits.wait(run, call)
  const sharesPending = sharedWaits !== null
  const verify = createVerification(context, sharesPending)
  const openStream = createFeeds({ context, ...streams, sharesPending, waitForEnd: wait, verify })
  return {
    ...bind(context, {
      start,
      checkStart,
      describe,
      read,
      input,
      signal,
      pollUpdate,
      findMessage,
      signalWithStart,
      cancel,
      terminate,
      pause,
      unpause,
      pauseSupported,
      reset,
      reportActivity,
      endedActivity,
      listRuns,
      countRuns,
      searchAttributeTypes,
      readEntries,
      lastPolledAt,
      readiness,
    }),
    wait,
    openStream: async (run, from) => openStream(run, from),
    async publish(run, items, key, call) {
      await verify(run, call)
      await publish(context, run, items, key, call)
    },
    query: (ref, message, call) => withProblem(context, ref, call, () => query(context, ref, message, call)),
    update: (ref, message, updateId, call) =>
      withProblem(context, ref, call, () => update(context, ref, message, updateId, call)),
    startUpdate: (ref, message, updateId, call) =>
      withProblem(context, ref, call, () => startUpdate(context, ref, message, updateId, call)),
    updateWithStart: (request, message, updateId, call) =>
      withProblem(context, null, call, () => updateWithStart(context, request, message, updateId, call)),
    events: (run, request, call) => events(context, eventToJson, run, request, call),
    decode: (payloads) => context.payloads.decode(payloads.map(fromPayloadJson)),
    ping: (call) =>
      ping(context.rpc, call).catch((error) => Promise.reject(toServiceError(error, { kind: 'read', details: {} }))),
  }
}
