/** Hundreds of runs of all kinds, while all that archives them is killed, drained, frozen and without its stores. */
import { Client, type Connection, type WorkflowStartOptions } from '@temporalio/client'
import { NamespaceNotFoundError } from '@temporalio/common'
import { Redis } from 'ioredis'
import { expect } from 'vitest'
import type { RunningRedis } from '../../dev/servers/redis.ts'
import type { RunningS3 } from '../../dev/servers/s3.ts'
import { startTcpProxy, type TcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { tracedEnv } from '../../dev/servers/traced-worker.ts'
import type { RunningProcess } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { mapConcurrent } from '../../src/shared/lib/map-concurrent.ts'
import { parseTraceDocument, type TraceDocument } from '../../src/shared/wire/trace/document.ts'
import { type TraceNode, toTraceTree } from '../../src/shared/wire/trace/tree.ts'
import { testWithOwnEngine } from '../../test/support/fixtures.ts'
import { bundleTraced, startTracedWorker } from '../../test/support/traced-worker.ts'
import * as activities from '../../test/worker/fixtures/traced-activities.ts'

const NAMESPACES = ['default', 'second']
// One disturbance each; 50 rounds are thousands of runs.
const ROUNDS = Number(process.env.PORTICO_ARCHIVE_ROUNDS ?? 5)
// All at once would take a slow engine longer than a start may take.
const EQUAL_RUNS = 40
const EQUAL_RUNS_AT_ONCE = 12
const queue = `all-${crypto.randomUUID()}`
const plainQueue = `plain-${crypto.randomUUID()}`

let redis: RunningRedis
let s3: RunningS3
let wayToS3: TcpProxy
let connection: Connection
let env: Record<string, string>
const workers = new Set<RunningProcess>()
/** When spans may have been lost: with a killed process its last quarter of a second, with Redis all that waited. */
const losses: { from: number; until: number }[] = []

const test = testWithOwnEngine({ namespaces: ['second'] })

test.beforeAll(async ({ engine, folder, redis: store, seaweed, connection: direct, startWorker, cleanup }) => {
  redis = store
  s3 = seaweed
  connection = direct
  wayToS3 = await startTcpProxy(s3.endpoint.slice('http://'.length))
  cleanup.defer(() => wayToS3.close())
  env = {
    ...tracedEnv(redis, { ...s3, endpoint: `http://${wayToS3.address}` }),
    SERVICE_CATALOG_ID: queue,
    ENGINE_ADDRESS: engine.address,
    WORKFLOW_BUNDLE: await bundleTraced(folder),
    TRACE_QUEUES: plainQueue,
  }
  cleanup.defer(async () => void (await Promise.all([...workers].map((worker) => worker.kill()))))
  const workflowsPath = new URL('../../test/worker/fixtures/traced-workflows.ts', import.meta.url)
  for (const namespace of NAMESPACES) {
    await begin(namespace)
    await begin(namespace)
    await startWorker({ namespace, taskQueue: plainQueue, activities, workflowsPath })
  }
})

test('archive: every closed run of every kind has its object, whatever happens meanwhile, and no list of spans is left', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    for (const namespace of NAMESPACES)
      await startAllKinds(new Client({ connection, namespace }), `${round}-${crypto.randomUUID()}`)
    await DISTURBANCES[round % DISTURBANCES.length]?.()
  }
  wayToS3.restore()
  await Promise.all(NAMESPACES.map((namespace) => endEverything(namespace)))

  const runs = (await Promise.all(NAMESPACES.map(closedRuns))).flat()
  await until('every run is archived', async () => (await objectKeys()).length >= runs.length, {
    timeoutMs: 150_000,
    everyMs: 1000,
  })
  await until('no spans wait', async () => (await spanKeys()).length === 0, { timeoutMs: 120_000, everyMs: 1000 })

  const keys = await objectKeys()
  expect(new Set(keys)).toEqual(new Set(runs.map(({ namespace, runId }) => `traces/${namespace}/${runId}.json`)))
  const errors: string[] = []
  await mapConcurrent(runs, 16, async (run) => {
    const document = await objectOf(run)
    errors.push(...errorsOf(run, document))
  })
  console.log(`${runs.length} runs are archived`)
  expect(errors).toEqual([])
  expect(runs.length).toBeGreaterThan(ROUNDS * 30)
})

