/** What the requests for a stream mean, and which are rejected. */
import { expect, test } from 'vitest'
import { rejection, running } from '../api.ts'
import { JSON_ONLY, makeStreams, NEXT_ID, PATH, PINNED, RUN_ID } from './stream-api.ts'

test.each([
  [undefined, 'text/event-stream'],
  ['*/*', 'text/event-stream'],
  ['text/event-stream', 'text/event-stream'],
  ['text/event-stream, application/json', 'text/event-stream'],
  ['text/html', 'text/event-stream'],
  ['application/json', 'application/json'],
  ['application/json, */*;q=0.1', 'application/json'],
  ['application/json, text/event-stream;q=0.5', 'application/json'],
])('Accept %s gets %s', async (accept, expected) => {
  const { call } = makeStreams()

  const { headers } = await call('GET', PATH, undefined, accept === undefined ? {} : { Accept: accept })

  expect(headers.get('Content-Type')).toBe(expected)
})

test('events: the parameters become a command', async () => {
  const { call, followed } = makeStreams()
  const position = { runId: NEXT_ID, last: 7 }
  const id = encodeURIComponent(`${NEXT_ID.toUpperCase()}@7`)

  await call('GET', PATH)
  await call('GET', `${PATH}?topic=a&topic=b%26c&from=17`)
  await call('GET', `${PATH}?from=now`)
  await call('GET', `${PATH}?from=${id}`)
  await call('GET', `${PATH}?from=3`, undefined, { 'Last-Event-ID': `${NEXT_ID}@7` })
  await call('GET', PATH, undefined, { 'Last-Event-ID': '' })
  await call('GET', PINNED)

  const base = { ref: { workflowId: 'w' }, from: 0, topics: [], followsChain: true }
  expect(followed).toEqual([
    base,
    { ...base, topics: ['a', 'b&c'], from: 17 },
    { ...base, from: 'now' },
    { ...base, from: position },
    { ...base, from: position },
    base,
    { ...base, ref: { workflowId: 'w', runId: RUN_ID }, followsChain: false },
  ])
})

test('JSON: waits in milliseconds, and for 1000 items by default', async () => {
  const { call, read } = makeStreams()

  const { status, headers } = await call('GET', PATH, undefined, JSON_ONLY)
  await call('GET', `${PATH}?wait=1.5s&limit=7&topic=a`, undefined, JSON_ONLY)
  await call('GET', `${PATH}?wait=60s&limit=1`, undefined, JSON_ONLY)

  const base = { ref: { workflowId: 'w' }, from: 0, topics: [], followsChain: true }
  expect([status, headers.get('Content-Type')]).toEqual([200, 'application/json'])
  expect(read).toEqual([
    { ...base, waitMs: 0, maxItems: 1000 },
    { ...base, topics: ['a'], waitMs: 1500, maxItems: 7 },
    { ...base, waitMs: 60_000, maxItems: 1 },
  ])
})

test.each([
  ['?from=yesterday', '/from'],
  ['?from=-1', '/from'],
  ['?from=1&from=2', '/from'],
  ['?topic[]=a&topic[]=b', '/topic[]'],
  ['?topic[0]=a', '/topic[0]'],
  ['?topic=', '/topic/0'],
  ['?limit=0', '/limit'],
  ['?limit=1001', '/limit'],
  ['?wait=61s', '/wait'],
  ['?offset=3', '/offset'],
])('JSON: %s is rejected, and no verb is called', async (parameters, path) => {
  const { call, read } = makeStreams()

  const response = await call('GET', `${PATH}${parameters}`, undefined, JSON_ONLY)
  const { error, issues } = await response.json()

  expect([response.status, error]).toEqual([400, 'ValidationError'])
  expect(JSON.stringify(issues ?? [])).toContain(path)
  expect(read).toEqual([])
})

test.each([
  ['?wait=1s', {}],
  ['?limit=7', {}],
  ['', { 'Last-Event-ID': 'x' }],
  ['', { 'Last-Event-ID': '7' }],
])('events: %s with %o is rejected', async (parameters, headers) => {
  const { call, followed } = makeStreams()

  expect(await rejection(await call('GET', `${PATH}${parameters}`, undefined, headers))).toEqual([
    400,
    'ValidationError',
  ])
  expect(followed).toEqual([])
})

test('a client that has received the last event gets 204', async () => {
  const { call, followed } = makeStreams([], {
    async followStream(command) {
      followed.push(command)
      return null
    },
  })

  const response = await call('GET', PATH, undefined, { 'Last-Event-ID': `${RUN_ID}@end` })

  expect([response.status, await response.text()]).toEqual([204, ''])
  expect(followed).toMatchObject([{ from: { runId: RUN_ID, last: 'end' } }])
})

test.each([
  ['events', {}, 'text/event-stream'],
  ['JSON', JSON_ONLY, 'application/json'],
])('HEAD as %s only reads the status of the run', async (_, headers, type) => {
  const refs: unknown[] = []
  const { call, followed, read } = makeStreams([], {
    async status({ ref }) {
      refs.push(ref)
      return running
    },
  })

  const response = await call('HEAD', PATH, undefined, headers)

  expect([response.status, response.headers.get('Content-Type'), response.body]).toEqual([200, type, null])
  expect(refs).toEqual([{ workflowId: 'w' }])
  expect([followed, read]).toEqual([[], []])
})
