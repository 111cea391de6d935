/** Streams through the client and the command line: two instances of the service, a worker and the engine. */
import { expect } from 'vitest'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { createClient, type StreamEvent, type StreamItem } from '../../src/client/index.ts'
import { cliTest, TOKEN } from '../conformance/cli/cli-fixture.ts'

const test = cliTest.extend('gateway', { scope: 'file' }, ({ env }) =>
  createClient({ url: env.PORTICO_URL, token: TOKEN }),
)

/** Reads in the background. */
function collect<Item>(items: AsyncIterable<Item>) {
  const read: Item[] = []
  const ended = (async () => {
    for await (const item of items) read.push(item)
    return read
  })()
  // A test that fails before it awaits the end must not report a second error.
  ended.catch(() => undefined)
  return { read, ended, has: (count: number) => until(`${count} items are read`, async () => read.length >= count) }
}

const dataOf = (items: readonly StreamItem[]) => items.map(({ data }) => data)

test('stream: yields what is published, in order, and ends with the workflow', async ({ gateway }) => {
  const run = await gateway.start('streamSignals')
  const { ended, has } = collect(run.stream<{ n: number }>())

  await run.publish({ topic: 'a', data: { n: 1 } })
  await has(1)
  await run.publish([
    { topic: 'b', data: { n: 2 } },
    { topic: 'a', data: { n: 9007199254740993n } },
  ])
  await has(3)
  await run.signal('finish')

  expect(await ended).toEqual([
    { offset: 0, topic: 'a', data: { n: 1 }, id: `${run.runId}@0` },
    { offset: 1, topic: 'b', data: { n: 2 }, id: `${run.runId}@1` },
    { offset: 2, topic: 'a', data: { n: 9007199254740993n }, id: `${run.runId}@2` },
  ])
})

test('stream: a reader who comes after the end reads the same, and begins after any item', async ({ gateway }) => {
  const run = await gateway.start('streamSignals')
  for (const data of ['one', 'two', 'three']) await run.publish({ topic: 't', data })
  await run.signal('finish')
  await run.result()

  const whole = await collect(gateway.stream(run.workflowId)).ended
  const rest = await collect(gateway.stream(run.workflowId, { from: whole[0]?.id })).ended
  const none = await collect(gateway.stream({ workflowId: run.workflowId, runId: run.runId ?? '' }, { topics: ['u'] }))
    .ended

  expect([dataOf(whole), dataOf(rest), none]).toEqual([['one', 'two', 'three'], ['two', 'three'], []])
})

test('stream: loses and repeats nothing when connections are cut and an instance is killed', async ({
  gateway,
  env,
  startService,
  serviceEnv,
  cleanup,
}) => {
  const other = await startService({ env: serviceEnv })
  let proxy = await startTcpProxy(new URL(other.url.replace('0.0.0.0', '127.0.0.1')).host)
  cleanup.defer(() => proxy.close())
  const through = (url: string, init: RequestInit) => fetch(url.replace('//proxy', `//${proxy.address}`), init)
  const run = await gateway.start('streamSignals')
  const reader = createClient({ url: 'http://proxy', token: TOKEN, fetch: through })
  const { read, ended, has } = collect(reader.stream(run.workflowId, { topics: ['t'] }))

  for (let n = 0; n < 12; n++) {
    await run.publish([
      { topic: 'other', data: n },
      { topic: 't', data: n },
    ])
    await has(n + 1)
    if (n === 3) {
      proxy.interrupt()
      proxy.restore()
    }
    if (n === 7) {
      await other.kill()
      await proxy.close()
      proxy = await startTcpProxy(new URL(env.PORTICO_URL).host)
    }
  }
  await run.signal('finish')
  await ended

  expect(read.map(({ data, offset }) => [data, offset])).toEqual(Array.from({ length: 12 }, (_, n) => [n, 2 * n + 1]))
})

test('stream: continues on another instance when its own one shuts down', async ({
  gateway,
  env,
  startService,
  serviceEnv,
}) => {
  const other = await startService({ env: { ...serviceEnv, SERVICE_SHUTDOWN_TIMEOUT: '2s' } })
  const otherUrl = other.url.replace('0.0.0.0', '127.0.0.1')
  let url = otherUrl
  const run = await gateway.start('streamSignals')
  const fetchCurrent = (given: string, init: RequestInit) => fetch(given.replace(otherUrl, url), init)
  const reader = createClient({ url: otherUrl, token: TOKEN, fetch: fetchCurrent })
  const { ended, has } = collect(reader.stream(run.workflowId))

  await run.publish({ topic: 't', data: 'before' })
  await has(1)
  url = env.PORTICO_URL
  await other.stop(30_000)
  await run.publish({ topic: 't', data: 'after' })
  await has(2)
  await run.signal('finish')

  expect(dataOf(await ended)).toEqual(['before', 'after'])
})