async function begin(namespace: string): Promise<RunningProcess> {
  const worker = await startTracedWorker({ ...env, ENGINE_NAMESPACE: namespace })
  workers.add(worker)
  void worker.ended.then(() => workers.delete(worker))
  namespaces.set(worker, namespace)
  return worker
}

const namespaces = new WeakMap<RunningProcess, string>()

function anyWorker(): RunningProcess {
  const [first] = workers
  if (first === undefined) throw new Error('no worker')
  return first
}

const DISTURBANCES: (() => Promise<unknown>)[] = [
  async () => {
    const worker = anyWorker()
    losses.push({ from: Date.now() - 2000, until: Date.now() + 1000 })
    await worker.kill()
    await begin(namespaces.get(worker) ?? 'default')
  },
  async () => {
    const worker = anyWorker()
    expect(await worker.stop(60_000)).toEqual({ code: 0, signal: null })
    await begin(namespaces.get(worker) ?? 'default')
  },
  async () => {
    wayToS3.interrupt()
  },
  async () => {
    const worker = anyWorker()
    process.kill(worker.pid, 'SIGSTOP')
    const timer = setTimeout(() => process.kill(worker.pid, 'SIGCONT'), 35_000)
    void worker.ended.then(() => clearTimeout(timer))
    workers.delete(worker)
    workers.add(worker)
  },
  async () => {
    wayToS3.restore()
    const client = new Redis(redis.url)
    await client.flushall()
    losses.push({ from: 0, until: Date.now() })
    client.disconnect()
  },
]

async function startAllKinds(client: Client, id: string): Promise<void> {
  const start = (name: string, args: unknown[], options: Partial<WorkflowStartOptions> = {}) => {
    const request = { workflowId: `${name}-${crypto.randomUUID()}`, taskQueue: queue, args, ...options }
    return client.workflow.start(name, request).catch((error) => {
      // A busy server that was just started may not find its namespace.
      if (error instanceof NamespaceNotFoundError) return client.workflow.start(name, request)
      throw error
    })
  }
  const once = { end: 'complete', ms: 20 }
  await Promise.all([
    mapConcurrent(
      Array(EQUAL_RUNS).fill('story'),
      EQUAL_RUNS_AT_ONCE,
      async (name) => void (await start(name, [once])),
    ),
    start('story', [{ ...once, links: 3 }]),
    start('story', [{ ...once, children: 3, childQueue: plainQueue }]),
    start('story', [{ ...once, children: 2 }]),
    start('story', [{ ...once, abandons: true }]),
    start('story', [{ ...once, end: 'fail' }]),
    start('story', [{ end: 'open' }], { workflowExecutionTimeout: '3s' }),
    start('story', [{ end: 'open' }], { workflowId: `terminated-${id}` }),
    start('story', [once], { workflowId: `reset-${id}` }),
    start('flaky', [{ attempts: 3 }], { retry: { initialInterval: '100ms', backoffCoefficient: 1 } }),
    start('locals', [{ ms: 20 }]),
    start('story', [once], { workflowId: `cron-${id}`, cronSchedule: '@every 1s' }),
    start('story', [once], { taskQueue: plainQueue }),
  ])
  await client.workflow.getHandle(`reset-${id}`).result()
  const [described, { events }] = await Promise.all([
    client.workflow.getHandle(`reset-${id}`).describe(),
    client.workflow.getHandle(`reset-${id}`).fetchHistory(),
  ])
  const firstTask = events?.find((event) => event.workflowTaskCompletedEventAttributes)
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId: `reset-${id}`, runId: described.runId },
    reason: 'test',
    requestId: crypto.randomUUID(),
    workflowTaskFinishEventId: firstTask?.eventId ?? null,
  })
}

