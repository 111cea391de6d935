import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Api } from '../../support/api.ts'
import { bulkOf, toLines } from '../../support/bulk.ts'
import { type ApiFixture, AUTHORIZED, anId } from './api-fixture.ts'

/** `POST /workflow/bulk`. */
export function bulk(api: () => ApiFixture): void {
  test('bulk: each operation is answered as its single request is', async () => {
    const { service } = api()
    const [one, two] = [await startAll(service), await startAll(service)]

    const { answers, end } = await bulkOf(
      service,
      operations(one).map(({ line }) => line),
    )
    const singles = []
    for (const { request } of operations(two)) singles.push(await service.call(...request))

    expect(
      answers.map(({ status, started, replayed, body }) => ({ status, started, replayed, body: general(body) })),
    ).toEqual(
      singles.map(({ status, headers, body }) => ({
        status,
        started: flag(headers, 'Portico-Started'),
        replayed: flag(headers, 'Idempotency-Replayed'),
        body: general(body),
      })),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 409, 404, 424, 409, 501])
    expect(end).toEqual({ done: true, items: 11, succeeded: 6, failed: 5 })
    await Promise.all(
      [one, two].flatMap((runs) => Object.values(runs).map((run) => terminate(service, run.workflowId))),
    )
  })

  test('bulk: repeated with its key it starts nothing twice, and a line is a single request with the same key', async () => {
    const { service } = api()
    const key = anId()
    const line = (input: number, more: object = {}) => ({ workflowName: 'waitForSignal', input, ...more })
    const lines = [
      line(0),
      line(1),
      line(2, { key: `${key}-own` }),
      line(2, { key: `${key}-own` }),
      line(9, { key: `${key}:1` }),
    ]

    const first = await bulkOf(service, lines, { 'Idempotency-Key': key })
    const again = await bulkOf(service, lines, { 'Idempotency-Key': key })
    const moved = await bulkOf(service, [lines[1], lines[0]], { 'Idempotency-Key': key })
    const single = await service.post('start', line(1), { 'Idempotency-Key': `${key}:1` })
    const runs = [first, again].map(({ answers }) => answers.map(({ body }) => body.runId))

    const statuses = [first, again, moved].map(({ answers }) => answers.map(({ status }) => status))
    expect(statuses[0]?.slice(0, 4).filter((status) => status === 200).length).toBeGreaterThanOrEqual(3)
    // The two lines with the key of the second one compete.
    expect([statuses[0]?.[1], statuses[0]?.[4]].toSorted()).toEqual([200, 422])
    expect(statuses.slice(1)).toEqual([statuses[0], [422, 422]])
    expect(runs[1]).toEqual(runs[0])
    expect(new Set(runs[0]).size).toBe(3)
    expect(again.answers.map(({ replayed }) => replayed)).toEqual(statuses[0]?.map((status) => status === 200))
    if (statuses[0]?.[1] === 200) expect(single.body).toEqual(first.answers[1]?.body)
    await Promise.all(
      [...new Set(first.answers.map(({ body }) => body.workflowId))].map((id) => terminate(service, id)),
    )
  })

  test('bulk: interrupted half way and sent again with its key, it has started everything once', async () => {
    const { service } = api()
    const prefix = anId()
    const lines = Array.from({ length: 60 }, (_, index) => ({
      ...{ workflowName: 'nothing', input: null, workflowId: `${prefix}-${index}` },
    }))

    const seen = await interrupted(service.url, lines, { 'Idempotency-Key': prefix }, 10)
    const { answers, end } = await bulkOf(service, lines, { 'Idempotency-Key': prefix })
    const counted = () => service.get(`runs/count?query=${encodeURIComponent(`WorkflowId STARTS_WITH "${prefix}"`)}`)

    expect(end).toEqual({ done: true, items: 60, succeeded: 60, failed: 0 })
    expect(seen.length).toBeGreaterThanOrEqual(10)
    for (const { index, body } of seen)
      expect(answers[index]).toMatchObject({ replayed: true, body: { runId: body.runId } })
    await until('all runs are listed', async () => (await counted()).body.count === 60)
  })

  test('bulk: is rejected as a whole only before its first line', async () => {
    const { service } = api()
    const statusOf = async (body: string, headers: Record<string, string>) => {
      const answer = await service.post('bulk', body, { 'Content-Type': 'application/x-ndjson', ...headers })
      return [answer.status, answer.body?.error]
    }
    const line = toLines([{ op: 'stop', workflowId: anId() }])

    expect(await statusOf(line, { Authorization: 'Basic wrong' })).toEqual([401, 'UnauthorizedError'])
    expect(await statusOf(line, { 'Content-Type': 'application/json' })).toEqual([415, 'UnsupportedMediaTypeError'])
    expect(await statusOf('\n', {})).toEqual([400, 'ValidationError'])
    expect(await statusOf(line, { 'Idempotency-Key': 'k'.repeat(241) })).toEqual([400, 'ValidationError'])
    expect(await statusOf(line, {})).toEqual([200, undefined])
  })
}

