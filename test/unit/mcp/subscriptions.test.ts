import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SHUTTING_DOWN } from '../../../src/domain/model/call.ts'
import { ServiceError } from '../../../src/domain/model/errors.ts'
import { JsonRpcError } from '../../../src/mcp/rpc-error.ts'
import { listen, type Subscription } from '../../../src/mcp/subscriptions.ts'
import { toolsOf } from '../../../src/mcp/tools.ts'
import { aCall } from '../call.ts'
import { entry } from '../http/openapi/typed/catalog-document.ts'

const toolsNamed = async (...names: string[]) =>
  (await toolsOf({ catalog: 'orders', inputsChecked: true, workflows: names.map((name) => entry(name)) })).tools

const ABOUT = { _meta: { 'io.modelcontextprotocol/subscriptionId': 7 } }

/** A subscription in which nothing happens. */
const QUIET: Subscription = {
  id: 7,
  params: { notifications: {} },
  ttlMs: 5000,
  readTools: async () => [],
  taskEnd: async () => null,
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

test('listen: first acknowledges what it agrees to send', async () => {
  const notifications = { toolsListChanged: true, promptsListChanged: true, taskIds: ['w/r'] }
  const { end } = await subscribe({ params: { notifications } })

  expect(await end()).toEqual([
    {
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { toolsListChanged: true, taskIds: ['w/r'] }, ...ABOUT },
    },
  ])
})

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

test('listen: sends the tasks that have ended', async () => {
  const { end } = await subscribe({
    params: { notifications: { taskIds: ['a', 'b'] } },
    taskEnd: async (taskId) => (taskId === 'a' ? { taskId, status: 'completed' } : null),
  })

  const [, ...tasks] = await end()

  expect(tasks).toMatchObject([
    { method: 'notifications/tasks', params: { taskId: 'a', status: 'completed', ...ABOUT } },
  ])
})

test('listen: watches a task once, however often it is named', async () => {
  const watched: string[] = []
  const taskEnd = async (taskId: string) => {
    watched.push(taskId)
    return null
  }
  const { end } = await subscribe({ params: { notifications: { taskIds: ['a', 'b', 'a'] } }, taskEnd })

  const [acknowledged] = await end()

  expect(watched).toEqual(['a', 'b'])
  expect(acknowledged).toMatchObject({ params: { notifications: { taskIds: ['a', 'b'] } } })
})

test('listen: reads at most eight tasks at the same time', async () => {
  const { promise: never } = Promise.withResolvers<null>()
  const reading: string[] = []
  const taskEnd: Subscription['taskEnd'] = (taskId, limit) =>
    limit(() => {
      reading.push(taskId)
      return never
    })
  const taskIds = Array.from({ length: 100 }, (_, index) => String(index))
  const { end } = await subscribe({ params: { notifications: { taskIds } }, taskEnd })

  await end()

  expect(reading).toHaveLength(8)
})

test('listen: ends with a result when the service shuts down', async () => {
  const { end } = await subscribe({})

  expect((await end(SHUTTING_DOWN)).at(-1)).toEqual({
    jsonrpc: '2.0',
    id: 7,
    result: { resultType: 'complete', ...ABOUT },
  })
})

test('listen: is not a request in flight', async () => {
  const startWaiting = vi.fn()

  for await (const _ of listen(QUIET, aCall({ startWaiting }))) break

  expect(startWaiting).toHaveBeenCalledTimes(1)
})

test('listen: a bug in a watch ends the stream', async () => {
  const { end } = await subscribe({
    params: { notifications: { taskIds: ['a'] } },
    taskEnd: () => Promise.reject(new TypeError('a bug')),
  })

  await expect(end()).rejects.toThrow('a bug')
})

test.for([
  [undefined],
  [{ taskIds: 'w/r' }],
  [{ taskIds: [1] }],
  [{ taskIds: Array.from({ length: 101 }, () => 'a') }],
])('listen: rejects %o', ([notifications]) => {
  expect(() => listen({ ...QUIET, params: { notifications } }, aCall())).toThrow(JsonRpcError)
})
