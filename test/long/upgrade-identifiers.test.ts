/** What a replica of one build has written or returned is used at a replica of the other build. */
import { describe, expect } from 'vitest'
import { storageEnv } from '../../dev/servers/s3.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { openEvents } from '../support/event-stream.ts'
import { type Build, PUBLIC_URL, type Replica, TOKEN, test as upgradeTest } from './upgrade-fixture.ts'

const test = upgradeTest.extend('replicas', { scope: 'file' }, async ({ startReplica }) => {
  const [older, newer] = await Promise.all([startReplica('older'), startReplica('newer')])
  return { older, newer } satisfies Record<Build, Replica>
})

const HEADERS = { Authorization: `Bearer ${TOKEN}` }
const QUESTION = { title: 'Refund 120 EUR?', update: 'set', choices: [{ label: 'Yes', payload: 1 }, { label: 'No' }] }

// A client whose request reached the newer build may reach the older one next, until it is replaced.
const DIRECTIONS: readonly [from: Build, to: Build][] = [
  ['older', 'newer'],
  ['newer', 'older'],
]

describe.each(DIRECTIONS)('from the %s build to the %s one', (one, another) => {
  test('upgrade: the page token of a list continues the list', async ({ replicas }) => {
    const { [one]: from, [another]: to } = replicas
    const prefix = `list-${crypto.randomUUID()}`
    const ids = [1, 2, 3].map((number) => `${prefix}-${number}`)
    for (const workflowId of ids) await from.run('echo', null, { workflowId })
    const filter = `query=${encodeURIComponent(`WorkflowId STARTS_WITH "${prefix}"`)}`
    await until('all are listed', async () => (await from.get(`runs/count?${filter}`)).body.count === ids.length)

    const first = (await from.get(`runs?${filter}&pageSize=2`)).body
    const rest = (await to.get(`runs?${filter}&pageSize=2&pageToken=${encodeURIComponent(first.nextPageToken)}`)).body

    const found = [...first.runs, ...rest.runs].map(({ workflowId }: { workflowId: string }) => workflowId)
    expect([first.runs.length, found.toSorted()]).toEqual([2, ids])
  })

  test('upgrade: the page token of a history continues the history', async ({ replicas }) => {
    const { [one]: from, [another]: to } = replicas
    const { workflowId } = (await from.run('manySteps', { n: 2 })).body
    const path = `${workflowId}/history?pageSize=5`

    const first = (await from.get(path)).body
    const second = (await to.get(`${path}&pageToken=${encodeURIComponent(first.nextPageToken)}`)).body

    const eventIds = [...first.events, ...second.events].map(({ eventId }: { eventId: number }) => eventId)
    expect([first, second].map(({ events }) => events.length > 2)).toEqual([true, true])
    expect(eventIds).toEqual(eventIds.map((_, index) => index + 1))
  })

  test('upgrade: a start that is repeated with its Idempotency-Key returns the same run', async ({ replicas }) => {
    const { [one]: from, [another]: to } = replicas
    const key = { 'Idempotency-Key': crypto.randomUUID() }
    const start = { workflowName: 'messages', input: { first: 1 }, memo: { order: '17' } }

    const started = await from.post('start', start, key)
    const repeated = await to.post('start', start, key)
    const other = await to.post('start', { ...start, input: { first: 2 } }, key)

    const replays = [started, repeated].map(({ headers }) => headers.get('Idempotency-Replayed'))
    expect(replays).toEqual(['false', 'true'])
    expect(repeated.body.runId).toBe(started.body.runId)
    expect([other.status, other.body.error]).toEqual([422, 'IdempotencyKeyReusedError'])
  })

  test('upgrade: messages that are repeated with their Idempotency-Key are delivered once', async ({ replicas }) => {
    const { [one]: from, [another]: to } = replicas
    const { workflowId } = (await from.start('messages')).body
    const key = { 'Idempotency-Key': crypto.randomUUID() }
    const results: unknown[] = []
    for (const replica of [from, to]) {
      results.push((await replica.post(`${workflowId}/update/set`, { payload: 1 }, key)).body)
      await replica.post(`${workflowId}/signal/add`, { payload: 'once' }, key)
    }
    await to.post(`${workflowId}/signal/finish`)

    expect(results).toEqual(Array(2).fill({ before: null, after: 1 }))
    expect((await to.get(`${workflowId}/result?wait=20s`)).body.output).toEqual({ gathered: ['once'], value: 1 })
  })

  test('upgrade: the id of an event continues the history and the wait for a result', async ({ replicas }) => {
    const { [one]: from, [another]: to } = replicas
    const { workflowId, runId } = (await from.run('manySteps', { n: 1 })).body
    const read = (replica: Replica, path: string, lastId = '') =>
      openEvents(`${replica.url}/workflow/${workflowId}/${path}`, {
        headers: { ...HEADERS, Accept: 'text/event-stream', ...(lastId !== '' && { 'Last-Event-ID': lastId }) },
      })
    const history = await read(from, 'history/stream')
    const result = await read(from, 'result?wait=20s')
    const [event, started] = [await history.next('history'), await result.next('started')]
    history.cut()
    result.cut()

    const next = await (await read(to, 'history/stream', event.id)).next('history')
    const ended = await (await read(to, 'result?wait=20s', started.id)).next('result')

    expect([event, next].map(({ data }) => data.eventId)).toEqual([1, 2])
    expect([ended.data.runId, ended.data.output]).toEqual([runId, 1])
  })

  test('upgrade: the id of an item continues the stream', async ({ replicas }) => {
    const { [one]: from, [another]: to } = replicas
    const { workflowId } = (await from.start('streamSignals', {})).body
    const items = ['a', 'b'].map((data) => ({ topic: 'letters', data }))
    await from.post(`${workflowId}/stream`, { items })
    const url = (replica: Replica) => `${replica.url}/workflow/${workflowId}/stream`
    const reader = await openEvents(url(from), { headers: HEADERS })
    const first = await reader.next('item')
    reader.cut()

    const later = await openEvents(url(to), { headers: { ...HEADERS, 'Last-Event-ID': first.id ?? '' } })
    // Without the item, the stream ends instead of waiting for one.
    await to.post(`${workflowId}/signal/finish`)
    const second = await later.next('item')
    later.cut()

    expect([first, second].map(({ data }) => data.data)).toEqual(['a', 'b'])
  })

  test('upgrade: a link opens, is answered once, and stays answered', async ({ replicas }) => {
    const { [one]: from, [another]: to } = replicas
    const { workflowId } = (await from.start('messages')).body
    const { url } = (await from.post(`${workflowId}/links`, QUESTION)).body
    const path = url.slice(PUBLIC_URL.length)
    const JSON_ANSWER = { Accept: 'application/json' }

    const opened = await to.call('GET', path, undefined, JSON_ANSWER)
    const answered = await to.call('POST', path, { choice: 'Yes' }, JSON_ANSWER)
    const second = await from.call('POST', path, { choice: 'No' }, JSON_ANSWER)

    expect([opened.body.title, opened.status, answered.status, second.status]).toEqual([QUESTION.title, 200, 200, 409])
    expect(answered.body.result).toEqual({ before: null, after: 1 })
  })

  test('upgrade: an access token allows what it names', async ({ replicas }) => {
    const { [one]: from, [another]: to } = replicas
    const { workflowId } = (await from.run('echo')).body
    const { token } = (await from.call('POST', '/tokens', { can: ['read'], ids: [workflowId] })).body
    const headers = { Authorization: `Bearer ${token}` }

    const read = await to.get(`${workflowId}/status`, headers)
    const terminated = await to.post(`${workflowId}/terminate`, undefined, headers)

    expect([read.status, terminated.status]).toEqual([200, 403])
  })
})

