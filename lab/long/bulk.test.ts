/** A bulk that is finished although its connections break. */
import { connect, createServer } from 'node:net'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type BulkAnswer, type BulkLine, bulk } from '../../src/client/requests/bulk.ts'
import { test } from '../../test/support/fixtures.ts'
import { CALLER_TOKEN } from '../../test/support/policy.ts'

const ANSWERS_PER_CONNECTION = 1500

/** Starts that no worker takes. */
function startsOf(prefix: string, catalog: string, count: number): BulkLine[] {
  return Array.from({ length: count }, (_, index) => ({
    ...{ workflowName: 'nothing', input: index, workflowId: `${prefix}-${index}`, catalog, startDelay: '1h' },
  }))
}

/** A proxy that breaks the first connections with a bulk, each after so many of its answers. */
async function startCuttingProxy(target: string, cuts: number) {
  let [left, cut] = [cuts, 0]
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(target).port), '127.0.0.1')
    let answers = 0
    client.on('error', () => {}).pipe(upstream)
    upstream.on('error', () => {}).pipe(client)
    upstream.on('data', (chunk: Buffer) => {
      answers += chunk.toString('latin1').split('{"index":').length - 1
      if (answers < ANSWERS_PER_CONNECTION || left === 0) return
      ;[left, cut, answers] = [left - 1, cut + 1, 0]
      client.destroy()
      upstream.destroy()
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return { url: `http://127.0.0.1:${port}`, cuts: () => cut, stop: () => server.close() }
}

async function finish(url: string, lines: BulkLine[], key: string) {
  const answers: BulkAnswer[] = []
  for await (const answer of bulk({ url, token: CALLER_TOKEN }, lines, { key })) {
    answers.push(answer)
  }
  return answers.toSorted((one, other) => one.index - other.index)
}

test('a bulk of 10,000 starts whose connection breaks five times starts each of them once', async ({
  startService,
  worker: _,
  catalog,
  client,
  cleanup,
}) => {
  const service = await startService()
  const proxy = await startCuttingProxy(service.url, 5)
  cleanup.defer(async () => void proxy.stop())
  const prefix = `cut-${crypto.randomUUID()}`
  const lines = startsOf(prefix, catalog, 10_000)

  // The bulks that are cut go on with what they have read, and the places in flight may not suffice for all of them.
  const answers = await until(
    'all have started',
    async () => {
      const all = await finish(proxy.url, lines, prefix)
      return all.every(({ status }) => status === 200) && all
    },
    { timeoutMs: 600_000 },
  )

  expect(proxy.cuts()).toBe(5)
  expect(answers.map(({ index, status }) => [index, status])).toEqual(lines.map((_, index) => [index, 200]))
  const listed = () => client.workflow.count(`WorkflowId STARTS_WITH "${prefix}"`)
  await until('all are listed', async () => (await listed()).count === 10_000, { timeoutMs: 60_000 })
})
