/** Scenarios in which several clients use one workflow id, or one handle, at the same time. */

import type { Intent } from '../../lab/soak/clients/intent.ts'
import {
  endLedger,
  maybe,
  perform,
  repeat,
  type Scenario,
  type ScenarioContext,
  type Subject,
  startLedger,
  takeOver,
  terminateSurely,
} from '../../lab/soak/scenarios.ts'
import { sleep } from '../../src/shared/lib/abort.ts'
import { REUSED } from './reused-ids.ts'

export const CONTESTED: readonly Scenario[] = [
  ...REUSED,
  stopAndReuse,
  startShortRuns,
  replaceRuns,
  startLongChains,
  updateChangingRuns,
  useHandleInParallel,
  startWithLastSignal,
  startWithUpdate,
  reuseKeyOfStart,
  runForTooLong,
  runAndLoseId,
]

/** The id is used again as soon as the stop has ended its run. */
async function stopAndReuse(context: ScenarioContext): Promise<void> {
  const { newId, random, clients } = context
  const subject = await startLedger(context)
  if (subject === null) return
  const { workflowId, runId } = subject
  const stop: Intent = { op: 'stop', workflowId, ...maybe(context, { runId }), marker: newId('stop') }
  await Promise.all([perform(context, stop), takeOver(context, random.pick(clients), workflowId)])
  await endLedger(context, subject)
}

/** Most runs have ended before the next one starts. */
async function startShortRuns(context: ScenarioContext): Promise<void> {
  const { newId, random, recorder, http } = context
  const workflowId = newId('short')
  const starts = Array.from({ length: 4 }, async () => {
    const marker = newId('start')
    const workflowName = random.pick(['echo', 'echo', 'ledger'])
    const start: Intent = { op: 'start', workflowId, workflowName, input: { marker }, marker }
    await sleep(random.below(1000))
    return recorder.perform(http, { ...start, ...maybe(context, { conflictPolicy: 'use-existing' as const }) })
  })
  await Promise.all(starts)
  await terminateSurely(context, workflowId)
}

/** How the ids of workflows begin that starts may terminate. */
export const REPLACED = 'replaced'

/** Each start terminates the run of another one. */
async function replaceRuns(context: ScenarioContext): Promise<void> {
  const { newId, random } = context
  const workflowId = newId(REPLACED)
  const starts = Array.from({ length: 3 }, async () => {
    const marker = newId('start')
    const start: Intent = { op: 'start', workflowId, workflowName: 'ledger', input: { marker }, marker }
    await sleep(random.below(600))
    return perform(context, { ...start, conflictPolicy: 'terminate-existing' })
  })
  await Promise.all(starts)
  await terminateSurely(context, workflowId)
}

/** Each chain continues as new before a lost response of its start is noticed. */
async function startLongChains(context: ScenarioContext): Promise<void> {
  const { newId, random, recorder, http } = context
  const starts = Array.from({ length: 4 }, async () => {
    const workflowId = newId('chain')
    const marker = newId('start')
    const input = { marker, links: 3 + random.below(5) }
    const policy: Partial<Intent> = random.chance(0.7) ? { conflictPolicy: 'use-existing' } : {}
    await recorder.perform(http, { op: 'start', workflowId, workflowName: 'chain', input, marker, ...policy })
    await terminateSurely(context, workflowId)
  })
  await Promise.all(starts)
}

/** The ledger continues as new after each message. */
async function updateChangingRuns(context: ScenarioContext): Promise<void> {
  const { random } = context
  const subject = await startLedger(context, { perRun: 1 })
  if (subject === null) return
  const messages = Array.from({ length: 5 }, async () => {
    await sleep(random.below(1000))
    const op = random.pick<'signal' | 'update'>(['signal', 'update'])
    return perform(context, messageOf(context, subject, op))
  })
  await Promise.all(messages)
  await endLedger(context, subject)
}

/** The messages of one handle find out together that its run has ended. */
async function useHandleInParallel(context: ScenarioContext): Promise<void> {
  const { random, recorder, clients } = context
  const subject = await startLedger(context, { perRun: 1 + random.below(2) })
  if (subject === null) return
  const client = clients.at(-1) ?? clients[0]
  for (let round = 0; round < 3; round++) {
    const messages = Array.from({ length: 3 }, async () => {
      await sleep(random.below(40))
      return recorder.perform(client, messageOf(context, subject, 'signal'))
    })
    await Promise.all(messages)
  }
  await endLedger(context, subject)
}

