/** What the clients of a soak do. Most scenarios start a workflow, send requests about it, and end it. */
import { sleep as pause } from '../../src/shared/lib/abort.ts'
import { CLI_OPERATIONS } from './clients/cli.ts'
import type { Intent, Performed } from './clients/intent.ts'
import type { Random } from './random.ts'
import type { Recorder, SoakClient } from './recorder.ts'

export interface ScenarioContext {
  recorder: Recorder
  random: Random
  /** Bare HTTP, which sends nothing again on its own. */
  http: SoakClient
  /** The client of this scenario, and those that others use at the same time. */
  clients: readonly [SoakClient, ...SoakClient[]]
  /** Unique in the soak. */
  newId(kind: string): string
}

/** One workflow, as the scenario knows it. */
export interface Subject {
  workflowId: string
  /** The first run. */
  runId: string
}

// Requests with the same key are repeated until one has a certain response.
const ATTEMPTS = 12
const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 2000

export type Scenario = (context: ScenarioContext) => Promise<void>

export const SCENARIOS: readonly [Scenario, ...Scenario[]] = [
  sendMessages,
  sendMessages,
  sendMessages,
  signalEachRun,
  signalEachRun,
  signalEachRun,
  runToResult,
  runToResult,
  shareId,
  shareId,
  startWithMessage,
  startWithMessage,
  startTwins,
  useExisting,
  resetSteps,
  startSeasonal,
]

/** Runs random scenarios one after the other until `isOver`. The last one is not interrupted. */
export async function runScenarios(context: ScenarioContext, isOver: () => boolean, scenarios = SCENARIOS) {
  while (!isOver()) await context.random.pick(scenarios)(context)
}

/** Messages to a ledger, which may continue as new meanwhile, until it is ended in one of three ways. */
async function sendMessages(context: ScenarioContext): Promise<void> {
  const { random } = context
  const subject = await startLedger(context, random.chance(0.5) ? { perRun: 1 + random.below(3) } : {})
  if (subject === null) return
  for (let count = random.below(7); count > 0; count--) await random.pick(STEPS)(context, subject)
  await endLedger(context, subject)
}

/** Each signal makes the ledger continue as new, so that a repeat without a run id would reach the next run. */
async function signalEachRun(context: ScenarioContext): Promise<void> {
  const { newId, recorder, random, clients, http } = context
  const subject = await startLedger(context, { perRun: 1 })
  if (subject === null) return
  const client = random.chance(0.5) ? http : random.pick(clients)
  const { workflowId } = subject
  for (let count = 0; count < 4; count++) {
    const marker = newId('signal')
    await recorder.perform(client, { op: 'signal', workflowId, handler: 'apply', payload: marker, marker })
  }
  await endLedger(context, subject)
}

type Step = (context: ScenarioContext, subject: Subject) => Promise<unknown>

const STEPS: readonly [Step, ...Step[]] = [
  (context, subject) => sendMessage(context, subject, 'signal', 'apply'),
  (context, subject) => sendMessage(context, subject, 'signal', 'apply'),
  (context, subject) => sendMessage(context, subject, 'update', 'set'),
  (context, subject) => sendMessage(context, subject, 'update', 'set'),
  (context, subject) => sendMessage(context, subject, 'update', 'setSlowly'),
  (context, { workflowId }) => {
    const payload = context.newId('reject')
    return perform(context, { op: 'update', workflowId, handler: 'set', payload, marker: payload })
  },
  (context, { workflowId }) => perform(context, { op: 'query', workflowId, handler: 'state', marker: null }),
  (context, { workflowId, runId }) =>
    perform(context, { op: 'status', workflowId, ...maybe(context, { runId }), marker: null }),
]

/** With a run id it can be repeated; without one only `portico/client` and the command line may. */
async function sendMessage(context: ScenarioContext, subject: Subject, op: 'signal' | 'update', handler: string) {
  const { random, newId, recorder, http } = context
  const { workflowId, runId } = subject
  const marker = newId(op)
  const intent: Intent = { op, workflowId, handler, payload: marker, marker }
  if (random.chance(0.4)) return repeat(context, { ...intent, runId: await latestRun(context, subject), key: marker })
  if (random.chance(0.2)) return recorder.perform(http, { ...intent, leaveAfterMs: random.below(40) })
  return perform(context, { ...intent, ...maybe(context, { key: marker }), ...(random.chance(0.2) && { runId }) })
}

