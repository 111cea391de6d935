import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { JsonRpcError } from '../../../../../src/service/fronts/mcp/rpc-error.ts'
import { listen, type Subscription } from '../../../../../src/service/fronts/mcp/subscriptions.ts'
import { toolsOf } from '../../../../../src/service/fronts/mcp/tools.ts'
import { ServiceError } from '../../../../../src/service/model/errors.ts'
import { aCall } from '../../../call.ts'
import { entry } from '../../openapi/typed/catalog-document.ts'

const toolsNamed = async (...names: string[]) =>
  (
    await toolsOf({
      catalog: 'orders',
      inputsChecked: true,
      workflows: names.map((name) => entry(name)),
      activities: [],
    })
  ).tools

const ABOUT = { _meta: { 'io.modelcontextprotocol/subscriptionId': 7 } }

/** A subscription in which nothing happens. */
const QUIET: Subscription = {
  id: 7,
  params: { notifications: {} },
  ttlMs: 5000,
  readTools: async () => [],
  taskEnds: async () => false,
  readTask: async () => null,
}

/** The messages so far, and the functions that end the subscription. */
async function subscribe(given: Partial<Subscription>) {
  const controller = new AbortController()
  const call = aCall({ signal: controller.signal })
  const messages: unknown[] = []
  const reading = (async () => {
    for await (const message of listen({ ...QUIET, ...given }, call)) messages.push(message)
  })()
  // `end` reports it.
  reading.catch(() => {})
  await vi.advanceTimersByTimeAsync(0)
  async function end(reason?: unknown): Promise<unknown[]> {
    controller.abort(reason)
    await reading
    return messages
  }
  return { messages, end }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('listen: says that the tools have changed, once for each change and not for an outage', async () => {
  const [some, others] = [await toolsNamed('greet'), await toolsNamed('greet', 'order')]
  const reads = [some, some, others, new ServiceError('EngineUnavailableError', 'down'), others]
  const readTools = async () => {
    const next = reads.shift() ?? others
    if (next instanceof ServiceError) throw next
    return next
  }
  const { end } = await subscribe({ params: { notifications: { toolsListChanged: true } }, readTools })
  await vi.advanceTimersByTimeAsync(30_000)

  const [, ...changes] = await end()

  expect(changes).toEqual([{ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: ABOUT }])
})

test('listen: acknowledges after it has read the tools, and reports every change since', async () => {
  const [some, others] = [await toolsNamed('greet'), await toolsNamed('greet', 'order')]
  const first = Promise.withResolvers<typeof some>()
  let reads = 0
  const readTools = async () => (reads++ === 0 ? first.promise : others)
  const { messages, end } = await subscribe({ params: { notifications: { toolsListChanged: true } }, readTools })
  const before = [...messages]
  first.resolve(some)
  await vi.advanceTimersByTimeAsync(5000)

  expect(before).toEqual([])
  expect(await end()).toMatchObject([
    { method: 'notifications/subscriptions/acknowledged' },
    { method: 'notifications/tools/list_changed' },
  ])
})

test('listen: says that the tools may have changed if they could not be read at the beginning', async () => {
  const tools = await toolsNamed('greet')
  const down = Promise.reject(new ServiceError('EngineUnavailableError', 'down'))
  const reads = [down]
  const readTools = async () => reads.shift() ?? tools
  const { end } = await subscribe({ params: { notifications: { toolsListChanged: true } }, readTools })
  await vi.advanceTimersByTimeAsync(30_000)

  const [, ...changes] = await end()

  expect(changes).toMatchObject([{ method: 'notifications/tools/list_changed' }])
})

test('listen: watches a task once, however often it is named', async () => {
  const watched: string[] = []
  const taskEnds = async (taskId: string) => {
    watched.push(taskId)
    return false
  }
  const { end } = await subscribe({ params: { notifications: { taskIds: ['a', 'b', 'a'] } }, taskEnds })

  const [acknowledged] = await end()

  expect(watched).toEqual(['a', 'b'])
  expect(acknowledged).toMatchObject({ params: { notifications: { taskIds: ['a', 'b'] } } })
})

test('listen: reads one task at a time, because each may have a large result (threat 57)', async () => {
  const { promise: never } = Promise.withResolvers<never>()
  const reading: string[] = []
  const taskEnds: Subscription['taskEnds'] = (taskId, limit) =>
    limit(() => {
      reading.push(taskId)
      return never
    })
  const taskIds = Array.from({ length: 100 }, (_, index) => String(index))
  const { end } = await subscribe({ params: { notifications: { taskIds } }, taskEnds })

  await end()

  expect(reading).toEqual(['0'])
})

test('listen: reads a task when the client takes its message, and has one in memory (threat 57)', async () => {
  const read: string[] = []
  const readTask = async (taskId: string) => {
    read.push(taskId)
    return { taskId }
  }
  const taskIds = Array.from({ length: 100 }, (_, index) => String(index))
  const subscription = { ...QUIET, params: { notifications: { taskIds } }, taskEnds: async () => true, readTask }
  const messages = listen(subscription, aCall())[Symbol.asyncIterator]()

  // The acknowledgement, and the message of a task.
  await messages.next()
  const first = await messages.next()
  await vi.advanceTimersByTimeAsync(1000)

  expect([first.value.params.taskId, read]).toEqual(['0', ['0']])
  await messages.return?.()
})

test('listen: a client that reads late learns once that the tools have changed', async () => {
  let reads = 0
  const readTools = async () => toolsNamed(`greet-${reads++}`)
  const controller = new AbortController()
  const subscription = { ...QUIET, params: { notifications: { toolsListChanged: true } }, readTools }
  const messages = listen(subscription, aCall({ signal: controller.signal }))[Symbol.asyncIterator]()
  await messages.next()
  const second = messages.next()
  await vi.advanceTimersByTimeAsync(60_000)
  await second

  const third = await messages.next()
  const fourth = messages.next()
  controller.abort()

  expect(third.value.method).toBe('notifications/tools/list_changed')
  expect((await fourth).done).toBe(true)
})

test('listen: counts each task as a wait of the caller, before anything is sent (threat 29)', () => {
  const counted: number[] = []
  const call = aCall({ countWaits: (waits) => void counted.push(waits) })
  const tooMany = aCall({
    countWaits() {
      throw new ServiceError('TooManyRequestsError', 'too many')
    },
  })

  for (const taskIds of [['a', 'b', 'a'], []]) listen({ ...QUIET, params: { notifications: { taskIds } } }, call)

  expect(counted).toEqual([2, 1])
  expect(() => listen(QUIET, tooMany)).toThrow('too many')
})

test('listen: a bug in a watch ends the stream', async () => {
  const { end } = await subscribe({
    params: { notifications: { taskIds: ['a'] } },
    taskEnds: () => Promise.reject(new TypeError('a bug')),
  })

  await expect(end()).rejects.toThrow('a bug')
})

test.for([
  [undefined],
  [{ taskIds: 'w/r' }],
  [{ taskIds: [1] }],
  [{ taskIds: Array.from({ length: 101 }, () => 'a') }],
  [{ taskIds: ['a'.repeat(4000)] }],
])('listen: rejects %o', ([notifications]) => {
  expect(() => listen({ ...QUIET, params: { notifications } }, aCall())).toThrow(JsonRpcError)
})
