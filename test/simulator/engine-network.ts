/** The network between gateways and the engine. */

import {
  isLongPoll,
  type Method,
  RpcError,
  type Transport,
  type TransportCallOptions,
} from '../../src/service/engine/transport/transport.ts'
import type { EngineFeatures } from '../../src/service/model/engine.ts'
import { copyOf } from './copy-of.ts'
import type { EngineModel } from './engine-model/engine-model.ts'
import type { Payloads } from './engine-model/run.ts'
import { CODE, rpcError } from './engine-model/runs.ts'
import { fateOf } from './fate.ts'
import type { Faults } from './profiles.ts'
import { randomOf } from './random.ts'
import { markerOf } from './recorded-runs.ts'
import type { VirtualTime } from './virtual-time.ts'

/** A process that calls the engine. Its name is the owner of its timers. */
export interface Caller {
  name: string
  isUp: boolean
  /** Calls that have no response yet. */
  calls: number
}

export interface EngineNetworkOptions {
  seed: number
  time: VirtualTime
  faults: Faults
  engine: EngineModel
  features: EngineFeatures
  log(event: string): void
  /** Whether this fault is to happen. */
  admitFault(fault: string): boolean
}

export interface EngineNetwork {
  /** The transport of a gateway. */
  transportOf(caller: () => Caller): Transport
  /** How the engine is from now on. What it has received while it was there, it carries out. */
  setEngine(state: EngineState): void
  /** The reads of runs that got no response, or that reached a limit. */
  unread: readonly UnreadRun[]
  /** What the engine has returned for starts, also in responses that were lost. */
  returned: readonly ReturnedRun[]
}

export interface ReturnedRun {
  /** Of the start. */
  marker: string | null
  runId: string
}

export interface UnreadRun {
  workflowId: string
  /** When the gateway learned it (epoch milliseconds). */
  at: number
}

/** `away`: all connections break, and there are no new ones. `slow`: requests and responses take up to 1.2 s more. */
export type EngineState = 'well' | 'slow' | 'away'

const CANCELLED = 1
const DEADLINE_EXCEEDED = 4
const UNAVAILABLE = 14
// A timer takes no more.
const NEVER_MS = 2 ** 31 - 1
const MAX_LATENCY_MS = 8
const MAX_SLOW_MS = 1200

// Made once: an error reads the whole stack.
const GONE = new Error('the gateway no longer waits')

type Fault = 'late' | 'limited' | 'refused' | 'request lost' | 'response lost' | 'silent' | 'swallowed' | null

interface OpenCall {
  promise: Promise<never>
  /** Aborts when the gateway no longer waits. */
  atEngine: AbortSignal
  isOver(): boolean
  respond(response: object): void
  reject(error: unknown): void
  /** `isSent`: whether the request may have arrived. Default: true. */
  breakAfter(ms: number, options?: { isSent?: boolean }): void
}

/** What the engine has answered, for the call that waits for it. */
async function settled(
  answer: Promise<object>,
  onResponse: (response: object) => void,
): Promise<(call: OpenCall) => void> {
  try {
    const response = copyOf(await answer)
    onResponse(response)
    return (call) => call.respond(response)
  } catch (error) {
    return (call) => call.reject(error)
  }
}

