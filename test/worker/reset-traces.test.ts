/** What is stored of runs that were reset, before or after their end. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection, type WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { toTraceTree } from '../../src/protocol/trace-tree.ts'
import type { RunningProcess } from '../support/process.ts'
import { type RunningRedis, startRedis } from '../support/redis.ts'
import { type RunningS3, startRclone } from '../support/s3.ts'
import { bundleTraced, startTracedWorker, storedTrace, tracedEnv, traceKeys } from '../support/traced-worker.ts'
import { until } from '../support/until.ts'

const taskQueue = `reset-${crypto.randomUUID()}`

let folder: string
let redis: RunningRedis
let s3: RunningS3
let worker: RunningProcess
let connection: Connection
let client: Client

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-reset-'))
  const { address } = inject('engine')
  const [bundle, ...stores] = await Promise.all([bundleTraced(folder), startRedis(), startRclone()])
  ;[redis, s3] = stores
  const env = { ...tracedEnv(redis, s3), SERVICE_CATALOG_ID: taskQueue, ENGINE_ADDRESS: address, WORKFLOW_BUNDLE: bundle }
  worker = await startTracedWorker(env)
  connection = await Connection.connect({ address })
  client = new Client({ connection })
})

afterAll(async () => {
  await worker?.kill()
  await redis?.kill()
  await s3?.stop()
  await connection?.close()
  await rm(folder, { recursive: true, force: true })
})

test('traces: of an open run that is reset both runs are stored, with the spans of the first, and nothing is left', async () => {
  const handle = await start('open')
  const tasks = async () => (await eventsOf(handle)).filter((event) => event.workflowTaskCompletedEventAttributes)
  await until('the task after its step is done', async () => (await tasks()).length === 2)

  const runId = await reset(handle)
  await client.workflow.getHandle(handle.workflowId).cancel()
  await until('nothing is left in the store', isStored, { timeoutMs: 20_000 })

  const { entries, rootRunId } = await storedTrace(s3, handle.workflowId)
  expect(rootRunId).toBe(handle.firstExecutionRunId)
  expect(entries.filter(({ id }) => id.includes(':span:'))).toHaveLength(4)
  const tree = toTraceTree(entries)
  expect(tree?.attributes.status).toBe('canceled')
  expect(tree?.children.map(({ id, attributes }) => [id, attributes.status])).toEqual([
    [handle.firstExecutionRunId, 'terminated'],
    [runId, 'canceled'],
  ])
})

test('traces: a run that had ended and was stored is stored again with the run that a reset made of it', async () => {
  const handle = await start('complete')
  await handle.result()
  await until('it is stored', isStored, { timeoutMs: 20_000 })

  const runId = await reset(handle)
  await client.workflow.getHandle(handle.workflowId, runId).result()
  await until('it is stored again', async () => (await tree(handle))?.children.length === 2, { timeoutMs: 20_000 })
  await until('nothing is left in the store', isStored, { timeoutMs: 20_000 })

  const { children } = (await tree(handle)) ?? { children: [] }
  expect(children.map(({ id, attributes }) => [id, attributes.status])).toEqual([
    [handle.firstExecutionRunId, 'completed'],
    [runId, 'completed'],
  ])
  expect(children[0]?.children[0]?.children).toMatchObject([{ kind: 'llm', name: 'outer' }])
})

function start(end: 'open' | 'complete') {
  return client.workflow.start('story', { workflowId: `reset-${crypto.randomUUID()}`, taskQueue, args: [{ end }] })
}

async function isStored(): Promise<boolean> {
  return (await traceKeys(redis)).length === 0
}

async function tree({ workflowId }: { workflowId: string }) {
  return toTraceTree((await storedTrace(s3, workflowId)).entries)
}

type Handle = WorkflowHandleWithFirstExecutionRunId

async function eventsOf({ workflowId, firstExecutionRunId }: Handle) {
  return (await client.workflow.getHandle(workflowId, firstExecutionRunId).fetchHistory()).events ?? []
}

/** To its last task; the new run's id. */
async function reset(handle: Handle): Promise<string> {
  const { workflowId, firstExecutionRunId: runId } = handle
  const task = (await eventsOf(handle)).findLast((event) => event.workflowTaskCompletedEventAttributes)
  const { runId: newRunId } = await connection.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId, runId },
    reason: 'a test',
    workflowTaskFinishEventId: task?.eventId ?? null,
    requestId: crypto.randomUUID(),
  })
  return newRunId
}
