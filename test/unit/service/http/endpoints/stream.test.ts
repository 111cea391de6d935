/** What the requests for a stream mean, and which are rejected. */
import { expect, test } from 'vitest'
import { rejection, running } from '../api.ts'
import { JSON_ONLY, makeStreams, PATH, RUN_ID } from './stream-api.ts'

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