/** Terminates what would stay open for ever, and waits for the rest. */
async function endEverything(namespace: string): Promise<void> {
  const { workflow } = new Client({ connection, namespace })
  const open = `(TaskQueue = '${queue}' OR TaskQueue = '${plainQueue}') AND ExecutionStatus = 'Running'`
  await until(
    'all runs are closed',
    async () => {
      let left = 0
      for await (const { workflowId, startTime } of workflow.list({ query: open })) {
        left++
        const forEver = /^(terminated|cron)-/.test(workflowId) || Date.now() - startTime.getTime() > 60_000
        const isAbandoned = /^[0-9a-f]{8}-/.test(workflowId) && Date.now() - startTime.getTime() > 20_000
        if (forEver || isAbandoned)
          await workflow
            .getHandle(workflowId)
            .terminate('the test ends')
            .catch(() => {})
      }
      return left === 0
    },
    { timeoutMs: 180_000, everyMs: 1000 },
  )
}

interface Run {
  taskQueue: string
  namespace: string
  workflowId: string
  runId: string
}

async function closedRuns(namespace: string): Promise<Run[]> {
  const { workflow } = new Client({ connection, namespace })
  const runs: Run[] = []
  const query = `TaskQueue = '${queue}' OR TaskQueue = '${plainQueue}'`
  for await (const { workflowId, runId, taskQueue } of workflow.list({ query })) {
    runs.push({ namespace, workflowId, runId, taskQueue })
  }
  return runs
}

async function objectKeys(): Promise<string[]> {
  const keys: string[] = []
  for (let token = ''; ; ) {
    const url = `${s3.endpoint}/${s3.bucket}?list-type=2&prefix=traces/&max-keys=1000${token && `&continuation-token=${encodeURIComponent(token)}`}`
    const text = await (await s3.client.fetch(url)).text()
    keys.push(...[...text.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = '']) => key))
    token = /<NextContinuationToken>([^<]+)</.exec(text)?.[1] ?? ''
    if (token === '') return keys
  }
}

async function objectOf({ namespace, runId }: Run): Promise<TraceDocument> {
  const response = await s3.client.fetch(`${s3.endpoint}/${s3.bucket}/traces/${namespace}/${runId}.json`)
  return parseTraceDocument(await response.text()).found
}

async function spanKeys(): Promise<string[]> {
  const client = new Redis(redis.url)
  try {
    return await client.keys('spans:*')
  } finally {
    client.disconnect()
  }
}

/** What is wrong in the trace of a closed run. */
function errorsOf(run: Run, { entries, ...document }: TraceDocument): string[] {
  const errors: string[] = []
  const report = (error: string) => errors.push(`${run.namespace} ${run.workflowId} ${run.runId}: ${error}`)
  const { namespace, workflowId, runId } = document
  if (namespace !== run.namespace || workflowId !== run.workflowId || runId !== run.runId)
    report('is the trace of another run')
  const tree = toTraceTree(entries)
  if (tree === null) return [`${run.runId}: has no root`]
  if (tree.endedAt === null) report('has no end')
  if (new Set(entries.map((entry) => JSON.stringify(entry))).size !== entries.length) report('has an entry twice')
  if (run.taskQueue === plainQueue) return errors
  for (const step of tree.children.filter(isTracedStep)) {
    const outer = step.children.filter(({ kind }) => kind === 'llm')
    const isWhole =
      outer.length > 0 && outer.every(({ endedAt, children }) => endedAt !== null && children.length === 1)
    // A local activity is carried out again where its workflow task is: when its worker was killed or frozen.
    const isOnce = outer.length === 1 || step.attributes.local === true
    if (!(isWhole && isOnce) && !wasDisturbed(step)) report(`step ${step.name} has ${outer.length} spans`)
  }
  return errors
}

/** A step of the queue whose workers record spans, that has ended well at its first attempt. */
function isTracedStep({ kind, name, output, attributes }: TraceNode): boolean {
  return kind === 'step' && name === 'thinks' && output === 'thought' && attributes.attempts === 1
}

function wasDisturbed({ startedAt, endedAt }: TraceNode): boolean {
  return losses.some(({ from, until }) => startedAt <= until && (endedAt ?? startedAt) >= from)
}