function messageOf({ newId }: ScenarioContext, { workflowId }: Subject, op: 'signal' | 'update'): Intent {
  const marker = newId(op)
  return { op, workflowId, handler: op === 'signal' ? 'apply' : 'set', payload: marker, marker }
}

/** The signal ends the run that it finds. */
async function startWithLastSignal(context: ScenarioContext): Promise<void> {
  const { newId, recorder, http } = context
  for (let rounds = 0; rounds < 3; rounds++) {
    const subject = await startLedger(context)
    if (subject === null) return
    const { workflowId } = subject
    const marker = newId('signal-with-start')
    const start = { op: 'signal-with-start', workflowId, workflowName: 'ledger', input: { marker } } as const
    const last: Intent = { ...start, handler: 'finish', payload: marker, marker, ...maybe(context, { key: marker }) }
    await (last.key === undefined ? recorder.perform(http, last) : repeat(context, last))
    await terminateSurely(context, workflowId)
  }
}

/** The run that the update finds ends at the same time. */
async function startWithUpdate(context: ScenarioContext): Promise<void> {
  const { newId, random, recorder, http } = context
  const subject = await startLedger(context)
  if (subject === null) return
  const { workflowId } = subject
  const marker = newId('update-with-start')
  const start = { op: 'update-with-start', workflowId, workflowName: 'ledger', input: { marker } } as const
  const update: Intent = { ...start, handler: 'set', payload: marker, marker, ...maybe(context, { key: marker }) }
  const last = newId('signal')
  const end: Intent = { op: 'signal', workflowId, handler: 'finish', payload: last, marker: last }
  await Promise.all([
    update.key === undefined ? recorder.perform(http, update) : repeat(context, update),
    sleep(random.below(300)).then(() => perform(context, end)),
  ])
  await endLedger(context, subject)
  await terminateSurely(context, workflowId)
}

/** A message with the key of the start would be recognized as a part of it. */
async function reuseKeyOfStart(context: ScenarioContext): Promise<void> {
  const { newId, recorder, http } = context
  const workflowId = newId('with-start')
  const key = newId('signal-with-start')
  const start = { workflowId, workflowName: 'ledger', input: { marker: key }, handler: 'apply', key }
  const { answer } = await repeat(context, { ...start, op: 'signal-with-start', payload: key, marker: key })
  const { runId } = answer
  if (runId !== undefined) {
    const marker = newId('signal')
    const other: Intent = { op: 'signal', workflowId, runId, handler: 'apply', payload: marker, marker, key }
    if (!(await isRejected(context, other))) await recorder.perform(http, other)
  }
  await terminateSurely(context, workflowId)
}

// The service admits such a message if it cannot read the run in time.
const TRIES = 5

async function isRejected({ http }: ScenarioContext, intent: Intent): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries++) if ((await http.send(intent)).outcome === 'rejected') return true
  return false
}

/** `run` without a key: the response names the run, which is still open. */
async function runForTooLong(context: ScenarioContext): Promise<void> {
  const { newId, random, recorder, http } = context
  const workflowId = newId('long')
  const marker = newId('start')
  const timeoutMs = 100 + random.below(2000)
  const run: Intent = { op: 'run', workflowId, workflowName: 'ledger', input: { marker }, marker, timeoutMs }
  const { answer } = await recorder.perform(http, run)
  if (answer.runId === undefined) await terminateSurely(context, workflowId)
  else await endLedger(context, { workflowId, runId: answer.runId })
}

/** The run ends, and its id is used again, while a client waits for it. */
async function runAndLoseId(context: ScenarioContext): Promise<void> {
  const { newId, random, recorder, clients, http } = context
  const workflowId = newId('lost')
  const marker = newId('start')
  const run: Intent = { op: 'run', workflowId, workflowName: 'ledger', input: { marker }, marker }
  const running = recorder.perform(clients.at(-1) ?? http, run)
  await sleep(500 + random.below(6000))
  const last = newId('signal')
  await repeat(context, { op: 'signal', workflowId, handler: 'finish', payload: last, marker: last, key: last })
  await takeOver(context, http, workflowId)
  // A key is forgotten once the runs of others have ended too.
  await running
  await terminateSurely(context, workflowId)
}
