/** Workflows that console.test.ts shows. */
import { proxyActivities } from '@temporalio/workflow'
import { ask } from '../../src/worker/ask.ts'

export { greet, order } from '../../examples/workflows.ts'

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