async function latestRun({ recorder, http }: ScenarioContext, { workflowId, runId }: Subject): Promise<string> {
  const { answer } = await recorder.perform(http, { op: 'status', workflowId, marker: null })
  return answer.runId ?? runId
}

export async function endLedger(context: ScenarioContext, subject: Subject): Promise<void> {
  const { random, newId } = context
  const { workflowId } = subject
  const op = random.pick<'signal' | 'stop' | 'terminate'>(['signal', 'signal', 'stop', 'terminate'])
  const marker = newId(op)
  const end: Intent = { op, workflowId, marker, ...(op === 'signal' && { handler: 'finish', payload: marker }) }
  const { outcome } = await perform(context, end)
  // A message that was lost may not have ended it.
  if (outcome !== 'acknowledged') await terminateSurely(context, workflowId)
  const runId = await latestRun(context, subject)
  await perform(context, { op: 'result', workflowId, marker: null })
  await perform(context, { op: 'result', workflowId, runId, marker: null })
  await perform(context, { op: 'status', workflowId, runId, marker: null })
}

export async function terminateSurely(context: ScenarioContext, workflowId: string): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { outcome } = await context.recorder.perform(context.http, {
      op: 'terminate',
      workflowId,
      marker: context.newId('terminate'),
    })
    if (outcome !== 'unknown') return
    await pause(FIRST_PAUSE_MS)
  }
}

export async function startLedger(context: ScenarioContext, options: object = {}): Promise<Subject | null> {
  const { newId, random } = context
  const workflowId = newId('ledger')
  const marker = newId('start')
  const start: Intent = { op: 'start', workflowId, workflowName: 'ledger', input: { marker, ...options }, marker }
  const { answer } = random.chance(0.6)
    ? await repeat(context, { ...start, key: marker })
    : await perform(context, start)
  const runId =
    answer.runId ??
    (await context.recorder.perform(context.http, { op: 'status', workflowId, marker: null })).answer.runId
  return runId === undefined ? null : { workflowId, runId }
}

/** `run`, repeated with its key, and the result again by id and by run id. */
async function runToResult(context: ScenarioContext): Promise<void> {
  const { newId, random } = context
  const workflowId = newId('run')
  const marker = newId('start')
  const [workflowName, options] = random.pick<[string, object]>([
    ['echo', {}],
    ['chain', { links: 1 + random.below(2) }],
    ['fails', {}],
  ])
  const run: Intent = { op: 'run', workflowId, workflowName, input: { marker, ...options }, marker }
  const isKeyed = random.chance(0.6)
  const { answer } = isKeyed ? await repeat(context, { ...run, key: marker }) : await perform(context, run)
  if (answer.runId === undefined) return
  if (isKeyed) await repeat(context, { ...run, key: marker, isAsync: true })
  await perform(context, { op: 'result', workflowId, marker: null })
  await perform(context, { op: 'result', workflowId, runId: answer.runId, marker: null })
}

/** Two clients use one id, one after the other. The response says which run a message has reached. */
async function shareId(context: ScenarioContext): Promise<void> {
  const { newId, random, clients } = context
  const subject = await startLedger(context)
  if (subject === null) return
  const { workflowId, runId } = subject
  const other = random.pick(clients)
  const marker = newId('signal')
  const ending = perform(context, { op: 'signal', workflowId, handler: 'finish', payload: marker, marker, key: marker })
  const taking = takeOver(context, other, workflowId)
  await ending
  await taking
  for (const [op, handler] of [
    ['update', 'set'],
    ['signal', 'apply'],
  ] as const) {
    const late = newId(op)
    await perform(context, { op, workflowId, runId, handler, payload: late, marker: late, key: late })
  }
  const next = newId('signal')
  await perform(context, { op: 'signal', workflowId, handler: 'apply', payload: next, marker: next, key: next })
  await perform(context, { op: 'result', workflowId, runId, marker: null })
  await endLedger(context, subject)
  await takeOver(context, other, workflowId)
  await endLedger(context, subject)
}

/** Starts a run with this id as soon as it is free. */
export async function takeOver(
  { recorder, newId }: ScenarioContext,
  client: SoakClient,
  workflowId: string,
): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const marker = newId('start')
    const start: Intent = { op: 'start', workflowId, workflowName: 'ledger', input: { marker }, marker }
    const { outcome } = await recorder.perform(client, start)
    if (outcome === 'acknowledged') return
    await pause(FIRST_PAUSE_MS)
  }
}

