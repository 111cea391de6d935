/** Scenarios in which an id is used again while requests about its earlier run are on their way. */

import type { Intent } from '../../lab/soak/clients/intent.ts'
import {
  perform,
  repeat,
  type Scenario,
  type ScenarioContext,
  startLedger,
  terminateSurely,
} from '../../lab/soak/scenarios.ts'
import { sleep } from '../../src/shared/lib/abort.ts'

export const REUSED: readonly [Scenario, ...Scenario[]] = [
  startWithUpdates,
  repeatWithStart,
  repeatOnUsedId,
  readReusedId,
]

type WithStart = 'signal-with-start' | 'update-with-start'

function withStart(op: WithStart, workflowId: string, marker: string): Intent {
  const handler = op === 'signal-with-start' ? 'apply' : 'set'
  return { op, workflowId, workflowName: 'ledger', input: { marker }, handler, payload: marker, marker }
}

/** Acts this many times, each at a random moment. */
function scatter<T>({ random }: ScenarioContext, times: number, withinMs: number, act: () => Promise<T>): Promise<T[]> {
  const acts = Array.from({ length: times }, async () => {
    await sleep(random.below(withinMs))
    return act()
  })
  return Promise.all(acts)
}

function finish(context: ScenarioContext, workflowId: string): Promise<unknown> {
  const marker = context.newId('signal')
  return perform(context, { op: 'signal', workflowId, handler: 'finish', payload: marker, marker })
}

/** The run of one request ends, and the next one starts another, while the response of the first one may be lost. */
async function startWithUpdates(context: ScenarioContext): Promise<void> {
  const { newId, random, recorder, http } = context
  const workflowId = newId('with-start')
  const send = () => {
    const op = random.pick<WithStart>(['signal-with-start', 'update-with-start', 'update-with-start'])
    const intent = withStart(op, workflowId, newId(op))
    // Over bare HTTP, so that a lost update is not looked for in the run that has it.
    return op === 'signal-with-start' ? perform(context, intent) : recorder.perform(http, intent)
  }
  await Promise.all([scatter(context, 4, 1500, send), scatter(context, 6, 2500, () => finish(context, workflowId))])
  await terminateSurely(context, workflowId)
}

/** The run of another request, which has the message already, ends at the same time. */
async function repeatWithStart(context: ScenarioContext): Promise<void> {
  const { newId, random, recorder, http } = context
  const subject = await startLedger(context)
  if (subject === null) return
  const { workflowId } = subject
  const op = random.pick<WithStart>(['signal-with-start', 'signal-with-start', 'update-with-start'])
  const key = newId(op)
  const intent = { ...withStart(op, workflowId, key), key }
  const send = () => recorder.perform(http, intent)
  await Promise.all([scatter(context, 5, 400, send), scatter(context, 1, 400, () => finish(context, workflowId))])
  await repeat(context, intent)
  await terminateSurely(context, workflowId)
}

/** The same start several times at once, with an id that the closed run of another request has. */
async function repeatOnUsedId(context: ScenarioContext): Promise<void> {
  const { newId, recorder, http } = context
  const workflowId = newId('twins')
  const echo = (op: 'run' | 'start', marker: string): Intent => ({
    op,
    workflowId,
    workflowName: 'echo',
    input: { marker },
    marker,
  })
  await recorder.perform(http, echo('run', newId('start')))
  const key = newId('start')
  await scatter(context, 3, 30, () => recorder.perform(http, { ...echo('start', key), key }))
}

/** Each result is that of a run that was not replaced before the request. */
async function readReusedId(context: ScenarioContext): Promise<void> {
  const { newId, recorder, http } = context
  const workflowId = newId('short')
  const read = () => recorder.perform(http, { op: 'result', workflowId, marker: null })
  for (let rounds = 0; rounds < 4; rounds++) {
    const marker = newId('start')
    const earlier = scatter(context, 3, 60, read)
    await sleep(40)
    await recorder.perform(http, { op: 'start', workflowId, workflowName: 'echo', input: { marker }, marker })
    await Promise.all([earlier, read()])
  }
}
