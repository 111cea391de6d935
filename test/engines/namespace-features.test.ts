/** What works below the path of a namespace: catalogs, streams, codec, readiness, metrics, clients and links. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { createClient } from '../../src/client/create-client.ts'
import { opaque, startCodec } from '../support/codec.ts'
import { eventsIn } from '../support/event-stream.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { parseMetrics, sumOf } from '../support/prometheus.ts'
import { readiness } from '../support/readiness.ts'
import { PREFIXES, test } from './namespaces-fixture.ts'

test('each namespace has the catalog of its own workers, in the document too', async ({ both: { call } }) => {
  const [own, acme] = await Promise.all(
    Object.values(PREFIXES).map(async (prefix) => {
      const { workflows } = (await call('GET', `${prefix}/workflow/catalog`)).body
      return workflows.map(({ name }: { name: string }) => name)
    }),
  )
  const document = (await call('GET', '/namespaces/acme/openapi.json')).body
  const unsupported = await call('POST', '/namespaces/acme/workflow/start', { workflowName: 'chain', input: null })

  expect(acme.toSorted()).toEqual(['echo', 'waitForSignal'])
  expect(own).toContain('chain')
  expect([document.servers, document['x-catalog']]).toMatchObject([
    [{ url: '/namespaces/acme' }],
    { namespace: 'acme' },
  ])
  expect(unsupported.body).toMatchObject({ error: 'UnsupportedWorkflowError', available: ['echo', 'waitForSignal'] })
})

test('event streams are below the namespace, and continue the same run after a reconnect', async ({
  both: { call, fetch },
}) => {
  const { workflowId, runId } = (
    await call('POST', '/namespaces/acme/workflow/start', { workflowName: 'echo', input: 'streamed' })
  ).body
  const stream = async (path: string, headers: Record<string, string> = {}) => {
    const request = new Request(`http://portico.test${path}`, { headers: { Accept: 'text/event-stream', ...headers } })
    return eventsIn(await (await fetch(request)).text())
  }
  const path = `/namespaces/acme/workflow/${workflowId}`

  const history = await stream(`${path}/history/stream`)
  const result = await stream(`${path}/result?wait=60s`)
  const again = await stream(`${path}/result?wait=60s`, { 'Last-Event-ID': result.find(({ id }) => id)?.id ?? runId })

  expect(history.length).toBeGreaterThan(2)
  expect(result.at(-1)).toMatchObject({ event: 'result', data: { runId, output: 'streamed' } })
  expect(again.at(-1)).toMatchObject({ event: 'result', data: { runId, output: 'streamed' } })
})

test('streams are below the namespace, also if the workflow id is the same in both and both are read at once', async ({
  startWorker,
  both: { call, fetch },
}) => {
  const catalog = `streams-${crypto.randomUUID()}`
  const workflowId = `twin-${crypto.randomUUID()}`
  await Promise.all(['default', 'acme'].map((namespace) => startWorker({ taskQueue: catalog, namespace })))
  const start = { workflowName: 'streamSignals', catalog, workflowId, input: {} }
  const prefixes = [PREFIXES.own, PREFIXES.acme]
  const runs = await Promise.all(
    prefixes.map(async (prefix) => (await call('POST', `${prefix}/workflow/start`, start)).body.runId),
  )
  const read = async (prefix: string, id = '') => {
    const headers = { Accept: 'text/event-stream', 'Last-Event-ID': id }
    const url = `http://portico.test${prefix}/workflow/${workflowId}/stream`
    return fetch(new Request(url, { headers }))
  }
  const readers = await Promise.all(prefixes.map((prefix) => read(prefix)))
  for (const prefix of prefixes) {
    const path = `${prefix}/workflow/${workflowId}`
    const items = [prefix, 'last'].map((data) => ({ topic: 't', data }))
    expect((await call('POST', `${path}/stream`, { items })).status).toBe(202)
    await call('POST', `${path}/signal/finish`)
  }
  const events = await Promise.all(readers.map(async (reader) => eventsIn(await reader.text())))
  const resumed = eventsIn(await (await read(PREFIXES.acme, `${runs[1]}@0`)).text())
  const foreign = await read(PREFIXES.own, `${runs[1]}@0`)

  const whole = prefixes.map((prefix, at) => [
    { event: 'workflow', data: { workflowId, runId: runs[at] } },
    { event: 'item', data: { offset: 0, data: prefix } },
    { event: 'item', data: { offset: 1, data: 'last' } },
    { event: 'done', data: { runId: runs[at], complete: true } },
  ])
  expect(events).toMatchObject(whole)
  expect(resumed).toMatchObject([whole[1]?.[0], whole[1]?.[2], whole[1]?.[3]])
  expect(foreign.status).toBe(404)
})

test('the engine and the codec server get the namespace of each call', async ({
  engine,
  serve,
  startWorker,
  cleanup,
}) => {
  const calls: { method: string; header: unknown; isOfAcme: boolean }[] = []
  const proxy = await startFaultProxy(engine.address, engine.httpUrl, {
    onCall: (method, message, headers) =>
      void calls.push({ method, header: headers['temporal-namespace'], isOfAcme: message.includes('acme') }),
  })
  cleanup.defer(() => proxy.stop())
  const codec = await startCodec({ opaque: true })
  cleanup.defer(() => codec.close())
  const taskQueue = `encoded-${crypto.randomUUID()}`
  const options = { dataConverter: { payloadCodecs: [opaque] } }
  await Promise.all(['default', 'acme'].map((namespace) => startWorker({ taskQueue, namespace, options })))
  const { call } = serve({
    ENGINE_ADDRESS: proxy.address,
    ENGINE_NAMESPACES: 'acme',
    ENGINE_CODEC_ENDPOINT: codec.url,
    SERVICE_CATALOG_ID: taskQueue,
  })
  const run = async (prefix: string) =>
    (await call('POST', `${prefix}/workflow/run`, { workflowName: 'echo', input: 'x' })).body.output

  expect(await run(PREFIXES.own)).toBe('x')
  const ofOwn = codec.namespaces.length
  expect(await run(PREFIXES.acme)).toBe('x')

  expect([new Set(codec.namespaces.slice(0, ofOwn)), new Set(codec.namespaces.slice(ofOwn))]).toEqual([
    new Set(['default']),
    new Set(['acme']),
  ])
  const named = calls.filter(({ method }) => method !== 'GetSystemInfo')
  expect(new Set(named.map(({ header, isOfAcme }) => `${header} ${isOfAcme}`))).toEqual(
    new Set(['default false', 'acme true']),
  )
})

test('/ready of a namespace that the engine does not have is 503, and the others are ready', async ({ serve }) => {
  const { call } = serve({ ENGINE_NAMESPACES: 'acme,not-registered' })

  const answers = await Promise.all([
    ...['', '/namespaces/acme', '/namespaces/not-registered'].map((prefix) => readiness({ call }, `${prefix}/ready`)),
    call('GET', '/namespaces/none/ready'),
  ])

  expect(answers.map(({ status, body }) => [status, body.engine])).toEqual([
    [200, 'reachable'],
    [200, 'reachable'],
    [503, 'misconfigured'],
    [404, undefined],
  ])
})

test('the metrics are those of all namespaces, and a shutdown ends the waits in all of them', async ({
  serve,
  workers: _,
}) => {
  const { call, drain } = serve({ ENGINE_NAMESPACES: 'acme', SERVICE_METRICS_ON: 'true' })
  const read = async () => parseMetrics((await call('GET', '/metrics')).text)
  const runs = Object.values(PREFIXES).map((prefix) =>
    call('POST', `${prefix}/workflow/run`, { workflowName: 'waitForSignal', args: [] }),
  )
  await until('both wait', async () => {
    const samples = await read()
    return sumOf(samples, 'portico_open_waits') === 2 && sumOf(samples, 'portico_open_polls') === 2
  })

  drain()
  const answers = await Promise.all(runs)

  expect(answers.map(({ status }) => status)).toEqual([424, 424])
  expect(answers.map(({ headers }) => headers.get('Location'))).toEqual(
    answers.map(({ body }, index) => `${Object.values(PREFIXES)[index]}/workflow/${body.workflowId}/result`),
  )
  await until('nothing waits', async () => sumOf(await read(), 'portico_open_polls') === 0)
  expect((await call('GET', '/namespaces/acme/metrics')).status).toBe(404)
})

test('the client calls one namespace: waits, messages, pages and catalog', async ({ both: { fetch } }) => {
  const send = (url: string, init: RequestInit) => fetch(new Request(url, init))
  const client = createClient({ url: 'http://portico.test', fetch: send, namespace: 'acme' })

  const handle = await client.workflow('waitForSignal').start({ args: [] })
  await handle.signal('finish', { payload: 'now' })

  expect((await client.catalog()).workflows.map(({ name }) => name).toSorted()).toEqual(['echo', 'waitForSignal'])
  expect(await client.run('echo', { input: 'of acme' })).toBe('of acme')
  expect((await handle.history({ pageSize: 2 })[Symbol.asyncIterator]().next()).done).toBe(false)
  expect(await handle.result()).toEqual(['now'])
  await expect(
    createClient({ url: 'http://portico.test', fetch: send }).status(handle.workflowId),
  ).rejects.toMatchObject({ error: 'WorkflowNotFoundError' })
})

test('a link to a run of any namespace is below /links/, and answers that run alone (threat 66)', async ({
  serve,
  workers: _,
}) => {
  const { call } = serve({
    ENGINE_NAMESPACES: 'acme',
    SERVICE_SIGNING_KEY: Buffer.alloc(32, 5).toString('base64url'),
    SERVICE_PUBLIC_URL: 'https://portico.example',
  })
  const workflowId = `linked-${crypto.randomUUID()}`
  const start = (prefix: string) =>
    call('POST', `${prefix}/workflow/start`, { workflowName: 'waitForSignal', workflowId, input: null })
  await Promise.all(Object.values(PREFIXES).map(start))
  // During its first workflow task the engine would not record the answer yet, and the response waits only for 4.5 s.
  await until('it waits for signals', async () => {
    const { body } = await call('GET', `${PREFIXES.acme}/workflow/${workflowId}/status`)
    return body.historyLength >= 4
  })
  const link = { title: 'Go on?', signal: 'proceed', choices: [{ label: 'Yes' }] }
  const { url } = (await call('POST', `${PREFIXES.acme}/workflow/${workflowId}/links`, link)).body

  const answered = await call('POST', url.slice('https://portico.example'.length), { choice: 'Yes' })
  const below = await call('POST', `${PREFIXES.acme}${url.slice('https://portico.example'.length)}`, { choice: 'Yes' })
  const [own, acme] = await Promise.all(
    Object.values(PREFIXES).map(async (prefix) => (await call('GET', `${prefix}/workflow/${workflowId}/history`)).text),
  )

  expect(url).toMatch(/^https:\/\/portico\.example\/links\/[\w-]+$/)
  expect([answered.status, below.status]).toEqual([200, 404])
  expect([own, acme].map((text) => text?.includes('proceed'))).toEqual([false, true])
})
