/** Workflows that the tests of the console show. */
import { condition, defineSignal, executeChild, proxyActivities, setHandler } from '@temporalio/workflow'
import { ask } from '../../src/worker/ask.ts'

export { greet, order } from '../../examples/workflows.ts'
export {
  chain,
  failInChild,
  failTask,
  failWithCauses,
  neverEnds,
  reportsProgress,
  retriedLater,
  streamItselfFirst,
} from '../support/workflows.ts'

const { validate } = proxyActivities<{ validate(step: object): Promise<void> }>({ startToCloseTimeout: '1m' })

export async function refund(): Promise<unknown> {
  const schema = { type: 'object', properties: { approved: { type: 'boolean' } }, required: ['approved'] }
  return ask({ message: 'Refund 250 EUR?', schema, to: ['finance'] })
}

export async function pair(first: unknown, second: unknown): Promise<unknown[]> {
  return [first, second]
}

/** So many steps, some at a time. */
export async function steps(count: number): Promise<void> {
  for (let at = 0; at < count; at += 100)
    await Promise.all(Array.from({ length: 100 }, (_, index) => validate({ index: at + index })))
}

/** One row of each kind, then a wait of hours that a signal ends. */
export async function trip(id: string): Promise<void> {
  let isBooked = false
  setHandler(defineSignal('book'), () => {
    isBooked = true
  })
  await validate({ id })
  await executeChild('greet', { args: [{ name: id }], workflowId: `${id}:greet` })
  await condition(() => isBooked, '2h')
}

/** Its form has a field of each kind. */
export async function everyField(input: unknown): Promise<unknown> {
  return input
}
