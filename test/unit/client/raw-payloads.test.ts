import { expect, expectTypeOf, test } from 'vitest'
import { createClient, type RawPayload } from '../../../src/client/index.ts'
import { clientOf, ok, resetBeforeEach, sent } from './scripted-service.ts'

resetBeforeEach()

const BYTES: RawPayload = { metadata: { encoding: 'binary/plain' }, data: 'AQI=' }

test('payloads: are sent instead of other arguments', async () => {
  const client = clientOf([ok({ workflowId: 'w', runId: 'r' })])
  const order = client.workflow('order')
  const run = order.get({ workflowId: 'w', runId: 'r' })

  await order.start({ payloads: [BYTES] })
  await order.signalWithStart('add', { inputPayloads: [BYTES], payloads: [BYTES] })
  await run.query('count', { payloads: [BYTES] })
  await run.completeActivity('a', { payloads: [BYTES] })

  expect(sent.map(({ body }) => body)).toEqual([
    { workflowName: 'order', payloads: [BYTES] },
    { workflowName: 'order', inputPayloads: [BYTES], payloads: [BYTES] },
    { payloads: [BYTES] },
    { payloads: [BYTES] },
  ])
})

test('payloads: the types exclude other arguments beside them', () => {
  expectTypeOf(calls).toBeFunction()
})

/** Compiled, never called. */
function calls(): unknown[] {
  const client = createClient({ url: 'http://127.0.0.1:3001' })
  return [
    // @ts-expect-error Not both.
    client.workflow('order').start({ input: 7, payloads: [BYTES] }),
    // @ts-expect-error Without its encoding no worker can read it.
    client.workflow('order').start({ payloads: [{ metadata: {}, value: 7 }] }),
  ]
}
