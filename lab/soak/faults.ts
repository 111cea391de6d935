/** What goes wrong while a soak runs, besides what the balancer loses. */
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { Fault } from '../../test/support/fault-proxy.ts'
import type { Random } from './random.ts'
import type { World } from './world.ts'

export interface FaultLog {
  /** How often each fault was injected. */
  injected: Map<string, number>
  /** Resolves when the last fault is over. */
  ended: Promise<void>
}

// Calls whose loss could make a service do something twice, or report something that did not happen.
const METHODS = [
  'StartWorkflowExecution',
  'SignalWorkflowExecution',
  'SignalWithStartWorkflowExecution',
  'UpdateWorkflowExecution',
  'ExecuteMultiOperation',
  'PollWorkflowExecutionUpdate',
  'RequestCancelWorkflowExecution',
  'TerminateWorkflowExecution',
  'ResetWorkflowExecution',
  'GetWorkflowExecutionHistory',
  'DescribeWorkflowExecution',
] as const

// Long enough for a run to continue as new because of the call.
const LATE_MS = 300

const CALL_FAULTS: readonly [[string, Fault], ...[string, Fault][]] = [
  ['response of the engine lost', { lost: async () => {} }],
  ['response of the engine lost late', { lost: () => pause(LATE_MS) }],
  ['response of the engine lost late', { lost: () => pause(LATE_MS) }],
  ['request to the engine lost', { dropped: async () => {} }],
  ['stream of the engine reset', 'calm'],
]

// For each method.
const CALL_EVERY_MS = 3000
const FIRST_OUTAGE_AFTER_MS = 5000
const OUTAGE_EVERY_MS = 9000

/** Injects faults until the signal aborts. */
export function injectFaults(
  world: World,
  random: Random,
  { causesOutages }: { causesOutages: boolean },
  stopped: AbortSignal,
): FaultLog {
  const injected = new Map<string, number>()
  const count = (name: string) => void injected.set(name, (injected.get(name) ?? 0) + 1)
  const ended = Promise.all([
    disturbCalls(world, random, stopped, count),
    causesOutages && causeOutages(world, random, stopped, count),
  ]).then(() => {})
  return { injected, ended }
}

/** The next call of a method fails, again and again. */
async function disturbCalls(
  { faultProxy }: World,
  random: Random,
  stopped: AbortSignal,
  count: (name: string) => void,
): Promise<void> {
  await Promise.all(
    METHODS.map(async (method) => {
      while (await passes(random.below(2 * CALL_EVERY_MS), stopped)) {
        const [name, fault] = random.pick(CALL_FAULTS)
        const remove = faultProxy.on({ method, containing: '', fault, times: 1 })
        if (!(await passes(CALL_EVERY_MS / 2, stopped))) remove()
        count(`${name}: ${method}`)
      }
    }),
  )
}

async function causeOutages(
  world: World,
  random: Random,
  stopped: AbortSignal,
  count: (name: string) => void,
): Promise<void> {
  const outages: readonly [name: string, cause: () => Promise<void>][] = [
    ['replica killed', () => world.replaceReplica((replica) => replica.kill())],
    ['worker with another catalog', () => world.redeployWorker()],
    ['replica stopped (SIGTERM)', () => world.replaceReplica(terminate)],
    ['connections to the engine cut', () => cutConnections(world)],
    ['engine restarted', () => world.restartEngine((engine) => engine.stop())],
    ['worker with another catalog', () => world.redeployWorker()],
    ['engine killed', () => world.restartEngine((engine) => engine.kill())],
  ]
  let waitMs = FIRST_OUTAGE_AFTER_MS
  // Each in turn, so that a short soak has as many of them as possible.
  for (let turn = 0; await passes(waitMs / 2 + random.below(waitMs), stopped); turn++) {
    const outage = outages[turn % outages.length]
    if (outage === undefined) return
    const [name, cause] = outage
    await cause()
    count(name)
    waitMs = OUTAGE_EVERY_MS
  }
}

async function terminate({ pid, died }: { pid: number; died: AbortSignal }): Promise<void> {
  process.kill(pid, 'SIGTERM')
  await until('the replica has ended', () => died.aborted)
}

async function cutConnections({ tcpProxy }: World): Promise<void> {
  tcpProxy.interrupt()
  await pause(2000)
  tcpProxy.restore()
}

/** False if the signal aborts before. */
async function passes(ms: number, stopped: AbortSignal): Promise<boolean> {
  await pause(ms, null, { signal: stopped }).catch(() => {})
  return !stopped.aborted
}
