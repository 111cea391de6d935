/** What the client sends of a bulk, and when it sends lines again; the command line uses it with a real service. */
import { expect, onTestFinished, test, vi } from 'vitest'
import type { ClientOptions } from '../../../src/client/index.ts'
import {
  type BulkAnswer,
  type BulkLine,
  type BulkOptions,
  bulk,
  IncompleteBulkError,
} from '../../../src/client/requests/bulk.ts'

const LINES: BulkLine[] = [
  { workflowName: 'order', input: 2n ** 60n },
  { op: 'signal', workflowId: 'w', runId: 'r', name: 'n', key: 'own' },
  { op: 'stop', workflowId: 'w', runId: 'r' },
]

const END = '{"done":true}\n'
const answer = (index: number, body: unknown = null, status = 200) => `${JSON.stringify({ index, status, body })}\n`
const rejection = (index: number, error: string, status: number) => answer(index, { error, message: 'no' }, status)

interface Sent {
  url: string
  headers: Headers
  lines: unknown[]
}

/** A service that responds with these texts, one for each request. Without `done` the connection breaks after it. */
function serviceOf(...responses: (string | number)[]) {
  const sent: Sent[] = []
  const fetch: ClientOptions['fetch'] = async (url, { headers, body }) => {
    const text = String(body)
    sent.push({ url, headers: new Headers(headers), lines: text.split('\n').map((line) => JSON.parse(line)) })
    const response = responses.shift() ?? 503
    if (typeof response === 'number') {
      const problem = { error: 'ServiceError', message: 'no', status: response }
      return new Response(JSON.stringify(problem), {
        status: response,
        headers: { 'Content-Type': 'application/problem+json' },
      })
    }
    const parts = response.match(/.{1,7}/gs) ?? []
    const stream = new ReadableStream({
      pull(controller) {
        const part = parts.shift()
        if (part !== undefined) controller.enqueue(new TextEncoder().encode(part))
        else if (response.endsWith(END)) controller.close()
        else controller.error(new TypeError('reset'))
      },
    })
    return new Response(stream, { headers: { 'Content-Type': 'application/x-ndjson' } })
  }
  return { sent, options: { url: 'http://portico.test', token: 'secret', namespace: 'a', fetch, retryMs: 500 } }
}

async function all(options: ClientOptions, given: BulkOptions = {}, lines: Iterable<BulkLine> = LINES) {
  const answers: BulkAnswer[] = []
  for await (const one of bulk(options, lines, given)) answers.push(one)
  return answers
}

test('the client: a bulk has a line for each request, with the key of its place, and yields its answers as they come', async () => {
  const { sent, options } = serviceOf(
    answer(2) + answer(0, { big: 1 }).replace('1}', `${2n ** 60n}}`) + answer(1) + END,
  )

  const answers = await all({ ...options, catalog: 'orders' }, { key: 'k' })

  expect(answers.map(({ index }) => index)).toEqual([2, 0, 1])
  expect(answers[1]?.body).toEqual({ big: 2n ** 60n })
  expect(
    sent.map(({ url, headers, lines }) => [url, headers.get('Authorization'), headers.get('Content-Type'), lines]),
  ).toEqual([
    [
      'http://portico.test/namespaces/a/workflow/bulk',
      'Bearer secret',
      'application/x-ndjson',
      [
        { catalog: 'orders', key: 'k:0', workflowName: 'order', input: Number(2n ** 60n) },
        { key: 'own', op: 'signal', workflowId: 'w', runId: 'r', name: 'n' },
        { op: 'stop', workflowId: 'w', runId: 'r' },
      ],
    ],
  ])
})

test('the client: a bulk whose connection breaks sends the lines without an answer again, with their keys', async () => {
  const { sent, options } = serviceOf(answer(1), 503, `${answer(1)}{"index":0,`, answer(0) + END)

  const answers = await all(options, { key: 'k' })

  expect(answers.map(({ index }) => index)).toEqual([1, 2, 0])
  expect(sent.map(({ lines }) => lines.map((line) => Object(line).key ?? Object(line).op))).toEqual([
    ['k:0', 'own', 'stop'],
    ['k:0', 'stop'],
    ['k:0', 'stop'],
    ['k:0'],
  ])
})

