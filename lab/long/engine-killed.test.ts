/** The engine dies under load and comes back with its data; the service lives on. */

import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { expect } from 'vitest'
import { type RunningEngine, startEngine } from '../../dev/servers/engine.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import {
  CATALOG_ENDPOINTS,
  callEach,
  type EndpointAnswer,
  runEndpoints,
  toStatusLines,
} from '../../test/faults/endpoints.ts'
import type { Answer } from '../../test/support/api.ts'
import { type InProcessService, test } from '../../test/support/fixtures.ts'
import { parseMetrics, sumOf } from '../../test/support/prometheus.ts'
import { promisedError, promisedMs } from '../../test/support/promises.ts'
import { testCatalog } from '../../test/support/test-catalog.ts'
import { UNDISTURBED } from '../../test/support/undisturbed.ts'
import { undisturbedClock } from './idle-clock.ts'
import { runningMs } from './running-ms.ts'
import { whenInTime } from './when-in-time.ts'

const CATALOG = 'killed'
const WAITING = 8
const START_EVERY_MS = 200

// An engine that waits for a busy disk with each write can't be put under load:
// where there is one, a file in memory outlives it as well.
const FOLDERS = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

interface Seen {
  /** Sent in the moment of the crash, and again when nothing of the catalog is remembered any more. */
  atOnce: EndpointAnswer[]
  later: EndpointAnswer[]
  /** How long the slower of the two took. */
  answeredMs: number
  health: Answer
  unready: Answer
  unreadyAfterMs: number
  /** Calls of the engine that were counted as UNAVAILABLE while it was away. */
  callsUnavailable: number
  wellAfterMs: number
  /** Of `run`s that were waiting when it happened. */
  waited: Answer[]
  /** Of an update that was at work. */
  message: Answer
  /** Of the starts that continued all the time. */
  started: { workflowId: string; answer: Answer; ms: number }[]
  /** `workflowId runId`, as the engine has them in the end. */
  listed: string[]
}

let engine: RunningEngine
let service: InProcessService
let load: NodeJS.Timeout | undefined
let seen: Seen

test.beforeAll(async ({ startWorker, serve, cleanup }) => {
  const folder = await mkdtemp(join(FOLDERS, 'portico-killed-'))
  cleanup.defer(() => rm(folder, { recursive: true, force: true }))
  engine = await startEngine({ dbFile: join(folder, 'engine.sqlite'), dynamicConfig: UNDISTURBED })
  cleanup.defer(() => engine.kill())
  const { address } = engine
  service = serve({
    ENGINE_ADDRESS: address,
    SERVICE_CATALOG_ID: CATALOG,
    SERVICE_CATALOG_TTL: '1s',
    SERVICE_METRICS_ON: 'true',
  })
  await startWorker({ address, taskQueue: CATALOG, catalog: testCatalog })
  cleanup.defer(() => clearInterval(load))
  await until('the catalog is published', async () => (await service.get('catalog')).status === 200)
  seen = await killAndRestart()
})

async function killAndRestart(): Promise<Seen> {
  const target = (await service.start('neverEnds')).body
  const waitingIds = Array.from({ length: WAITING }, (_, number) => `waiting-${number}`)
  const waiting = waitingIds.map((workflowId) => service.run('waitForSignal', null, { timeout: '10m', workflowId }))
  await service.start('messages', null, { workflowId: 'busy' })
  const message = service.post('busy/update/wait', { payload: 600_000 })
  await until(
    'all of them run, and the update is at work',
    async () => {
      const answers = await Promise.all(['busy', ...waitingIds].map((id) => service.get(`${id}/status`)))
      return answers.every(({ body }) => body.historyLength >= (body.workflowId === 'busy' ? 6 : 4))
    },
    { everyMs: 100 },
  )

  const started = keepStarting()
  await until('there is a load', async () => (await service.get('load-5/status')).status === 200)
  await engine.kill()
  const killedAt = runningMs()
  const missed = until('it is not ready', async () => {
    const unready = await service.call('GET', '/ready')
    return unready.status !== 200 && { unready, unreadyAfterMs: runningMs() - killedAt }
  })
  const [atOnce, health] = await Promise.all([callEach(service, runEndpoints(target)), service.call('GET', '/health')])
  const atOnceMs = runningMs() - killedAt
  const { unready, unreadyAfterMs } = await missed
  const sentAt = runningMs()
  const later = await callEach(service, [...runEndpoints(target), ...CATALOG_ENDPOINTS])
  const answeredMs = Math.max(atOnceMs, runningMs() - sentAt)
  const samples = parseMetrics((await service.call('GET', '/metrics')).text)
  const code = { rpc_response_status_code: 'UNAVAILABLE' }
  const callsUnavailable = sumOf(samples, 'rpc_client_call_duration_seconds_count', code)

  engine = await engine.restart()
  const backAt = runningMs()
  const passedMs = undisturbedClock(engine)
  const wellAfterMs = await until('all is well', async () => {
    const sentAfterMs = Math.min(runningMs() - backAt, passedMs())
    const answers = await Promise.all([
      service.call('GET', '/ready'),
      service.get(`${target.workflowId}/status`),
      service.get('catalog'),
      service.post(`${target.workflowId}/signal/add`),
      service.start('nothing'),
    ])
    if (answers.some(({ status }) => status !== 200)) throw new Error(answers.map(({ text }) => text).join())
    return sentAfterMs
  })

  clearInterval(load)
  const finish = (id: string) => service.post(`${id}/signal/finish`, { payload: id })
  await Promise.all(waitingIds.map((id) => whenInTime(`${id} is signaled`, () => finish(id))))
  const answers = { waited: await Promise.all(waiting), message: await message, started: await Promise.all(started) }
  return {
    atOnce,
    later,
    answeredMs,
    health,
    unready,
    unreadyAfterMs,
    callsUnavailable,
    wellAfterMs,
    ...answers,
    listed: await listed(acknowledged(answers)),
  }
}

