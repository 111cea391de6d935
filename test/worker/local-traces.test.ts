/** Traces as files, without a key-value store. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import type { DataConverter, PayloadCodec } from '@temporalio/common'
import proto from '@temporalio/proto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { until } from '../../dev/servers/until.ts'
import { parseCatalogMemo } from '../../src/protocol/catalog.ts'
import { parseTraceDocument, type TraceDocument } from '../../src/protocol/trace/document.ts'
import { type TraceNode, toTraceTree } from '../../src/protocol/trace/tree.ts'
import { defineCatalog, type PorticoPluginOptions, porticoPlugin, type Redact } from '../../src/worker/index.ts'
import { startWorker, type TestWorker, type TestWorkerOptions } from '../support/worker.ts'
import * as activities from './fixtures/traced-activities.ts'

const workflowsPath = new URL('./fixtures/traced-workflows.ts', import.meta.url)
const catalog = defineCatalog({ story: {}, ticking: {} })
const taskQueue = `local-${crypto.randomUUID()}`

let folder: string
let connection: Connection
let client: Client
let worker: TestWorker

beforeAll(async () => {
  const { address } = inject('engine')
  folder = join(await mkdtemp(join(tmpdir(), 'portico-local-')), 'traces')
  connection = await Connection.connect({ address })
  client = new Client({ connection })
  worker = await startTraced(taskQueue, folder)
})

afterAll(async () => {
  await worker?.stop()
  await connection?.close()
  await rm(join(folder, '..'), { recursive: true, force: true })
})

test('local traces: a run leaves one file, with its steps and the spans below them, and no list of spans', async () => {
  const workflowId = `a/b "c" ü ${crypto.randomUUID()}`
  const handle = await client.workflow.start('story', { workflowId, taskQueue, args: [{ end: 'complete' }] })
  await handle.result()

  const { tree, document } = await archived(handle.firstExecutionRunId)

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

test('local traces: each link of a chain and each child has a file of its own', async () => {
  const workflowId = `family-${crypto.randomUUID()}`
  const plan = { end: 'complete', links: 2, children: 1 }
  const handle = await client.workflow.start('story', { workflowId, taskQueue, args: [plan] })
  await handle.result()

  const first = await archived(handle.firstExecutionRunId)
  const next = await archived(String(first.tree.attributes.nextRunId))

  expect(first.tree.attributes.status).toBe('continued')
  expect(next.tree.attributes).toMatchObject({ status: 'completed', previousRunId: handle.firstExecutionRunId })
  for (const { tree } of [first, next]) {
    const node = tree.children.find(({ kind }) => kind === 'child_workflow')
    expect(node).toMatchObject({ attributes: { catalog: taskQueue }, children: [] })
    const child = await archived(String(node?.attributes.runId))
    expect(child.tree).toMatchObject({ kind: 'workflow', attributes: { status: 'completed' } })
    expect(child.tree.children[0]?.children[0]).toMatchObject({ kind: 'llm', name: 'outer' })
  }
})

test('local traces: runs of a queue without the kit are archived where a worker is told its name', async () => {
  const plain = `plain-${crypto.randomUUID()}`
  const { address } = inject('engine')
  const without = await startWorker({ address, taskQueue: plain, activities, workflowsPath, catalog })
  const archiving = `archives-${crypto.randomUUID()}`
  const kit = await startTraced(archiving, folder, { traceQueues: [plain] })
  const handle = await client.workflow.start('story', {
    workflowId: plain,
    taskQueue: plain,
    args: [{ end: 'complete' }],
  })
  await handle.result()

  const { tree } = await archived(handle.firstExecutionRunId)

  expect(tree).toMatchObject({ output: 'the end', children: [{ kind: 'step', name: 'thinks', children: [] }] })
  await without.stop()
  await kit.stop()
})

test('local traces: the catalog says where they are', async () => {
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

test('local traces: redact sees what comes from the history, too', async () => {
  const redact: Redact = (path, value) => (path === '/output' ? '****' : value)
  const { document, stop } = await runOnce(startTraced, { redact })

  const text = JSON.stringify(document)
  expect(text).not.toContain('the end')
  expect(text).not.toContain('thought')
  await stop()
})

test('local traces: a redact that throws or is asynchronous blocks no trace and lets nothing through', async () => {
  for (const redact of [
    () => {
      throw new Error('on purpose')
    },
    async () => 'the end',
  ] satisfies Redact[]) {
    const { document, stop } = await runOnce(startTraced, { redact })

    const text = JSON.stringify(document)
    expect(text).toContain('[redact failed]')
    expect(text).not.toContain('the end')
    await stop()
  }
})

test('local traces: payloads that a codec has encoded are archived encoded, and decoded on request', async () => {
  const dataConverter = { payloadCodecs: [wrapping('inner'), wrapping('outer')] }
  for (const [tracePayloads, isReadable] of [
    ['encoded', false],
    ['decoded', true],
  ] as const) {
    const { document, tree, stop } = await runOnce(
      startTraced,
      { worker: { dataConverter }, tracePayloads },
      dataConverter,
    )

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
    await stop()
  }
})

test('local traces: a folder that cannot be written to does not concern the workflow', async () => {
  const queue = `unwritable-${crypto.randomUUID()}`
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'in-the-way')
  await writeFile(file, '')
  const own = await startTraced(queue, join(file, 'below'))
  const handle = await client.workflow.start('story', {
    workflowId: queue,
    taskQueue: queue,
    args: [{ end: 'complete' }],
  })

  expect(await handle.result()).toBe('the end')

  await own.stop()
})

interface Options extends Omit<PorticoPluginOptions, 'catalog' | 'traces'> {
  worker?: TestWorkerOptions['options']
}

function startTraced(
  queue: string,
  directory: string,
  { worker: options = {}, ...given }: Options = {},
): Promise<TestWorker> {
  const traces = { remote: null, local: { directory, writes: true }, maxBytes: 1 << 20 }
  return startWorker({
    address: inject('engine').address,
    taskQueue: queue,
    activities,
    workflowsPath,
    options: { ...options, plugins: [porticoPlugin({ catalog, traces, ...given })] },
  })
}

/** One run on a worker of its own, and what was archived of it. */
async function runOnce(start: typeof startTraced, options: Options, dataConverter?: DataConverter) {
  const queue = `once-${crypto.randomUUID()}`
  const own = await start(queue, folder, options)
  const { workflow } = new Client({ connection, ...(dataConverter && { dataConverter }) })
  const handle = await workflow.start('story', { workflowId: queue, taskQueue: queue, args: [{ end: 'complete' }] })
  await handle.result()
  return { ...(await archived(handle.firstExecutionRunId)), stop: () => own.stop() }
}

async function archived(runId: string): Promise<{ tree: TraceNode; document: TraceDocument }> {
  const path = join(folder, 'default', `${runId}.json`)
  const text = await until('the run is archived', () => readFile(path, 'utf8').catch(() => null), { timeoutMs: 20_000 })
  const { found: document } = parseTraceDocument(text)
  const tree = toTraceTree(document.entries)
  if (tree === null) throw new Error('The trace has no root')
  return { tree, document }
}

/** A codec that puts each payload into another one of that encoding, and takes out no other. */
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