interface Runs {
  open: { workflowId: string; runId: string }
  other: { workflowId: string; runId: string }
  closed: { workflowId: string; runId: string }
}

async function startAll(service: Api): Promise<Runs> {
  const started = await Promise.all(['neverEnds', 'neverEnds', 'neverEnds'].map((name) => service.start(name)))
  const [open, other, closed] = started.map(({ body }) => body)
  await terminate(service, closed.workflowId)
  return { open, other, closed }
}

const terminate = (service: Api, id: string) => service.post(`${id}/terminate`)

type Request = Parameters<Api['call']>

/** Lines, and the single requests that they stand for. */
function operations({ open, other, closed }: Runs): { line: object; request: Request }[] {
  const post = (path: string, body?: object, headers?: Record<string, string>): Request => [
    'POST',
    `/workflow/${path}`,
    body,
    headers,
  ]
  const key = anId()
  const start = { workflowName: 'nothing', input: { exact: 1 } }
  const existing = { workflowName: 'neverEnds', input: null, workflowId: open.workflowId }
  const used = { ...existing, workflowIdConflictPolicy: 'use-existing' }
  const unknown = anId()
  return [
    { line: { ...start, key }, request: post('start', start, { 'Idempotency-Key': key.replace('api', 'single') }) },
    { line: { op: 'start', ...used }, request: post('start', used) },
    {
      line: { op: 'signal', workflowId: open.workflowId, runId: open.runId, name: 'any', payload: 1 },
      request: post(`${open.workflowId}/runs/${open.runId}/signal/any`, { payload: 1 }),
    },
    {
      line: { op: 'signal-with-start', name: 'any', ...existing },
      request: post('signal-with-start/any', existing),
    },
    {
      line: { op: 'stop', workflowId: other.workflowId, reason: 'sold out' },
      request: ['PATCH', `/workflow/${other.workflowId}/stop`, { reason: 'sold out' }],
    },
    { line: { op: 'stop', workflowId: closed.workflowId }, request: ['PATCH', `/workflow/${closed.workflowId}/stop`] },
    { line: existing, request: post('start', existing) },
    { line: { op: 'signal', workflowId: unknown, name: 'any' }, request: post(`${unknown}/signal/any`) },
    {
      line: { workflowName: 'unknown', input: null },
      request: post('start', { workflowName: 'unknown', input: null }),
    },
    { line: { op: 'terminate', workflowId: closed.workflowId }, request: post(`${closed.workflowId}/terminate`) },
    {
      line: { op: 'terminate', workflowId: open.workflowId, key },
      request: post(`${open.workflowId}/terminate`, undefined, { 'Idempotency-Key': key }),
    },
  ]
}

/** The body without what no two requests have in common. */
function general(body: unknown): unknown {
  const text = JSON.stringify(body).replaceAll(
    /(?:api-test-|key-)?[\da-f]{8}-?[\da-f]{4}-?[\da-f]{4}-?[\da-f]{4}-?[\da-f]{12}/g,
    '<id>',
  )
  return { ...JSON.parse(text), requestId: undefined }
}

function flag(headers: Headers, name: string): boolean | undefined {
  const value = headers.get(name)
  return value === null ? undefined : value === 'true'
}

/** Sends a bulk without its end, and closes the connection after so many answers. Returns those that have arrived. */
async function interrupted(url: string, lines: readonly object[], headers: Record<string, string>, answers: number) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  const head = { Host: 'localhost', ...AUTHORIZED, 'Content-Type': 'application/x-ndjson', ...headers }
  const text = toLines(lines)
  socket.write(
    `POST /workflow/bulk HTTP/1.1\r\n${Object.entries({ ...head, 'Content-Length': 1_000_000 })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n${text}`,
  )
  let received = ''
  for await (const chunk of socket) {
    received += chunk
    if (received.split('{"index":').length > answers) break
  }
  socket.destroy()
  return [...received.matchAll(/^(\{"index":.*\})\r?$/gm)].map(([, line = '']) => JSON.parse(line))
}
