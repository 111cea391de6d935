/** Sends the same random calls to the model and to a real server, and compares what the service reads. */

import { isDeepStrictEqual } from 'node:util'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Transport } from '../../../src/service/engine/transport/transport.ts'
import { type ResetRequest, updatesAfter } from '../engine-model/control.ts'
import { createEngineModel, type EngineModel } from '../engine-model/engine-model.ts'
import { isOpen } from '../engine-model/run.ts'
import { randomOf } from '../random.ts'
import { soakWorker } from '../soak-worker.ts'
import { createOperations, type Operation } from './operations.ts'
import { answerOf, createSide, type Side } from './sides.ts'

export interface Comparison {
  /** How many answers were alike, and how many of these were errors. */
  same: number
  sameErrors: number
  /** Each method that was called, with how often. */
  methods: Record<string, number>
  differences: Difference[]
  /** What was not compared, with how often. */
  leftOut: Partial<Record<LeftOut, number>>
}

/** What the engine leaves to chance, or to the load of the machine. */
export type LeftOut = typeof SEVERAL_UPDATES | typeof REPEATED | typeof TIMED_OUT

const SEVERAL_UPDATES = 'a reset that repeats several updates: the engine has no order for them'
const REPEATED = 'whether an update-with-start has started its run: a busy server repeats it, and finds the run'
const TIMED_OUT = 'what follows a workflow task that the worker has not completed in time'

const TASK_TIMED_OUT = 8

export interface Difference {
  number: number
  method: string
  /** As JSON, so that a failed test shows them. */
  request: string
  real: string
  model: string
}

export interface CompareOptions {
  seed: number
  count: number
  transport: Transport
  /** The queue of a worker with the workflows of the soak. */
  taskQueue: string
}

const CALL_TIMEOUT_MS = 30_000

export async function compare({ seed, count, transport, taskQueue }: CompareOptions): Promise<Comparison> {
  const random = randomOf(seed, 'operations')
  const prefix = `${taskQueue}-${transport.name}-${seed}-`
  const clock = { now: Date.now, after: (ms: number, act: () => void) => setTimeout(act, ms) }
  const engine = createEngineModel({
    clock,
    random: randomOf(seed, 'engine'),
    worker: soakWorker(randomOf(seed, 'worker')),
  })
  const options = () => ({ deadlineAt: Date.now() + CALL_TIMEOUT_MS, signal: AbortSignal.timeout(CALL_TIMEOUT_MS) })
  const real = createSide((method, request) => transport.call(method, request, options()))
  const model = createSide((method, request) => engine.call(method, structuredClone(request), options().signal))

  const labels = () => Array.from({ length: engine.runs.size + 1 }, (_, at) => `r${at}`)
  const knownRuns = () =>
    labels().filter((label) => real.runOf(label) !== undefined && model.runOf(label) !== undefined)
  const hasUpdates = transport.features.asyncUpdates.supported
  const next = createOperations({ random, prefix, taskQueue, knownRuns, hasUpdates })

  // A timer that fires meanwhile on one side alone would be a difference.
  const isQuiet = () => [...engine.runs.values()].every((run) => !isOpen(run) || run.timers.size === 0)
  const comparison: Comparison = { same: 0, sameErrors: 0, methods: {}, differences: [], leftOut: {} }
  // After a difference the runs of both sides are others, and so are the answers.
  const isOver = () => comparison.differences.length > 0 || TIMED_OUT in comparison.leftOut
  for (let number = 0; number < count && !isOver(); number++) {
    const operation = next()
    const { method } = operation
    if (method === 'resetWorkflowExecution' && repeatsUpdates(engine.runs, operation.requestOf(model))) {
      leaveOut(comparison, SEVERAL_UPDATES)
      continue
    }
    comparison.methods[method] = (comparison.methods[method] ?? 0) + 1
    const answers = await Promise.all([real, model].map((side) => answerOf(side, method, operation.requestOf(side))))
    add(comparison, { number, method, request: operation.requestOf(real) }, answers)
    await alike(prefix, real, model, { number, operation, isQuiet }, comparison)
  }
  return comparison
}

function leaveOut({ leftOut }: Comparison, reason: LeftOut): void {
  leftOut[reason] = (leftOut[reason] ?? 0) + 1
}

function repeatsUpdates(runs: EngineModel['runs'], { workflowExecution, workflowTaskFinishEventId }: ResetRequest) {
  const { workflowId, runId } = workflowExecution ?? {}
  const base = runId ? runs.get(runId) : [...runs.values()].findLast((run) => run.workflowId === workflowId)
  return base !== undefined && updatesAfter(runs, base, Number(workflowTaskFinishEventId)) > 1
}

interface Compared {
  number: number
  method: string
  request: object
}

function add(comparison: Comparison, { request, ...compared }: Compared, [real, model]: readonly unknown[]): void {
  const isRepeated = compared.method === 'executeMultiOperation' && hasRepeated(real, model)
  if (isRepeated) leaveOut(comparison, REPEATED)
  else if (!isDeepStrictEqual(real, model)) {
    const shown = { request: toText(request), real: toText(real), model: toText(model) }
    comparison.differences.push({ ...compared, ...shown })
  } else {
    comparison.same++
    if (typeof real === 'object' && real !== null && 'error' in real) comparison.sameErrors++
  }
}

function hasRepeated(real: unknown, model: unknown): boolean {
  const { started } = real as { started?: boolean }
  return started === false && isDeepStrictEqual({ ...(real as object), started: true }, model)
}

/** `states`: of the real server, and of the model. */
function hasTimedOut([real]: readonly unknown[]): boolean {
  return (real as { types?: number[] }[] | undefined)?.some(({ types }) => types?.includes(TASK_TIMED_OUT)) === true
}

function toText(value: unknown): string {
  const decoder = new TextDecoder()
  return JSON.stringify(value, (_, part) => (part instanceof Uint8Array ? decoder.decode(part) : part))
}

// The real worker takes long on a busy machine.
const ALIKE_WITHIN_MS = 60_000

const IDS = ['a', 'b', 'c']

/** Waits until workers have done their work on both sides: then all histories are alike, or differ for good. */
async function alike(
  prefix: string,
  real: Side,
  model: Side,
  { number, operation, isQuiet }: { number: number; operation: Operation; isQuiet(): boolean },
  comparison: Comparison,
): Promise<void> {
  const stateOf = async (side: Side) => {
    const histories: unknown[] = []
    for (const id of IDS) {
      const execution = { workflowId: prefix + id, runId: '' }
      const described = await answerOf(side, 'describeWorkflowExecution', { namespace: 'default', execution })
      histories.push(
        described,
        await answerOf(side, 'getWorkflowExecutionHistory', { namespace: 'default', execution }),
      )
    }
    return histories
  }
  let states: unknown[] = []
  async function areAlike(): Promise<boolean> {
    states = [await stateOf(real), await stateOf(model)]
    return isQuiet() && isDeepStrictEqual(states[0], states[1])
  }
  try {
    await until(
      'both sides are alike',
      // Only what is the same on both sides tells in which order runs were seen.
      () => real.tentatively(() => model.tentatively(areAlike)),
      { timeoutMs: ALIKE_WITHIN_MS },
    )
  } catch {
    if (hasTimedOut(states)) return leaveOut(comparison, TIMED_OUT)
    const { method } = operation
    add(comparison, { number, method: `after ${method}`, request: operation.requestOf(real) }, states)
  }
}
