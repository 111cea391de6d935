/** Traces archived as files, with span lists as files. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@temporalio/client'
import type { DataConverter, PayloadCodec } from '@temporalio/common'
import proto from '@temporalio/proto'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { parseCatalogMemo } from '../../src/shared/wire/catalog.ts'
import { defineCatalog, type PorticoPluginOptions, type Redact } from '../../src/worker/index.ts'
import { archivedTrace } from '../support/archived-trace.ts'
import { test as baseTest } from '../support/fixtures.ts'
import { startStory } from './fixtures/start-story.ts'
import * as activities from './fixtures/traced-activities.ts'

const workflowsPath = new URL('./fixtures/traced-workflows.ts', import.meta.url)
const catalog = defineCatalog({ story: {}, ticking: {} })

const test = baseTest
  /** Does not exist until the worker creates it. */
  .extend('folder', { scope: 'file' }, async ({ cleanup }) => {
    const parent = await mkdtemp(join(tmpdir(), 'portico-local-'))
    cleanup.defer(() => rm(parent, { recursive: true, force: true }))
    return join(parent, 'traces')
  })
  .extend('worker', { scope: 'file' }, ({ startTracedWorker }) => {
    return startTracedWorker({ plugin: { catalog }, activities, workflowsPath })
  })
  /** Runs the workflow `story` on a traced worker of its own, and returns what was archived. */
  .extend('runOnce', { scope: 'file' }, ({ connection, folder, startTracedWorker }) => {
    return async (plugin: Partial<PorticoPluginOptions>, dataConverter: DataConverter = {}) => {
      const taskQueue = `once-${crypto.randomUUID()}`
      const worker = await startTracedWorker({
        plugin: { catalog, ...plugin },
        taskQueue,
        activities,
        workflowsPath,
        options: { dataConverter },
      })
      const handle = await startStory(new Client({ connection, dataConverter }), taskQueue)
      await handle.result()
      const trace = await archivedTrace(folder, handle.firstExecutionRunId)
      await worker.stop()
      return trace
    }
  })

test('local traces: a run has one file, with activities and their spans, and its span list is removed', async ({
  client,
  worker: { taskQueue },
  folder,
}) => {
  const workflowId = `a/b "c" ü ${crypto.randomUUID()}`
  const handle = await startStory(client, taskQueue, workflowId)
  await handle.result()

  const { tree, document } = await archivedTrace(folder, handle.firstExecutionRunId, { hasSpans: true })

  expect(document).toMatchObject({ namespace: 'default', workflowId, runId: handle.firstExecutionRunId })
  expect(tree).toMatchObject({
    kind: 'workflow',
    name: 'story',
    output: 'the end',
    attributes: { status: 'completed' },
  })
  const [step] = tree.children
  expect(step).toMatchObject({ kind: 'step', name: 'thinks', output: 'thought', attributes: { attempts: 1 } })
  expect(step?.attributes.queueMs).toBeGreaterThanOrEqual(0)
  expect(step?.children).toMatchObject([
    {
      kind: 'llm',
      name: 'outer',
      attributes: { ms: 100, attempt: 1 },
      children: [{ kind: 'http', name: 'inner', output: 'thought', attributes: { status: 200 } }],
    },
  ])
  await until('no spans wait', async () => (await readdir(join(folder, '.spans'))).length === 0)
})

test('local traces: every run of a chain and every child workflow has its own file', async ({
  client,
  worker: { taskQueue },
  folder,
}) => {
  const workflowId = `family-${crypto.randomUUID()}`
  const plan = { end: 'complete', links: 2, children: 1 }
  const handle = await client.workflow.start('story', { workflowId, taskQueue, args: [plan] })
  await handle.result()

  const first = await archivedTrace(folder, handle.firstExecutionRunId)
  const next = await archivedTrace(folder, String(first.tree.attributes.nextRunId))

  expect(first.tree.attributes.status).toBe('continued')
  expect(next.tree.attributes).toMatchObject({ status: 'completed', previousRunId: handle.firstExecutionRunId })
  for (const { tree } of [first, next]) {
    const node = tree.children.find(({ kind }) => kind === 'child_workflow')
    expect(node).toMatchObject({ attributes: { catalog: taskQueue }, children: [] })
    const child = await archivedTrace(folder, String(node?.attributes.runId), { hasSpans: true })
    expect(child.tree).toMatchObject({ kind: 'workflow', attributes: { status: 'completed' } })
    expect(child.tree.children[0]?.children[0]).toMatchObject({ kind: 'llm', name: 'outer' })
  }
})

