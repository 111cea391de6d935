/** Bulks that are read late, or whose connection breaks: docs/api/bulk.md. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { bulkOf, NDJSON, toLines } from '../support/bulk.ts'
import { test } from '../support/fixtures.ts'
import { CALLER_TOKEN } from '../support/policy.ts'

/** A bulk that the test sends in parts. */
function openBulk(url: string, headers: Record<string, string> = {}) {
  const sending = request(`${url}/workflow/bulk`, {
    method: 'POST',
    headers: { ...NDJSON, Authorization: `Basic ${CALLER_TOKEN}`, ...headers },
  })
  // The test breaks some of the connections.
  sending.on('error', () => {})
  return { sending, response: once(sending, 'response').then(([response]) => response as IncomingMessage) }
}

test('bulk: 10,000 lines, of which 6,000 are rejected, are all answered to a client that reads after it has sent them', async ({
  serviceProcess,
}) => {
  const { url, start, post } = serviceProcess
  const { workflowId } = (await start('nothing')).body
  await post(`${workflowId}/terminate`)
  const fields = Array.from({ length: 12 }, (_, index) => [`unknown-${index}-${'x'.repeat(100)}`, 'y'.repeat(200)])
  const rejected = JSON.stringify({ workflowName: 'nothing', input: null, ...Object.fromEntries(fields) })
  const stop = JSON.stringify({ op: 'stop', workflowId, reason: 'z'.repeat(4000) })
  const isStop = (index: number) => index % 5 < 2
  const lines = Array.from({ length: 10_000 }, (_, index) => (isStop(index) ? stop : rejected))

  const { sending, response } = openBulk(url)
  for (const line of lines) if (!sending.write(`${line}\n`)) await once(sending, 'drain')
  sending.end()
  await once(sending, 'finish')
  const received = await text(await response)
  const answers = received.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))

  // More than the buffers of the sockets between the two.
  expect(received.length).toBeGreaterThan(16 << 20)
  expect(answers.pop()).toEqual({ done: true, items: 10_000, succeeded: 4000, failed: 6000 })
  expect(new Set(answers.map(({ index }) => index)).size).toBe(10_000)
  expect(answers.filter(({ index, status }) => status !== (isStop(index) ? 200 : 400))).toEqual([])
})

test('bulk: what has arrived when the connection breaks is carried out, and another replica finishes it with the same key', async ({
  serviceProcess,
  startService,
  client,
}) => {
  const prefix = `bulk-${crypto.randomUUID()}`
  const other = await startService()
  const lines = Array.from({ length: 100 }, (_, index) => ({
    ...{ workflowName: 'nothing', input: index, workflowId: `${prefix}-${index}` },
  }))
  const started = () => client.workflow.count(`WorkflowId STARTS_WITH "${prefix}"`).then(({ count }) => count)

  const { sending, response } = openBulk(serviceProcess.url, { 'Idempotency-Key': prefix })
  // The last one is complete but for its end.
  sending.write(toLines(lines.slice(0, 41)).trimEnd())
  await once(await response, 'readable')
  sending.destroy()
  await until('what has arrived was carried out', async () => (await started()) === 40)
  const { answers, end } = await bulkOf(other, lines, { 'Idempotency-Key': prefix })
  const again = await bulkOf(serviceProcess, lines, { 'Idempotency-Key': prefix })
  await until('all are listed', async () => (await started()) === 100)

  expect(end).toEqual({ done: true, items: 100, succeeded: 100, failed: 0 })
  expect(answers.map(({ replayed }) => replayed)).toEqual(lines.map((_, index) => index < 40))
  expect(again.answers.map(({ body }) => body.runId)).toEqual(answers.map(({ body }) => body.runId))
})

test('bulk: one that arrives slowly may take longer than the body of another request', async ({ serviceProcess }) => {
  const { sending, response } = openBulk(serviceProcess.url)
  const startedAt = performance.now()
  const line = toLines([{ op: 'run' }])

  // Node would end it after 28 s.
  const isLong = () => sending.write(line) && performance.now() - startedAt > 30_000
  await until('it has taken 30 s', isLong, { everyMs: 1000, timeoutMs: 60_000 })
  sending.end()
  const received = await text(await response)

  expect(received).toMatch(/"done":true.*\n$/)
})