test('the client: lines of a broken bulk that could reach a later run are not sent again, but those of a rejected one are', async () => {
  const run = { workflowId: 'w', runId: 'r' }
  const once: BulkLine[] = [
    { op: 'terminate', ...run },
    { op: 'stop', workflowId: 'w' },
    { op: 'signal', workflowId: 'w', name: 'n' },
    { op: 'signal-with-start', workflowId: 'w', name: 'n', workflowName: 'order' },
  ]
  const repeated: BulkLine[] = [{ op: 'signal-with-start', name: 'n', workflowName: 'order' }, ...LINES]
  const { sent, options } = serviceOf(429, answer(1), answer(0) + answer(1) + answer(2) + answer(3) + END)

  const error = await all(options, { key: 'k' }, [...once, ...repeated]).catch((reason) => reason)

  expect(sent.map(({ lines }) => lines.length)).toEqual([8, 8, 4])
  expect(sent[2]?.lines.map((line) => Object(line).key ?? Object(line).op)).toEqual(['k:4', 'k:5', 'own', 'stop'])
  expect(error).toMatchObject({ name: 'IncompleteBulkError', lines: [0, 2, 3], cause: { error: 'ConnectionError' } })
})

test('the client: a member of a line that is undefined takes neither its key nor its catalog', async () => {
  const { sent, options } = serviceOf(answer(0) + END)

  await all({ ...options, catalog: 'orders' }, { key: 'k' }, [
    { workflowName: 'order', key: undefined, catalog: undefined },
  ])

  expect(sent[0]?.lines).toEqual([{ workflowName: 'order', key: 'k:0', catalog: 'orders' }])
})

test('the client: lines that are rejected for now are sent again after a pause, and end with their last answer', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const lines: BulkLine[] = [
    { op: 'terminate', workflowId: 'w' },
    { op: 'signal', workflowId: 'w', name: 'n' },
    { workflowName: 'order' },
    ...Array.from({ length: 60 }, (): BulkLine => ({ op: 'stop', workflowId: 'w' })),
  ]
  const overloaded = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => rejection(from + index, 'OverloadedError', 503)).join('')
  const unavailable = (index: number) => rejection(index, 'EngineUnavailableError', 503)
  const { sent, options } = serviceOf(
    rejection(0, 'TooManyRequestsError', 429) + unavailable(1) + unavailable(2) + answer(3) + overloaded(4, 63) + END,
    answer(0) + answer(1) + overloaded(2, 36) + END,
    overloaded(0, 36) + END,
    overloaded(0, 32) + END,
  )
  const pauses: number[] = []
  const onRetry: ClientOptions['onRetry'] = ({ delayMs }) => {
    pauses.push(delayMs)
    queueMicrotask(() => vi.advanceTimersByTime(delayMs))
  }

  const answers = await all({ ...options, onRetry, retryMs: 2500 }, { key: 'k' }, lines)

  expect(sent.map((one) => one.lines.length)).toEqual([63, 36, 36, 32])
  expect(pauses).toEqual([1000, 1000, 1000])
  const ended = answers.map(({ index, status }) => [index, status])
  expect(ended.slice(0, 4)).toEqual([
    [1, 503],
    [3, 200],
    [0, 200],
    [2, 200],
  ])
  expect(ended.toSorted(([one = 0], [other = 0]) => one - other).slice(4)).toEqual(
    lines.slice(4).map((_, index) => [index + 4, 503]),
  )
})

test('the client: a bulk without all answers ends with its key, and one that is rejected with the error', async () => {
  const broken = serviceOf(answer(0), ...Array.from({ length: 20 }, () => 503))
  const denied = serviceOf(401)
  const later = serviceOf(answer(0), 401)

  const error = await all(broken.options, { key: 'k' }).catch((reason) => reason)

  expect(error).toBeInstanceOf(IncompleteBulkError)
  expect(error).toMatchObject({ key: 'k', missing: 2, lines: [1, 2], cause: { status: 503 } })
  await expect(all(denied.options)).rejects.toMatchObject({ name: 'ServiceError', status: 401 })
  await expect(all(later.options)).rejects.toMatchObject({ name: 'IncompleteBulkError', cause: { status: 401 } })
})

test('the client: more lines than a bulk may have are several, and a caller can leave', async () => {
  const many = Array.from({ length: 10_001 }, (): BulkLine => ({ op: 'stop', workflowId: 'w' }))
  const { sent, options } = serviceOf(
    many
      .slice(1)
      .map((_, index) => answer(index))
      .join('') + END,
    answer(0) + END,
  )
  const stopping = new AbortController()
  const hanging = serviceOf(answer(0) + answer(1))

  const answers = await all(options, {}, many)
  const left = all(hanging.options, { signal: stopping.signal })
  stopping.abort(new Error('enough'))

  expect(answers.map(({ index }) => index)).toEqual(many.map((_, index) => index))
  expect(sent.map(({ lines }) => lines.length)).toEqual([10_000, 1])
  await expect(left).rejects.toThrow('enough')
})