/** One start after the other, until `load` is cleared. */
function keepStarting(): Promise<Seen['started'][number]>[] {
  const started: Promise<Seen['started'][number]>[] = []
  load = setInterval(() => {
    const workflowId = `load-${started.length}`
    const sentAt = runningMs()
    const sent = service.start('nothing', null, { workflowId })
    started.push(sent.then((answer) => ({ workflowId, answer, ms: runningMs() - sentAt })))
  }, START_EVERY_MS)
  return started
}

/** `workflowId runId` of the runs whose client got a 200. */
function acknowledged({ waited, started }: Pick<Seen, 'waited' | 'started'>): string[] {
  return [...waited, ...started.map(({ answer }) => answer)]
    .filter(({ status }) => status === 200)
    .map(({ body }) => `${body.workflowId} ${body.runId}`)
}

/** The list lags behind by some milliseconds, by a different time for each run. */
async function listed(expected: string[]): Promise<string[]> {
  const connection = await Connection.connect({ address: engine.address })
  const { workflow } = new Client({ connection })
  const read = async () => {
    const runs: string[] = []
    for await (const { workflowId, runId } of workflow.list({ query: `TaskQueue = '${CATALOG}'` }))
      if (/^(?:load|waiting)-/.test(workflowId)) runs.push(`${workflowId} ${runId}`)
    return runs
  }
  try {
    return await until('the list has all acknowledged runs', async () => {
      const runs = await read()
      expect(runs).toEqual(expect.arrayContaining(expected))
      return runs
    })
  } finally {
    await connection.close()
  }
}

test('engine killed: every endpoint reports it within 5 s (failure 1)', () => {
  const { atOnce, later } = seen

  const error = promisedError(1, '503 EngineUnavailableError').join(' ')
  const unknown = promisedError(1, '424 OutcomeUnknownError').join(' ')
  const isExpected = (line: string) => line.endsWith(error) || (line.startsWith('POST') && line.endsWith(unknown))
  expect(toStatusLines(atOnce).filter((line) => !isExpected(line))).toEqual([])
  expect(toStatusLines(later)).toEqual(later.map(({ endpoint }) => `${endpoint} ${error}`))
  expect(Math.max(seen.answeredMs, ...seen.started.map(({ ms }) => ms))).toBeLessThan(promisedMs(1, '5 s'))
  expect(seen.callsUnavailable).toBeGreaterThan(0)
})

test('engine killed: an update in progress returns its ids', () => {
  const { status, body } = seen.message

  const facts = [status, body.error, body.workflowId, typeof body.updateId]
  expect(facts).toEqual([424, 'OutcomeUnknownError', 'busy', 'string'])
})

test('engine killed: the process stays healthy and is not ready within 3 s (failure 1)', () => {
  const { health, unready, unreadyAfterMs } = seen

  expect([health.status]).toEqual(promisedError(1, '200'))
  expect([unready.status]).toEqual(promisedError(1, '503'))
  expect(unreadyAfterMs).toBeLessThan(promisedMs(1, '3 s'))
})

test('engine killed: every endpoint works 2 s after the engine is back, without a restart of the service (failure 1)', () => {
  expect(seen.wellAfterMs).toBeLessThan(promisedMs(1, '2 s'))
})

test('engine killed: a client that waits for a run gets its result (failure 1)', () => {
  const { waited } = seen

  expect(waited.map(({ status, body }) => [status, body.status, body.output])).toEqual(
    waited.map((_, number) => [200, 'completed', [`waiting-${number}`]]),
  )
})

test('engine killed: no acknowledged run is lost', () => {
  const runs = acknowledged(seen)

  const lost = runs.filter((run) => !seen.listed.includes(run))

  expect(runs.length).toBeGreaterThan(WAITING)
  expect(lost).toEqual([])
})

test('engine killed: no run is started twice (failure 1)', () => {
  const workflowIds = seen.listed.map((run) => run.split(' ')[0])

  expect(workflowIds.length).toBe(new Set(workflowIds).size)
})

test('engine killed: a start with Retry-After was not carried out (failure 1)', () => {
  const rejected = seen.started.filter(({ answer }) => answer.status !== 200)
  const repeatable = rejected.filter(({ answer }) => answer.headers.has('Retry-After'))

  const made = repeatable.filter(({ workflowId }) => seen.listed.some((run) => run.startsWith(`${workflowId} `)))

  expect(['EngineUnavailableError', 'OutcomeUnknownError']).toEqual(
    expect.arrayContaining(rejected.map(({ answer }) => answer.body.error)),
  )
  expect(repeatable.length).toBeGreaterThan(0)
  expect(made).toEqual([])
})
