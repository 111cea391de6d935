/** Traces as files, without a key-value store. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import type { PayloadCodec } from '@temporalio/common'
import proto from '@temporalio/proto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { parseCatalogMemo } from '../../src/protocol/catalog.ts'
import { parseTraceDocument } from '../../src/protocol/trace-document.ts'
import { type TraceNode, toTraceTree } from '../../src/protocol/trace-tree.ts'
import { defineCatalog, porticoPlugin, type Redact } from '../../src/worker/index.ts'
import { until } from '../support/until.ts'
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

test('local traces: a run leaves one file, with its steps and the spans below them', async () => {
  const workflowId = `a/b "c" ü ${crypto.randomUUID()}`
  const handle = await client.workflow.start('story', { workflowId, taskQueue, args: [{ end: 'complete' }] })
  await handle.result()

  const name = `${encodeURIComponent(workflowId)}_${handle.firstExecutionRunId}.json`
  const { tree, document } = await until('the file is there', () => read(folder, name))

  expect(document).toMatchObject({ workflowId, rootRunId: handle.firstExecutionRunId })
  expect(tree).toMatchObject({ kind: 'workflow', name: 'story', output: 'the end', attributes: { status: 'completed' } })
  const [step] = tree.children
  expect(step).toMatchObject({ kind: 'step', name: 'thinks', output: 'thought' })
  expect(step?.children).toMatchObject([
    {
      kind: 'llm',
      name: 'outer',
      attributes: { ms: 100 },
      children: [{ kind: 'http', name: 'inner', output: 'thought', attributes: { status: 200 } }],
    },
  ])
  expect((await readdir(folder)).filter((file) => file.startsWith('.'))).toEqual([])
})

test('local traces: children and the links of a chain are told in the file of their root', async () => {
  const workflowId = `family-${crypto.randomUUID()}`
  const handle = await client.workflow.start('story', { workflowId, taskQueue, args: [{ end: 'complete', links: 2, children: 1 }] })
  await handle.result()

  const name = `${workflowId}_${handle.firstExecutionRunId}.json`
  const tree = await until('the whole chain is there', async () => {
    const { tree } = await read(folder, name)
    return tree.children.length === 2 && tree.children.every(({ endedAt }) => endedAt !== null) ? tree : null
  })

  expect(tree.children.map(({ kind, attributes }) => [kind, attributes.status])).toEqual([
    ['workflow', 'continued'],
    ['workflow', 'completed'],
  ])
  for (const link of tree.children) {
    const child = link.children.find(({ kind }) => kind === 'child_workflow')?.children[0]
    expect(child).toMatchObject({ kind: 'workflow', attributes: { status: 'completed' } })
    expect(child?.children[0]?.children[0]).toMatchObject({ kind: 'llm', name: 'outer' })
    const files = await readdir(folder)
    expect(files.filter((file) => file.startsWith(String(child?.attributes.workflowId)))).toEqual([])
  }
})

test('local traces: a child whose parent is not traced is the root of its own', async () => {
  const plain = `plain-${crypto.randomUUID()}`
  const untraced = await startWorker({ address: inject('engine').address, taskQueue: plain, activities, workflowsPath, catalog })
  const plan = { end: 'complete', children: 1, childQueue: taskQueue }
  const handle = await client.workflow.start('story', { workflowId: plain, taskQueue: plain, args: [plan] })
  await handle.result()

  const { events } = await handle.fetchHistory()
  const started = events?.find((event) => event.childWorkflowExecutionStartedEventAttributes)?.childWorkflowExecutionStartedEventAttributes
  const { workflowId, runId } = started?.workflowExecution ?? {}
  const { tree } = await until('the file is there', () => read(folder, `${workflowId}_${runId}.json`))

  expect(tree.children[0]?.children[0]).toMatchObject({ kind: 'llm', name: 'outer' })
  await untraced.stop()
})

test('local traces: the catalog says where they are', async () => {
  const { workflowExecutionInfo } = await connection.workflowService.describeWorkflowExecution({
    namespace: 'default',
    execution: { workflowId: `$catalog:${taskQueue}` },
  })
  const fields = Object.entries(workflowExecutionInfo?.memo?.fields ?? {})
  const memo = new Map(fields.map(([key, { data }]) => [key, JSON.parse(Buffer.from(data ?? []).toString())]))

  expect(parseCatalogMemo(memo)?.traces).toEqual({ local: join(folder, '{workflowId}_{rootRunId}.json') })
})

test('local traces: the redaction sees what the history tells, too', async () => {
  const redact: Redact = (path, value) => (path === '/output' ? '****' : value)
  const queue = `redacted-${crypto.randomUUID()}`
  const own = await startTraced(queue, folder, {}, redact)
  const handle = await client.workflow.start('story', { workflowId: queue, taskQueue: queue, args: [{ end: 'complete' }] })
  await handle.result()

  const { text } = await until('the file is there', () => read(folder, `${queue}_${handle.firstExecutionRunId}.json`))

  expect(text).not.toContain('the end')
  expect(text).not.toContain('thought')
  await own.stop()
})

test('local traces: what a payload codec has made unreadable is stored as the worker reads it', async () => {
  const queue = `codecs-${crypto.randomUUID()}`
  const dataConverter = { payloadCodecs: [wrapping('inner'), wrapping('outer')] }
  const own = await startTraced(queue, folder, { dataConverter })
  const { workflow } = new Client({ connection, dataConverter })
  const handle = await workflow.start('story', { workflowId: queue, taskQueue: queue, args: [{ end: 'complete' }] })
  await handle.result()

  const { tree } = await until('the file is there', () => read(folder, `${queue}_${handle.firstExecutionRunId}.json`))

  const { events } = await handle.fetchHistory()
  expect(Buffer.from(events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.metadata?.encoding ?? []).toString()).toBe(
    'outer',
  )
  expect(tree).toMatchObject({
    input: { end: 'complete' },
    output: 'the end',
    children: [{ name: 'thinks', input: 100, output: 'thought' }],
  })
  await own.stop()
})

test('local traces: a worker that ends writes what has just ended', async () => {
  const queue = `ends-${crypto.randomUUID()}`
  const own = await startTraced(queue, folder)
  const handle = await client.workflow.start('story', { workflowId: queue, taskQueue: queue, args: [{ end: 'complete' }] })
  await handle.result()

  await own.stop()

  const { tree } = await read(folder, `${queue}_${handle.firstExecutionRunId}.json`)
  expect(tree.attributes.status).toBe('completed')
})

test('local traces: a folder that can not be written to is no concern of the workflow', async () => {
  const queue = `unwritable-${crypto.randomUUID()}`
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'in-the-way')
  await writeFile(file, '')
  const own = await startTraced(queue, join(file, 'below'))
  const handle = await client.workflow.start('story', { workflowId: queue, taskQueue: queue, args: [{ end: 'complete' }] })

  expect(await handle.result()).toBe('the end')

  await own.stop()
})

function startTraced(queue: string, directory: string, options: TestWorkerOptions['options'] = {}, redact?: Redact): Promise<TestWorker> {
  const traces = { remote: null, local: { directory, writes: true }, maxBytes: 1 << 20 }
  const plugin = porticoPlugin({ catalog, traces, ...(redact && { redact }) })
  return startWorker({
    address: inject('engine').address,
    taskQueue: queue,
    activities,
    workflowsPath,
    options: { ...options, plugins: [plugin] },
  })
}

/** A codec that puts each payload into another one of that encoding, and takes out no other. */
function wrapping(encoding: string): PayloadCodec {
  const { Payload } = proto.temporal.api.common.v1
  return {
    encode: async (payloads) =>
      payloads.map((payload) => ({ metadata: { encoding: Buffer.from(encoding) }, data: Payload.encode(payload).finish() })),
    decode: async (payloads) =>
      payloads.map(({ metadata, data }) => {
        if (Buffer.from(metadata?.encoding ?? []).toString() !== encoding) throw new Error(`This is not ${encoding}`)
        return Payload.decode(data ?? new Uint8Array())
      }),
  }
}

async function read(directory: string, name: string) {
  const text = await readFile(join(directory, name), 'utf8')
  const { found: document } = parseTraceDocument(text)
  const tree = toTraceTree(document.entries)
  if (tree === null) throw new Error('no tree')
  return { text, document, tree: tree as TraceNode }
}
