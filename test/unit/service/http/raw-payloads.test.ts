import { expect, test } from 'vitest'
import { isRawPayload } from '../../../../src/service/model/raw-payload.ts'
import { makeApi } from './api.ts'

const BYTES = { metadata: { encoding: 'binary/plain' }, data: 'AQI=' }
const NULL = { metadata: { encoding: 'binary/null' } }

function makeStartApi() {
  const sent: unknown[][] = []
  const { call } = makeApi({
    workflows: {
      start: async ({ args }) => {
        sent.push(args)
        return { workflowId: 'w', runId: 'r' }
      },
      query: async ({ message }) => {
        sent.push(message.args)
        return null
      },
      completeActivity: async ({ ref: { workflowId }, activityId, output }) => {
        sent.push([output])
        return { workflowId, runId: 'r', activityId, isRepeated: false }
      },
    },
  })
  return {
    sent,
    start: (payloads: unknown, more: object = {}) =>
      call('POST', '/workflow/start', { workflowName: 'greet', payloads, ...more }),
    query: (body: object) => call('POST', '/workflow/w/query/q', body),
    complete: (body: object) => call('POST', '/workflow/w/activities/a/complete', body),
  }
}

test('payloads: are the arguments, one for each', async () => {
  const { sent, start, query, complete } = makeStartApi()

  const responses = [
    await start([BYTES, NULL, { metadata: { encoding: 'x', own: 'y' }, value: null }]),
    await start([]),
    await query({ payloads: [BYTES] }),
    await complete({ payloads: [BYTES] }),
  ]

  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(sent.map((values) => values.map(isRawPayload))).toEqual([[true, true, true], [], [true], [true]])
})

test('payloads: what is not a payload is an issue at its place', async () => {
  const { start, query, complete } = makeStartApi()
  const rows: [Promise<Response>, string][] = [
    [start({}), '/payloads must be an array, not an object'],
    [start([7]), '/payloads/0 must be an object, not a number'],
    [start([{}]), '/payloads/0/metadata is required'],
    [start([{ metadata: {} }]), '/payloads/0/metadata/encoding is required'],
    [start([{ metadata: { encoding: '' } }]), '/payloads/0/metadata/encoding must not be empty'],
    [start([{ metadata: { encoding: 'x', n: 7 } }]), '/payloads/0/metadata/n must be a string, not a number'],
    [start([{ ...BYTES, data: '?' }]), '/payloads/0/data must be base64'],
    [start([{ ...BYTES, value: 7 }]), '/payloads/0 must not contain both value and data'],
    [start([{ ...BYTES, name: 7 }]), '/payloads/0/name is not a known field'],
    [start([BYTES], { input: 7 }), 'The body must contain either input (one argument)'],
    [query({ payloads: [BYTES], payload: 1 }), 'The body must contain only one of payload, args and payloads'],
    [complete({ payloads: [BYTES], output: 1 }), 'The body must not contain both output and payloads'],
    [complete({ payloads: [BYTES, BYTES] }), '/payloads must have at most one item'],
  ]

  for (const [response, message] of rows) {
    const { status, json } = { status: (await response).status, json: await (await response).json() }
    expect([status, json.message]).toEqual([400, expect.stringContaining(message)])
  }
})
