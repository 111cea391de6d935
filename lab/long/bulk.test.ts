/** Bulks that are finished although their connections break, and although the engine dies. */
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type RunningEngine, startEngine } from '../../dev/servers/engine.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type BulkAnswer, type BulkLine, bulk } from '../../src/client/requests/bulk.ts'
import { test as sharedTest } from '../../test/support/fixtures.ts'
import { CALLER_TOKEN } from '../../test/support/policy.ts'
import { UNDISTURBED } from '../../test/support/undisturbed.ts'

const ANSWERS_PER_CONNECTION = 1500

const test = sharedTest.extend('engine', { scope: 'file' }, async ({ cleanup }): Promise<RunningEngine> => {
  const folder = await mkdtemp(join(tmpdir(), 'portico-bulk-'))
  cleanup.defer(() => rm(folder, { recursive: true, force: true }))
  const engine = await startEngine({ dbFile: join(folder, 'engine.sqlite'), dynamicConfig: UNDISTURBED })
  cleanup.defer(() => engine.kill())
  return engine
})

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

async function finish(url: string, lines: BulkLine[], key: string, onAnswer?: (count: number) => void) {
  const answers: BulkAnswer[] = []
  for await (const answer of bulk({ url, token: CALLER_TOKEN }, lines, { key })) {
    answers.push(answer)
    onAnswer?.(answers.length)
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

  const answers = await finish(proxy.url, lines, prefix)
  const repeated = await finish(service.url, lines, prefix)

  expect(proxy.cuts()).toBe(5)
  expect(answers.map(({ index, status }) => [index, status])).toEqual(lines.map((_, index) => [index, 200]))
  expect(repeated.map(({ body }) => Object(body).runId)).toEqual(answers.map(({ body }) => Object(body).runId))
  const listed = () => client.workflow.count(`WorkflowId STARTS_WITH "${prefix}"`)
  await until('all are listed', async () => (await listed()).count === 10_000, { timeoutMs: 60_000 })
})

test('a bulk during which the engine is killed is finished with its key, and starts nothing twice', async ({
  startService,
  worker: _,
  engine,
  catalog,
  client,
}) => {
  const service = await startService({ engine: 'disturbed' })
  const prefix = `killed-${crypto.randomUUID()}`
  const lines = startsOf(prefix, catalog, 2000)
  let restarting: Promise<unknown> | undefined

  const first = await finish(service.url, lines, prefix, (count) => {
    if (count === 500) restarting = engine.kill().then(() => engine.restart())
  })
  await restarting
  const answers = await until(
    'all have started',
    async () => {
      const again = await finish(service.url, lines, prefix)
      return again.every(({ status }) => status === 200) && again
    },
    { timeoutMs: 120_000 },
  )

  const failed = first.filter(({ status }) => status !== 200)
  expect(failed.length).toBeGreaterThan(0)
  expect(new Set(failed.map(({ status }) => status))).toEqual(new Set([503]))
  for (const { index, status, body } of first)
    if (status === 200) expect(Object(answers[index]?.body).runId).toBe(Object(body).runId)
  const listed = () => client.workflow.count(`WorkflowId STARTS_WITH "${prefix}"`)
  await until('all are listed', async () => (await listed()).count === 2000, { timeoutMs: 60_000 })
})