async function startWithMessage(context: ScenarioContext): Promise<void> {
  const { newId, random } = context
  const workflowId = newId('with-start')
  const op = random.pick<'signal-with-start' | 'update-with-start'>(['signal-with-start', 'update-with-start'])
  const handler = op === 'signal-with-start' ? 'apply' : 'set'
  const marker = newId(op)
  const intent: Intent = { op, workflowId, workflowName: 'ledger', input: { marker }, handler, payload: marker, marker }
  const first = random.chance(0.7) ? await repeat(context, { ...intent, key: marker }) : await perform(context, intent)
  const second = newId(op)
  await repeat(context, { ...intent, input: { marker: second }, payload: second, marker: second, key: second })
  const { runId } = first.answer
  if (runId !== undefined) await endLedger(context, { workflowId, runId })
  else await terminateSurely(context, workflowId)
}

/** The same request with the same key on several connections at once. */
async function startTwins(context: ScenarioContext): Promise<void> {
  const { newId, random, recorder, http } = context
  const workflowId = newId('twins')
  const marker = newId('start')
  const op = random.pick<'run' | 'start'>(['run', 'start'])
  const intent: Intent = { op, workflowId, workflowName: 'chain', input: { marker, links: 1 }, marker, key: marker }
  await Promise.all([1, 2, 3].map(() => recorder.perform(http, intent)))
  await repeat(context, intent)
  await perform(context, { op: 'result', workflowId, marker: null })
  await repeat(context, intent)
}

/** A start that uses the open run of the id, and one that the id is in use for. */
async function useExisting(context: ScenarioContext): Promise<void> {
  const { newId } = context
  const subject = await startLedger(context)
  if (subject === null) return
  const { workflowId } = subject
  for (const conflictPolicy of ['use-existing', undefined] as const) {
    const marker = newId('start')
    const start: Intent = { op: 'start', workflowId, workflowName: 'ledger', input: { marker }, marker }
    await context.recorder.perform(context.http, conflictPolicy === undefined ? start : { ...start, conflictPolicy })
  }
  await endLedger(context, subject)
}

/** Resets a closed run to its last step. */
async function resetSteps(context: ScenarioContext): Promise<void> {
  const { newId } = context
  const workflowId = newId('steps')
  const marker = newId('start')
  const run: Intent = { op: 'run', workflowId, workflowName: 'steps', input: { marker, count: 2 }, marker, key: marker }
  const { answer } = await repeat(context, run)
  if (answer.runId === undefined) return
  for (let resets = 0; resets < 4; resets++)
    await perform(context, { op: 'reset', workflowId, runId: answer.runId, marker: newId('reset') })
  await perform(context, { op: 'result', workflowId, marker: null })
  await perform(context, { op: 'result', workflowId, runId: answer.runId, marker: null })
}

/** Rejected while the published catalog does not have the workflow. */
async function startSeasonal(context: ScenarioContext): Promise<void> {
  const marker = context.newId('start')
  const workflowId = context.newId('seasonal')
  await perform(context, { op: 'run', workflowId, workflowName: 'seasonal', input: { marker }, marker })
}

/** Through any client that can send it. */
export function perform({ recorder, random, clients, http }: ScenarioContext, intent: Intent): Promise<Performed> {
  const client = random.pick(clients)
  const isPossible = !client.name.startsWith('cli') || CLI_OPERATIONS.has(intent.op)
  return recorder.perform(isPossible ? client : http, intent)
}

/** Over bare HTTP until a response says for certain what happened, and sometimes once more. */
export async function repeat({ recorder, random, http }: ScenarioContext, intent: Intent): Promise<Performed> {
  const again = async () => await recorder.perform(http, intent)
  let performed = await again()
  for (let attempt = 1, waitMs = FIRST_PAUSE_MS; attempt < ATTEMPTS && performed.outcome === 'unknown'; attempt++) {
    await pause(waitMs)
    waitMs = Math.min(2 * waitMs, MAX_PAUSE_MS)
    performed = await again()
  }
  if (performed.outcome === 'acknowledged' && random.chance(0.3)) await again()
  return performed
}

export function maybe<Options extends object>({ random }: ScenarioContext, options: Options): Partial<Options> {
  return random.chance(0.5) ? options : {}
}
