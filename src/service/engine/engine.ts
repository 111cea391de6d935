import { sharesPromises } from '../../shared/lib/single-flight.ts'
import type { Codec } from '../../shared/temporal/payload.ts'
import { fromPayloadJson } from '../../shared/temporal/payload-json.ts'
import type { Engine } from '../model/engine.ts'
import { cancelActivity, terminateActivity } from './calls/activities/control.ts'
import {
  ACTIVITY_RUNS,
  activitiesSupported,
  describeActivity,
  listActivities,
  readActivity,
} from './calls/activities/read.ts'
import { startActivity } from './calls/activities/start.ts'
import { describeBatch, listBatches, startBatch, stopBatch } from './calls/batches.ts'
import { cancel, terminateRun } from './calls/control.ts'
import { describe } from './calls/describe.ts'
import { withProblem } from './calls/diagnosis/with-problem.ts'
import { entriesOf, events } from './calls/events.ts'
import { findMessage } from './calls/find-message.ts'
import { countVisible, listAsking, listVisible } from './calls/list-runs.ts'
import { pauseRun, pauseSupported, unpauseRun } from './calls/pause.ts'
import { pollUpdate } from './calls/poll-update.ts'
import { describeTaskQueue, lastPolledAt } from './calls/pollers.ts'
import { queryOnce } from './calls/query.ts'
import { read, readEntries, recordedInput } from './calls/read.ts'
import { readiness } from './calls/readiness.ts'
import { pauseActivity, repairSupported, retryActivity, setActivity, unpauseActivity } from './calls/repair-activity.ts'
import { endedActivity, reportActivity } from './calls/report-activity.ts'
import { resetRun } from './calls/reset.ts'
import { describeSchedule, listSchedules, schedulesSupported, scheduleTimes } from './calls/schedules/read.ts'
import { changeSchedule, createSchedule, deleteSchedule, updateSchedule } from './calls/schedules/write.ts'
import { searchAttributeTypes } from './calls/search-attribute-types.ts'
import { setRunOptions } from './calls/set-options.ts'
import { signalOnce } from './calls/signal.ts'
import { signalOrStart } from './calls/signal-with-start.ts'
import { checkStart, start } from './calls/start.ts'
import { publishToRun } from './calls/stream/publish.ts'
import { startUpdateOnce, update } from './calls/update.ts'
import { startUpdateWithStart, updateWithStart } from './calls/update-with-start.ts'
import { createEngineClock, createPayloads, type EncodedOutput, type EngineContext } from './context.ts'
import { toServiceError } from './errors.ts'
import { lazyEventToJson } from './events/decode-events.ts'
import { createPollSlots } from './polls.ts'
import { createRpc, ping } from './rpc.ts'
import { createFeeds, type FeedLimits } from './streams/feeds.ts'
import { createVerification } from './streams/verification.ts'
import type { Transport } from './transport/transport.ts'
import { type Followed, unsharedWait, waitPorts } from './waits/follow-run.ts'
import { createSharedWaits, type SharedWaits } from './waits/shared-waits.ts'

export interface EngineOptions {
  transport: Transport
  namespace: string
  /** Size limit for all payloads of one call together, encoded. */
  maxPayloadBytes: number
  codec: Codec | null
  /** Called for each output, query result or update result that needs a codec while none is configured. */
  onEncodedOutput?: (output: EncodedOutput) => void
  /**
   * Maximum number of long polls, whatever they wait for. Waits for the ends of runs share them. Default: no limit. Not
   * used on workerd, where each wait has its own.
   */
  maxPolls?: number
  streams?: FeedLimits
}

const DEFAULT_STREAMS: FeedLimits = { maxBufferBytes: 4 * 1024 * 1024, maxUpdates: 1500 }