const TRACED = new URL('../worker/fixtures/traced-workflows.ts', import.meta.url)

test('upgrade: traces of the older worker kit are read as before, archived or not, from each store', async ({
  older: { kit },
  startWorker,
  startReplica,
  client,
  redis,
  s3,
  folder,
}) => {
  const remote = { storage: s3, kvstore: { url: redis.url, token: null } }
  const activities = { thinks: (ms: number) => kit.span('llm', 'think', { ms }, async () => 'thought') }
  const stores = {
    remote: { remote, local: null },
    local: { remote: null, local: { directory: folder, writes: true } },
  }
  const startTraced = (name: keyof typeof stores) => {
    const traces = { ...stores[name], maxBytes: 1 << 20 }
    const plugin = kit.porticoPlugin({ catalog: kit.defineCatalog({ story: {} }), traces }, { archiveEveryMs: 200 })
    const taskQueue = `${name}-${crypto.randomUUID()}`
    return startWorker({ taskQueue, workflowsPath: TRACED, activities, options: { plugins: [plugin] } })
  }
  const [stored, local] = await Promise.all([startTraced('remote'), startTraced('local')])
  const env = {
    ...{ SERVICE_TRACE_REMOTE_ON: 'true', SERVICE_KVSTORE_URL: redis.url, SERVICE_TRACE_LOCAL_DIR: folder },
    ...storageEnv(s3),
  }
  const [before, after] = await Promise.all([startReplica('older', env), startReplica('newer', env)])
  const RUNS = [
    ['remote', stored.taskQueue, 'complete'],
    ['kvstore', stored.taskQueue, 'open'],
    ['local', local.taskQueue, 'complete'],
  ] as const

  for (const [source, taskQueue, end] of RUNS) {
    const workflowId = `traced-${crypto.randomUUID()}`
    await client.workflow.start('story', { workflowId, taskQueue, args: [{ end }] })
    const trace = await until(`the trace comes from ${source}`, async () => {
      const { body } = await before.get(`${workflowId}/trace-log`)
      return body.source === source && JSON.stringify(body).includes('"think"') ? body : null
    })

    expect((await after.get(`${workflowId}/trace-log`)).body).toEqual(trace)
    if (end === 'open') await client.workflow.getHandle(workflowId).terminate()
  }
})