test('stream: follows the chain, and events() says where it continues and where it begins again', async ({
  gateway,
}) => {
  const run = await gateway.start('streamSignals')
  const { ended, has } = collect<StreamEvent>(run.stream().events())
  await run.publish({ topic: 't', data: 1 })
  await has(2)
  await run.signal('continueAsNew')
  await has(3)
  await gateway.publish(run.workflowId, { topic: 't', data: 2 })
  await has(4)
  await gateway.signal(run.workflowId, 'restart')
  await has(5)
  await gateway.publish(run.workflowId, { topic: 't', data: 3 })
  await has(6)
  await gateway.signal(run.workflowId, 'finish')

  const events = (await ended).map(({ type, ...event }) => [type, 'offset' in event ? event.offset : 'reset' in event])
  expect(events).toEqual([
    ['workflow', false],
    ['item', 0],
    ['continued', false],
    ['item', 1],
    ['continued', true],
    ['item', 0],
    ['done', false],
  ])
})

test('stream: lost items are an error, and an event of events()', async ({ gateway, portico }) => {
  // The workflow ends before anything could read what it has published.
  const run = await gateway.start('streamItself', { input: 3 })
  await run.result()

  const error = await collect(run.stream()).ended.catch((reason: unknown) => reason)
  const events = await collect(run.stream().events()).ended
  const rest = await collect(run.stream({ from: 3 })).ended
  const { code, stderr } = await portico(['stream', run.workflowId])

  expect(error).toMatchObject({ error: 'StreamTruncatedError', truncated: { from: 0, to: 3 } })
  expect(events.map(({ type }) => type)).toEqual(['workflow', 'truncated', 'done'])
  expect(rest).toEqual([])
  expect([code, stderr]).toEqual([0, 'Items 0 to 2 are lost.\n'])
})

test('stream, publish: a workflow without a stream is a StreamNotFoundError', async ({ gateway, portico }) => {
  const run = await gateway.start('waitForSignal')

  const read = await collect(run.stream()).ended.catch((reason: unknown) => reason)
  const published = await run.publish({ topic: 't', data: 1 }).catch((reason: unknown) => reason)
  const { code, stdout } = await portico(['stream', run.workflowId])

  expect([read, published]).toMatchObject([
    { error: 'StreamNotFoundError', status: 404, workflowId: run.workflowId },
    { error: 'StreamNotFoundError', status: 404, workflowId: run.workflowId },
  ])
  expect([code, JSON.parse(stdout).error]).toEqual([1, 'StreamNotFoundError'])
  await run.terminate()
})

test('publish: a request whose response is lost publishes once', async ({ gateway, env, cleanup }) => {
  const proxy = await startTcpProxy(new URL(env.PORTICO_URL).host)
  cleanup.defer(() => proxy.close())
  const { workflowId, runId = '' } = await gateway.start('streamSignals')
  const cut = createClient({ url: `http://${proxy.address}`, token: TOKEN })
  await cut.status(workflowId)

  proxy.loseNextResponse()
  await cut.publish({ workflowId, runId }, { topic: 't', data: 'once' })
  await gateway.publish(workflowId, { topic: 't', data: 'last' })
  await gateway.signal(workflowId, 'finish')

  expect(dataOf(await collect(gateway.stream(workflowId)).ended)).toEqual(['once', 'last'])
})

test('portico stream: prints items as lines of JSON, as text, and exits as the run has ended', async ({
  gateway,
  portico,
}) => {
  const run = await gateway.start('streamSignals')
  await run.publish([
    { topic: 'a', data: 'Hello' },
    { topic: 'b', data: { n: 1 } },
  ])
  const live = portico(['stream', run.workflowId, '--text'])
  await run.signal('finish')

  const [text, json] = [await live, await portico(['stream', run.workflowId, '--topic', 'b'])]

  expect(text).toEqual({ code: 0, stdout: 'Hello\n{"n":1}\n', stderr: '' })
  expect(json).toEqual({
    code: 0,
    stdout: `{"offset":1,"topic":"b","data":{"n":1},"id":"${run.runId}@1"}\n`,
    stderr: '',
  })
})

test('portico stream: a run that is terminated exits with 1', async ({ gateway, portico }) => {
  const run = await gateway.start('streamSignals')
  await run.publish({ topic: 't', data: 1 })
  const live = portico(['stream', run.workflowId])
  await run.terminate()

  const { code, stderr } = await live

  expect(code).toBe(1)
  expect(stderr).toContain('The run has ended: terminated.')
})