test('local traces: a worker also archives the runs of its traceQueues', async ({
  client,
  startWorker,
  startTracedWorker,
  folder,
}) => {
  const plain = `plain-${crypto.randomUUID()}`
  await startWorker({ taskQueue: plain, activities, workflowsPath, catalog })
  const taskQueue = `archives-${crypto.randomUUID()}`
  await startTracedWorker({ plugin: { catalog, traceQueues: [plain] }, taskQueue, activities, workflowsPath })
  const handle = await startStory(client, plain)
  await handle.result()

  const { tree } = await archivedTrace(folder, handle.firstExecutionRunId)

  expect(tree).toMatchObject({ output: 'the end', children: [{ kind: 'step', name: 'thinks', children: [] }] })
})

test('local traces: the catalog names the folder', async ({ connection, worker: { taskQueue }, folder }) => {
  const { workflowExecutionInfo } = await connection.workflowService.describeWorkflowExecution({
    namespace: 'default',
    execution: { workflowId: `$catalog:${taskQueue}` },
  })
  const fields = Object.entries(workflowExecutionInfo?.memo?.fields ?? {})
  const memo = new Map(fields.map(([key, { data }]) => [key, JSON.parse(Buffer.from(data ?? []).toString())]))

  expect(parseCatalogMemo(memo)).toMatchObject({
    traces: { local: join(folder, '{namespace}/{runId}.json') },
    redacted: false,
  })
})

test('local traces: redact also applies to values from the history', async ({ runOnce }) => {
  const redact: Redact = (path, value) => (path === '/output' ? '****' : value)
  const { document } = await runOnce({ redact })

  const text = JSON.stringify(document)
  expect(text).not.toContain('the end')
  expect(text).not.toContain('thought')
})

test('local traces: a redact that throws or is asynchronous removes the values, but the trace is archived', async ({
  runOnce,
}) => {
  for (const redact of [
    () => {
      throw new Error('on purpose')
    },
    async () => 'the end',
  ] satisfies Redact[]) {
    const { document } = await runOnce({ redact })

    const text = JSON.stringify(document)
    expect(text).toContain('[redact failed]')
    expect(text).not.toContain('the end')
  }
})

test('local traces: payloads encoded by a codec are archived encoded by default, and decoded on request', async ({
  runOnce,
}) => {
  const dataConverter = { payloadCodecs: [wrapping('inner'), wrapping('outer')] }
  for (const [tracePayloads, isReadable] of [
    ['encoded', false],
    ['decoded', true],
  ] as const) {
    const { document, tree } = await runOnce({ tracePayloads }, dataConverter)

    const text = JSON.stringify(document)
    expect(text.includes('the end')).toBe(isReadable)
    expect(text.includes('thought')).toBe(isReadable)
    expect(tree).toMatchObject({
      kind: 'workflow',
      attributes: { status: 'completed' },
      children: [{ name: 'thinks' }],
    })
    const ended = document.entries.find(({ id, phase }) => id === document.runId && phase === 'ended')
    expect(ended?.encoded).toEqual(isReadable ? undefined : ['/output'])
  }
})

/** A codec that wraps each payload in one of that encoding, and unwraps only those. */
function wrapping(encoding: string): PayloadCodec {
  const { Payload } = proto.temporal.api.common.v1
  return {
    encode: async (payloads) =>
      payloads.map((payload) => ({
        metadata: { encoding: Buffer.from(encoding) },
        data: Payload.encode(payload).finish(),
      })),
    decode: async (payloads) =>
      payloads.map(({ metadata, data }) => {
        if (Buffer.from(metadata?.encoding ?? []).toString() !== encoding) throw new Error(`This is not ${encoding}`)
        return Payload.decode(data ?? new Uint8Array())
      }),
  }
}
