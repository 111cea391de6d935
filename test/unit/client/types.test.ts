/** The compiler checks this file: `@ts-expect-error` fails where there is no error. */
import { expectTypeOf, test } from 'vitest'
import type * as workflows from '../../../examples/workflows.ts'
import {
  type ActivityRepairs,
  type ActivityResult,
  createClient,
  type StartActivityOptions,
  type StartOptions,
  type StreamItem,
  type WorkflowHandle,
  type WorkflowResult,
} from '../../../src/client/index.ts'
import { bulk } from '../../../src/client/requests/bulk.ts'
import type { ActivityBody } from '../../../src/service/http/endpoints/fields/activity-fields.ts'
import type { OptionFields } from '../../../src/service/http/endpoints/fields/start-fields.ts'
import type { WorkflowTypesOf } from '../../../src/worker/index.ts'

/** As `npx portico types` writes it. */
interface Generated {
  order: {
    args: [input: { orderId: string; amount: number }, ...more: unknown[]]
    output: { shipmentId: string }
    signals: { approve: [input: { by: string }, ...more: unknown[]] }
    queries: { 'how far': { args: unknown[]; result: { stage: string } } }
    updates: { priority: { args: [input: { level: 'low' | 'high' }]; result: { before: string } } }
  }
  'no-handlers': { args: []; output: null }
}

interface Activities {
  charge: { args: [input: { amount: number }, ...more: unknown[]]; output: { at: Date } }
}

declare const alone: { refund: (amount: number, note?: string) => Promise<string> }

const url = 'http://127.0.0.1:3001'
const order = { orderId: '1', amount: 40, card: '4242' }

/** As in docs/client.md. */
async function chargeAlone(): Promise<unknown[]> {
  const client = createClient<Generated, Activities>({ url })
  const charge = client.activity('charge')
  const chargeId = await charge.run({ input: { amount: 3 }, activityId: 'charge-17' })
  const { progress } = await charge.get('charge-17').status()
  return [chargeId, progress]
}

/** As in docs/client.md. */
async function importAll(orders: unknown[]): Promise<void> {
  const lines = orders.map((input) => ({ workflowName: 'order', input }))
  for await (const { index, status } of bulk({ url }, lines, { key: 'import-7' })) console.log(index, status)
  // @ts-expect-error: a signal needs a name
  void bulk({ url }, [{ op: 'signal', workflowId: 'w' }])
  // @ts-expect-error: a stop takes no key
  void bulk({ url }, [{ op: 'stop', workflowId: 'w', key: 'k' }])
}

/** As in docs/client.md. */
async function chat(handle: WorkflowHandle): Promise<void> {
  const tokens = handle.stream<{ text: string }>({ topics: ['tokens'] })
  for await (const { data } of tokens) process.stdout.write(data.text)
  for await (const event of handle.stream<{ text: string }>({ topics: ['tokens'] }).events()) {
    if (event.type === 'item') console.log(event.data.text)
    if (event.type === 'truncated') console.log(`${event.to - event.from} items are lost`)
    if (event.type === 'continued' && event.reset) console.log('A new stream begins')
    if (event.type === 'done') console.log(event.status, event.complete)
  }
  await handle.publish([{ topic: 'tokens', data: { text: 'Hello' } }])
}

declare function consume<Data>(items: AsyncIterable<StreamItem<Data>>, act: (data: Data) => void): void