export function createEngineNetwork(options: EngineNetworkOptions): EngineNetwork {
  const { seed, time, faults, engine, features, log, admitFault } = options
  const random = randomOf(seed, 'engine network')
  const open = new Set<OpenCall>()
  const unread: UnreadRun[] = []
  const returned: ReturnedRun[] = []
  let state: EngineState = 'well'
  const latencyMs = () => 1 + random.below(state === 'slow' ? MAX_SLOW_MS : MAX_LATENCY_MS)

  function faultOf(method: Method, request: object): Fault {
    if (state === 'away') return 'refused'
    const chances: [number, Exclude<Fault, null>][] = isLongPoll(method, request)
      ? [[faults.engineLimited, 'limited']]
      : [
          [faults.engineRefused, 'refused'],
          [faults.engineRequestLost, 'request lost'],
          [faults.engineResponseLost, 'response lost'],
          [faults.engineSilent, 'silent'],
          [isWrite(request) ? faults.engineSwallowed : 0, 'swallowed'],
          [faults.engineRequestLate, 'late'],
          [faults.engineLimited, 'limited'],
        ]
    return fateOf(random, chances, (fault) => admitFault(`engine: ${fault}`))
  }

  /** A call as its gateway sees it: it ends with a response, an error, its deadline, or because the caller leaves. */
  function openCall(caller: Caller, { deadlineAt, signal }: TransportCallOptions): OpenCall {
    const { promise, resolve, reject } = Promise.withResolvers<never>()
    const atEngine = new AbortController()
    let isOver = false
    caller.calls++

    function end(act: () => void): void {
      if (isOver) return
      isOver = true
      open.delete(call)
      caller.calls--
      time.cancel(deadline)
      signal.removeEventListener('abort', onAbort)
      act()
    }
    function fail(code: number, message: string, mayHaveBeenSent = true): void {
      end(() => reject(new RpcError(message, { code, mayHaveBeenSent })))
      atEngine.abort(GONE)
    }
    const onAbort = () => fail(CANCELLED, 'The call was canceled')
    const leftMs = deadlineAt === Number.POSITIVE_INFINITY ? NEVER_MS : deadlineAt - Date.now()
    const deadline = time.after(leftMs, () => fail(DEADLINE_EXCEEDED, 'Deadline exceeded'), caller.name)
    const call: OpenCall = {
      promise,
      atEngine: atEngine.signal,
      isOver: () => isOver,
      respond: (response) => end(() => resolve(response as never)),
      reject: (error) => end(() => reject(error)),
      breakAfter: (ms, { isSent = true } = {}) =>
        void time.after(ms, () => fail(UNAVAILABLE, 'The connection was dropped', isSent), caller.name),
    }
    open.add(call)
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    return call
  }

  function callEngine(caller: Caller, method: Method, request: object, options: TransportCallOptions): Promise<never> {
    // A process that was killed gets no response.
    if (!caller.isUp) return new Promise(() => {})
    const call = openCall(caller, options)
    if (call.isOver()) return call.promise
    const fault = faultOf(method, request)
    const lossMs = random.below(2 * faults.lostAfterMs)
    log(`${caller.name} > ${method} ${describe(request)}${fault === null ? '' : ` (${fault})`}`)

    meet(fault, call, {
      lossMs,
      name: caller.name,
      arrive: () => void handle(call, fault, lossMs, { caller, method, request }),
    })
    call.promise.catch(() => {
      const { execution }: Described = request
      if (typeof execution?.workflowId === 'string') unread.push({ workflowId: execution.workflowId, at: Date.now() })
    })
    return call.promise
  }

  function meet(
    fault: Fault,
    call: OpenCall,
    { lossMs, name, arrive }: { lossMs: number; name: string; arrive(): void },
  ): void {
    switch (fault) {
      case 'refused':
        call.breakAfter(1, { isSent: false })
        break
      case 'request lost':
        call.breakAfter(lossMs)
        break
      case 'swallowed':
        break
      case 'limited':
        time.after(latencyMs(), () => call.reject(limitReached()), name)
        break
      case 'late':
        call.breakAfter(latencyMs())
        time.after(50 + lossMs, arrive, 'engine')
        break
      default:
        time.after(latencyMs(), arrive, 'engine')
    }
  }

  /** The engine handles what has arrived, also if the gateway has ended meanwhile. */
  async function handle(
    call: OpenCall,
    fault: Fault,
    lossMs: number,
    { caller, method, request }: { caller: Caller; method: Method; request: object },
  ): Promise<void> {
    if (state === 'away') return
    const { input }: Described = request
    const answer = await settled(engine.call(method, copyOf(request), call.atEngine), (response) => {
      const { runId }: Returned = response
      if (method === 'startWorkflowExecution' && runId !== undefined) returned.push({ marker: markerOf(input), runId })
    })
    if (fault === 'response lost') call.breakAfter(lossMs)
    if (fault === null) time.after(latencyMs(), () => answer(call), caller.name)
  }

  return {
    unread,
    returned,
    transportOf: (caller) => ({
      name: features.asyncUpdates.supported ? 'grpc' : 'http',
      features,
      call: (method, request, callOptions) => callEngine(caller(), method, request, callOptions),
      async close() {},
    }),
    setEngine(next) {
      log(`engine is ${next}`)
      state = next
      if (next === 'away') for (const call of open) call.breakAfter(1)
    },
  }
}

function isWrite(request: object): boolean {
  return 'requestId' in request || 'operations' in request
}

/** The rate of the namespace, as the engine reports it. */
function limitReached(): RpcError {
  const fields = { cause: RPS_LIMIT, scope: 1 }
  return rpcError(CODE.exhausted, 'namespace rate limit exceeded', { name: 'ResourceExhaustedFailure', fields })
}

const RPS_LIMIT = 1

/** What a line of the trace says about a call. */
function describe(request: object): string {
  const { workflowId, workflowExecution, execution, requestId, query }: Described = request
  const { workflowId: id, runId } = workflowExecution ?? execution ?? {}
  return [workflowId ?? id ?? query, runId, requestId]
    .filter((part) => typeof part === 'string' && part !== '')
    .join(' ')
}

interface Returned {
  runId?: string
}

interface Described {
  input?: Payloads | null
  workflowId?: unknown
  query?: unknown
  requestId?: unknown
  workflowExecution?: { workflowId?: unknown; runId?: unknown }
  execution?: { workflowId?: unknown; runId?: unknown }
}