/** The port `Engine` for Temporal, over any transport. */
export function createEngine(options: EngineOptions): Engine {
  const { transport, namespace, maxPayloadBytes, codec, onEncodedOutput } = options
  const { maxPolls = Number.POSITIVE_INFINITY, streams = DEFAULT_STREAMS } = options
  const payloads = createPayloads({ codec, maxBytes: maxPayloadBytes, ...(onEncodedOutput && { onEncodedOutput }) })
  const polls = createPollSlots(sharesPromises() ? maxPolls : Number.POSITIVE_INFINITY)
  const { features } = transport
  const [rpc, clock] = [createRpc(transport), createEngineClock()]
  const context: EngineContext = { rpc, features, namespace, payloads, clock, polls }
  const eventToJson = lazyEventToJson()
  const waitFor = (followed?: Followed): SharedWaits =>
    sharesPromises()
      ? createSharedWaits(waitPorts(context, followed))
      : { wait: (run, call) => unsharedWait(context, run, call, followed) }
  const { wait } = waitFor()
  const activities = waitFor(ACTIVITY_RUNS)
  const verify = createVerification(context)
  const openStream = createFeeds({ context, ...streams, waitForEnd: wait, verify })
  return {
    ...bind(context, {
      start,
      checkStart,
      describe,
      read,
      input: recordedInput,
      signal: signalOnce,
      pollUpdate,
      findMessage,
      signalWithStart: signalOrStart,
      cancel,
      terminate: terminateRun,
      pause: pauseRun,
      unpause: unpauseRun,
      pauseSupported,
      reset: resetRun,
      reportActivity,
      retryActivity,
      pauseActivity,
      unpauseActivity,
      setActivity,
      repairSupported,
      setOptions: setRunOptions,
      endedActivity,
      activitiesSupported,
      startActivity,
      describeActivity,
      readActivity,
      cancelActivity,
      terminateActivity,
      listActivities,
      startBatch,
      describeBatch,
      stopBatch,
      listBatches,
      schedulesSupported,
      describeSchedule,
      createSchedule,
      updateSchedule,
      deleteSchedule,
      changeSchedule,
      scheduleTimes,
      listSchedules,
      listRuns: listVisible,
      listAsking,
      countRuns: countVisible,
      searchAttributeTypes,
      readEntries,
      describeTaskQueue,
      lastPolledAt,
      readiness,
    }),
    wait,
    waitForActivity: ({ activityId, runId }, call) => activities.wait({ workflowId: activityId, runId }, call),
    openStream: async (run, from, call) => openStream(run, from, call),
    async publish(run, items, key, call) {
      await verify(run, call)
      await publishToRun(context, run, items, key, call)
    },
    query: (ref, message, call) => withProblem(context, ref, call, () => queryOnce(context, ref, message, call)),
    update: (ref, message, updateId, call) =>
      withProblem(context, ref, call, () => update(context, ref, message, updateId, call)),
    startUpdate: (ref, message, updateId, call) =>
      withProblem(context, ref, call, () => startUpdateOnce(context, ref, message, updateId, call)),
    updateWithStart: (request, message, updateId, call) =>
      withProblem(context, null, call, () => updateWithStart(context, request, message, updateId, call)),
    startUpdateWithStart: (request, message, updateId, call) =>
      withProblem(context, null, call, () => startUpdateWithStart(context, request, message, updateId, call)),
    events: (run, request, call) => events(context, eventToJson, run, request, call),
    followEntries: async (run) => entriesOf(context, run),
    decode: (payloads) => context.payloads.redactable.decode(payloads.map(fromPayloadJson)),
    ping: (call) =>
      ping(context.rpc, call).catch((error) => Promise.reject(toServiceError(error, { kind: 'read', details: {} }))),
  }
}

type Bound<Functions> = {
  [Name in keyof Functions]: Functions[Name] extends (first: never, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never
}

/** The same functions, whose first argument is always `first`. */
export function bind<First, Functions extends Record<string, (first: First, ...rest: never[]) => unknown>>(
  first: First,
  functions: Functions,
): Bound<Functions> {
  const entries = Object.entries(functions).map(([name, act]) => [name, act.bind(null, first)])
  return Object.fromEntries(entries)
}