/** Compiled, never called. */
function calls(): unknown[] {
  const untyped = createClient({ url })
  const generated = createClient<Generated>({ url })
  const derived = createClient<WorkflowTypesOf<typeof workflows>>({ url })
  const byFunction = untyped.workflow<typeof workflows.order>('order')
  const generatedOrder = generated.workflow('order')
  const handle = generatedOrder.get('order-1')
  const derivedHandle = derived.workflow('order').get('order-1')

  expectTypeOf(byFunction.run({ input: order })).resolves.toEqualTypeOf<{
    orderId: string
    chargeId: string
    shipmentId: string
  }>()
  expectTypeOf(generated.run('order', { input: order })).resolves.toEqualTypeOf<{ shipmentId: string }>()
  expectTypeOf(generatedOrder.runSettled({ input: order })).resolves.toEqualTypeOf<
    WorkflowResult<{ shipmentId: string }>
  >()
  expectTypeOf(untyped.run('order', { input: order })).resolves.toEqualTypeOf<unknown>()
  expectTypeOf(handle.query('how far')).resolves.toEqualTypeOf<{ stage: string }>()
  expectTypeOf(handle.update('priority', { payload: { level: 'low' } })).resolves.toEqualTypeOf<{ before: string }>()
  expectTypeOf(derivedHandle.query('progress')).resolves.toEqualTypeOf<workflows.Progress>()
  expectTypeOf(
    derived
      .workflow('order')
      .get('x')
      .update('priority', { payload: { level: 'low' } }),
  ).resolves.toEqualTypeOf<{ before: workflows.Priority; after: workflows.Priority }>()
  const dated = untyped.workflow<() => Promise<{ at: Date; none?: string }>>('dated')
  expectTypeOf(dated.run()).resolves.toEqualTypeOf<{ at: string; none?: string }>()
  expectTypeOf(untyped.workflow<() => Promise<void>>('nothing').run()).resolves.toEqualTypeOf<null>()

  const withActivities = createClient<Generated, Activities>({ url })
  const withModule = createClient<Generated, typeof alone>({ url })
  const charge = withActivities.activity('charge')
  expectTypeOf(charge.run({ input: { amount: 3 } })).resolves.toEqualTypeOf<{ at: string }>()
  expectTypeOf(charge.get('charge-17').resultSettled()).resolves.toEqualTypeOf<ActivityResult<{ at: string }>>()
  expectTypeOf(withModule.activity('refund').run({ args: [3, 'late'] })).resolves.toEqualTypeOf<string>()
  expectTypeOf(untyped.activity<typeof alone.refund>('refund').run({ input: 3 })).resolves.toEqualTypeOf<string>()
  expectTypeOf(generated.activity('any').run()).resolves.toEqualTypeOf<unknown>()
  expectTypeOf(generated.activity('order-17', 'approval')).toEqualTypeOf<ActivityRepairs>()

  expectTypeOf(untyped.schedules.get('daily'))
    .resolves.toHaveProperty('info')
    .toHaveProperty('next')
    .toEqualTypeOf<string[]>()
  expectTypeOf(handle.stream()).toExtend<AsyncIterable<StreamItem>>()
  expectTypeOf<StreamItem['data']>().toEqualTypeOf<unknown>()
  expectTypeOf(derivedHandle.stream<{ text: string }>()).toExtend<AsyncIterable<StreamItem<{ text: string }>>>()
  expectTypeOf(generated.stream<string>('order-1', { from: 'now' })).toExtend<AsyncIterable<StreamItem<string>>>()

  return [
    chat(untyped.workflow('chat').get('x')),
    importAll([]),
    chargeAlone(),
    generated.publish('order-1', { topic: 'tokens', data: { text: 'a' } }),
    handle.publish([{ topic: 'tokens', data: 1 }], { idempotencyKey: 'k' }),
    byFunction.run({ args: [order], workflowId: 'order-1' }),
    untyped.run('anything'),
    untyped.run('anything', { input: 1 }),
    untyped.run('anything', { args: [1, 2] }),
    derived.run('greet', { args: [{ name: 'Ada' }, 'Good morning'] }),
    derived.run('greet', { input: { name: 'Ada' } }),
    generated.run('no-handlers'),
    generatedOrder.start({ args: [order, 'more'] }),
    handle.signal('approve', { payload: { by: 'Ada' } }),
    derived
      .workflow('order')
      .get('x')
      .signal('approve', { payload: { by: 'Ada' } }),
    byFunction.get('x').signal('any', { args: [1] }),
    untyped.batches.create({ operation: 'signal', signal: 'approve', payload: 1, filter: { catalog: 'orders' } }),
    untyped.batches.create({ operation: 'stop', filter: {} }, { idempotencyKey: 'k' }),
    untyped.schedules.put(
      'daily',
      { workflowName: 'report', when: { every: [{ interval: '1h' }] } },
      { ifMatch: null },
    ),

    // @ts-expect-error no activity of that name
    withActivities.activity('chrge'),
    // @ts-expect-error amount must be a number
    charge.run({ input: { amount: '3' } }),
    // @ts-expect-error the argument is required
    charge.start({ activityId: 'charge-17' }),
    // @ts-expect-error an activity has no memo
    charge.start({ input: { amount: 3 }, memo: {} }),
    // @ts-expect-error the first argument is a number
    withModule.activity('refund').run({ args: ['3'] }),
    // @ts-expect-error a topic is required
    handle.publish({ data: 1 }),
    // @ts-expect-error the data of an item is not known
    consume(handle.stream(), (text: string) => text),
    // @ts-expect-error amount must be a number
    byFunction.run({ input: { ...order, amount: '40' } }),
    // @ts-expect-error the argument is required
    byFunction.run(),
    // @ts-expect-error the argument is required
    byFunction.run({ workflowId: 'order-1' }),
    // @ts-expect-error either input or args
    byFunction.run({ input: order, args: [order] }),
    // @ts-expect-error too many arguments
    byFunction.run({ args: [order, 1] }),
    // @ts-expect-error not a start option
    byFunction.run({ input: order, timeout: 1000 }),
    // @ts-expect-error no workflow of that name
    generated.run('ordr', { input: order }),
    // @ts-expect-error no workflow of that name
    generated.workflow('ordr'),
    // @ts-expect-error it takes no argument
    generated.run('no-handlers', { input: 1 }),
    // @ts-expect-error the second argument is a string
    derived.run('greet', { args: [{ name: 'Ada' }, 1] }),
    // @ts-expect-error no signal of that name
    handle.signal('aprove', { payload: { by: 'Ada' } }),
    // @ts-expect-error by must be a string
    handle.signal('approve', { payload: { by: 1 } }),
    // @ts-expect-error the argument is required
    handle.signal('approve'),
    // @ts-expect-error level must be one of the two
    handle.update('priority', { payload: { level: 'normal' } }),
    // @ts-expect-error an update is not a query
    handle.query('priority'),
    // @ts-expect-error it has no handlers
    generated.workflow('no-handlers').get('x').signal('approve'),
    // @ts-expect-error by must be a string
    derivedHandle.signal('approve', { payload: { by: 1 } }),
    // @ts-expect-error it must say when
    untyped.schedules.put('daily', { workflowName: 'report', input: 1 }),
    // @ts-expect-error a schedule has no delay
    untyped.schedules.put('daily', { workflowName: 'report', when: {}, startDelay: '1h' }),
    // @ts-expect-error no such policy
    untyped.schedules.trigger('daily', { overlap: 'never' }),
    // @ts-expect-error a signal has a name
    untyped.batches.create({ operation: 'signal', filter: {} }),
    // @ts-expect-error it must say for which runs
    untyped.batches.create({ operation: 'stop' }),
    // @ts-expect-error a definition is not a workflow
    derived.workflow('approve'),
  ]
}

test('portico/client: types of inputs, outputs and handlers are those of the workflow', () => {
  expectTypeOf(calls).toBeFunction()
})

test('portico/client: the options of a start are those of the API', () => {
  type OwnOptions = 'workflowId' | 'catalog' | 'idempotencyKey' | 'signal' | 'timeoutMs'

  expectTypeOf<Exclude<keyof StartOptions, OwnOptions>>().toEqualTypeOf<keyof OptionFields>()
  type OfRequest = Exclude<keyof ActivityBody, 'activityName' | 'args' | 'input' | 'payloads' | 'timeout'>
  expectTypeOf<Exclude<keyof StartActivityOptions, Exclude<OwnOptions, 'catalog'>>>().toEqualTypeOf<OfRequest>()
})
