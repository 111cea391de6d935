/** Bulks that are finished although their connections break, and although the engine is killed. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { type RunningEngine, startEngine } from '../../dev/servers/engine.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { ClientOptions } from '../../src/client/index.ts'
import { type BulkAnswer, type BulkLine, bulk } from '../../src/client/requests/bulk.ts'
import { test } from '../../test/support/fixtures.ts'
import { CALLER_TOKEN } from '../../test/support/policy.ts'
import { UNDISTURBED } from '../../test/support/undisturbed.ts'

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

interface Finishing extends Pick<ClientOptions, 'onRetry'> {
  onAnswer?(count: number): void
}

async function finish(url: string, lines: BulkLine[], key: string, options: Finishing = {}) {
  const { onAnswer, onRetry } = options
  const answers: BulkAnswer[] = []
  for await (const answer of bulk({ url, token: CALLER_TOKEN, ...(onRetry && { onRetry }) }, lines, { key })) {
    answers.push(answer)
    onAnswer?.(answers.length)
  }
  return answers.toSorted((one, other) => one.index - other.index)
}

/** The bulks that are cut go on with what they have read, and the places in flight may not suffice for all of them. */
function untilAllStarted(url: string, lines: BulkLine[], key: string) {
  return until(
    'all have started',
    async () => {
      const all = await finish(url, lines, key)
      return all.every(({ status }) => status === 200) && all
    },
    { timeoutMs: 600_000 },
  )
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

  const answers = await untilAllStarted(proxy.url, lines, prefix)

  expect(proxy.cuts()).toBe(5)
  expect(answers.map(({ index, status }) => [index, status])).toEqual(lines.map((_, index) => [index, 200]))
  const listed = () => client.workflow.count(`WorkflowId STARTS_WITH "${prefix}"`)
  await until('all are listed', async () => (await listed()).count === 10_000, { timeoutMs: 60_000 })
})

/** It is away for longer than a request may take, so that some lines are rejected. */
async function killAndRestart(engine: RunningEngine): Promise<void> {
  await engine.kill()
  await sleep(6000)
  await engine.restart()
}

test('a bulk during which the engine is killed is finished with its key, and starts nothing twice', async ({
  startService,
  startWorker,
  cleanup,
}) => {
  // An engine that waits for a busy disk with each write takes the load of no bulk.
  const folder = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'portico-bulk-'))
  cleanup.defer(() => rm(folder, { recursive: true, force: true }))
  const engine = await startEngine({ dbFile: join(folder, 'engine.sqlite'), dynamicConfig: UNDISTURBED })
  cleanup.defer(() => engine.kill())
  const catalog = 'bulk-killed'
  await startWorker({ address: engine.address, taskQueue: catalog })
  const service = await startService({ address: engine.address, catalog, engine: 'disturbed' })
  const lines = startsOf('killed', catalog, 3000)
  let restarted: Promise<unknown> | undefined
  const causes = new Set<unknown>()

  const first = await finish(service.url, lines, 'killed', {
    onAnswer: (count) => {
      if (count === 500) restarted = killAndRestart(engine)
    },
    onRetry: ({ error }) => void causes.add(error.status),
  })
  await restarted
  const answers = await untilAllStarted(service.url, lines, 'killed')

  expect(causes).toEqual(new Set([503]))
  expect(new Set(first.map(({ status }) => status))).toEqual(new Set([200]))
  const runsOf = (all: BulkAnswer[]) => all.map(({ body }) => Object(body).runId)
  expect(runsOf(first)).toEqual(runsOf(answers))
  expect(new Set(runsOf(answers)).size).toBe(3000)
  const listed = () => service.get('runs/count').then(({ body }) => body.count)
  await until('all are listed', async () => (await listed()) === 3000, { timeoutMs: 60_000 })
})
