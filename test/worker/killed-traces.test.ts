/** Workers that are killed at any moment, and what is stored in the end of the runs they had in hand. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  Client,
  Connection,
  type WorkflowHandle,
  type WorkflowHandleWithFirstExecutionRunId,
  type WorkflowStartOptions,
} from '@temporalio/client'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { TraceEntry } from '../../src/protocol/trace-entry.ts'
import type { RunningProcess } from '../support/process.ts'
import { type RunningRedis, startRedis } from '../support/redis.ts'
import { type RunningS3, startWeed } from '../support/s3.ts'
import { bundleTraced, objectKeys, startTracedWorker, storedTrace, toldByHistory, tracedEnv, traceKeys } from '../support/traced-worker.ts'
import { until } from '../support/until.ts'
import type { Plan } from './fixtures/traced-workflows.ts'

const taskQueue = `killed-${crypto.randomUUID()}`
const RUNS = 100
const KILLS = 4

let folder: string
let redis: RunningRedis
let s3: RunningS3
let connection: Connection
let client: Client
let env: Record<string, string>
const started: RunningProcess[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-killed-'))
  const { address } = inject('engine')
  const [bundle, ...stores] = await Promise.all([bundleTraced(folder), startRedis(), startWeed()])
  ;[redis, s3] = stores
  connection = await Connection.connect({ address })
  client = new Client({ connection })
  env = { ...tracedEnv(redis, s3), SERVICE_CATALOG_ID: taskQueue, ENGINE_ADDRESS: address, WORKFLOW_BUNDLE: bundle }
})

afterAll(async () => {
  await Promise.all(started.map((worker) => worker.kill()))
  await redis?.kill()
  await s3?.stop()
  await connection?.close()
  await rm(folder, { recursive: true, force: true })
})

test('traces: of a hundred runs that end in every way under workers that are killed, each has its one complete object within 60 s, and the store is empty again', async () => {
  const workers = await Promise.all(Array.from({ length: KILLS + 1 }, () => startTracedWorker(env)))
  started.push(...workers)
  const runs = await Promise.all(Array.from({ length: RUNS }, (_, index) => start(index)))
  const ending = Promise.all(runs.map(({ end, handle }) => end(handle)))
  const kills: number[] = []
  for (const worker of workers.slice(0, KILLS)) {
    await moment(1500)
    kills.push(Date.now())
    await worker.kill()
  }
  await ending

  await until('nothing is left in the store', async () => (await traceKeys(redis)).length === 0, { timeoutMs: 60_000, everyMs: 250 })

  const told = await Promise.all(runs.map(async ({ handle }) => toldByHistory(connection, 'default', firstRun(handle))))
  // The one exception: what ends before any worker has had it in hand, as a run may that times out, is told by its history.
  const seen = runs.filter((_, index) => told[index]?.entries.some(({ kind }) => kind === 'step'))
  expect(seen.length).toBeGreaterThan(RUNS * 0.85)
  const owners = (await objectKeys(s3)).map((key) => key.slice('traces/'.length).split('_')[0])
  expect(new Set(owners).size).toBe(owners.length)
  const steps = { checked: 0, withoutSpans: [] as string[] }
  for (const { handle } of seen) {
    const { entries, rootRunId } = await storedTrace(s3, handle.workflowId)
    const stored = new Set(entries.map(nameOf))
    const { entries: wanted } = told[runs.findIndex((run) => run.handle === handle)] ?? { entries: [] }
    expect(rootRunId).toBe(handle.firstExecutionRunId)
    expect(wanted.map(nameOf).filter((name) => !stored.has(name))).toEqual([])
    // A kill costs the spans of its last second.
    const isSafe = ({ at }: TraceEntry) => kills.every((killedAt) => killedAt < at || killedAt - at > 1000)
    for (const { id } of wanted.filter(isDone).filter(isSafe)) {
      const spans = entries.filter(({ parentId, phase }) => parentId === id && phase === 'ended')
      steps.checked++
      if (spans.length === 0) steps.withoutSpans.push(id)
    }
  }
  expect(steps.withoutSpans).toEqual([])
  expect(steps.checked).toBeGreaterThan(RUNS * 0.3)
}, 150_000)

function firstRun({ workflowId, firstExecutionRunId }: StartedHandle) {
  return { workflowId, runId: firstExecutionRunId }
}

/** A step that has come to its own end. */
function isDone({ kind, phase, output }: TraceEntry): boolean {
  return kind === 'step' && phase === 'ended' && output !== undefined
}

function nameOf({ id, phase }: TraceEntry): string {
  return `${phase} ${id}`
}

type StartedHandle = WorkflowHandleWithFirstExecutionRunId

interface Ending {
  plan: Plan
  options?: Partial<WorkflowStartOptions>
  /** Brings the end about, and resolves when it is there. */
  end(handle: WorkflowHandle): Promise<void>
}

const ofItself = (handle: WorkflowHandle) => closed(handle)

const ENDINGS: Ending[] = [
  { plan: { end: 'complete' }, end: ofItself },
  { plan: { end: 'fail' }, end: ofItself },
  { plan: { end: 'complete', links: 2 }, end: ofItself },
  { plan: { end: 'complete', children: 2 }, end: ofItself },
  { plan: { end: 'open' }, options: { workflowRunTimeout: '10s' }, end: ofItself },
  {
    plan: { end: 'open' },
    end: async (handle) =>
      inHand(handle)
        .then(() => handle.cancel())
        .then(() => closed(handle)),
  },
  {
    plan: { end: 'open', children: 1 },
    end: async (handle) =>
      inHand(handle)
        .then(() => handle.terminate())
        .then(() => closed(handle)),
  },
]

async function start(index: number) {
  const ending = ENDINGS[index % ENDINGS.length] ?? ENDINGS[0]
  if (ending === undefined) throw new Error('no ending')
  const handle = await client.workflow.start('story', {
    workflowId: `killed-${index}-${crypto.randomUUID()}`,
    taskQueue,
    args: [ending.plan],
    // A task of a killed worker is not waited for longer than this.
    workflowTaskTimeout: '2s',
    ...ending.options,
  })
  return { handle, end: ending.end }
}

/** A worker has seen it: it has done a step. */
async function inHand(handle: WorkflowHandle): Promise<void> {
  const isStepDone = async () => (await handle.fetchHistory()).events?.some((event) => event.activityTaskCompletedEventAttributes)
  await until(`${handle.workflowId} is in hand`, async () => (await isStepDone()) === true, { timeoutMs: 90_000, everyMs: 500 })
  await moment(500)
}

async function closed(handle: WorkflowHandle): Promise<void> {
  await handle.result().catch(() => {}) // whatever the end, it is one
}

/** Some random time: what is tested is that no moment is the wrong one. */
function moment(mostMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * mostMs))
}
