/** A run of more events than the engine gives at once: as the API reads it and as a worker stores it. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection, type WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { until } from '../../dev/servers/until.ts'
import { parseConfig } from '../../src/config.ts'
import { grpcTransport } from '../../src/engine/transport/grpc/transport.ts'
import type { Transport } from '../../src/engine/transport/transport.ts'
import { createPortico } from '../../src/portico.ts'
import { parseTraceDocument } from '../../src/protocol/trace/document.ts'
import { type TraceNode, toTraceTree } from '../../src/protocol/trace/tree.ts'
import { defineCatalog, porticoPlugin } from '../../src/worker/index.ts'
import { withoutSpans } from '../support/trace-nodes.ts'
import { startWorker, type TestWorker } from '../support/worker.ts'
import * as activities from './fixtures/traced-activities.ts'

const taskQueue = `long-${crypto.randomUUID()}`
// A page holds 256.
const SIGNALS = 2000

let folder: string
let connection: Connection
let worker: TestWorker
let handle: WorkflowHandleWithFirstExecutionRunId

beforeAll(async () => {
  const { address } = inject('engine')
  folder = await mkdtemp(join(tmpdir(), 'portico-long-'))
  connection = await Connection.connect({ address })
  const traces = { remote: null, local: { directory: folder, writes: true }, maxBytes: 1 << 25 }
  const plugins = [porticoPlugin({ catalog: defineCatalog({ story: {} }), traces })]
  const workflowsPath = new URL('./fixtures/traced-workflows.ts', import.meta.url)
  handle = await new Client({ connection }).workflow.start('story', {
    workflowId: taskQueue,
    taskQueue,
    args: [{ end: 'complete' }],
  })
  for (let sent = 0; sent < SIGNALS; sent += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, index) => handle.signal('count', sent + index)))
  }
  worker = await startWorker({ address, taskQueue, activities, workflowsPath, options: { plugins } })
  await handle.result()
})

afterAll(async () => {
  await worker?.stop()
  await connection?.close()
  await rm(folder, { recursive: true, force: true })
})

test('a long history is read page by page, and what the worker stores of it is the same', async () => {
  const { pages, data } = await traceLog()
  const path = join(folder, 'default', `${handle.firstExecutionRunId}.json`)
  const stored = await until('the run is archived', () => readFile(path, 'utf8').catch(() => null), {
    timeoutMs: 20_000,
  })

  const counted = data.children.filter(({ kind }) => kind === 'signal').map(({ input }) => Number(input))
  expect(pages).toBeGreaterThan(7)
  expect(counted.toSorted((a, b) => a - b)).toEqual(Array.from({ length: SIGNALS }, (_, index) => index))
  const tree = toTraceTree(parseTraceDocument(stored).found.entries)
  expect(tree && withoutSpans(tree)).toEqual(data)
})

test('of a long history no more pages are read than there is room for', async () => {
  const { pages, warnings, data } = await traceLog({ SERVICE_TRACE_MAX_BYTES: '65536' })

  expect(pages).toBe(1)
  expect(data.attributes.truncated).toBe(true)
  expect(warnings).toEqual([expect.stringContaining('the history is larger than 65536 bytes')])
})

/** From the history alone, with the number of pages that the engine was asked for. */
async function traceLog(env: Record<string, string> = {}) {
  const { address } = inject('engine')
  const grpc = grpcTransport({ address, apiKey: null, tls: null })
  let pages = 0
  const transport: Transport = {
    ...grpc,
    call(method, request, options) {
      if (method === 'getWorkflowExecutionHistory') pages++
      return grpc.call(method, request, options)
    },
  }
  const config = parseConfig({ ENGINE_ADDRESS: address, SERVICE_CATALOG_ID: taskQueue, ...env }, { binds: true })
  const portico = createPortico({ config, transport, log() {} })
  const response = await portico.fetch(new Request(`http://localhost/workflow/${handle.workflowId}/trace-log`))
  const { warnings, data } = JSON.parse(await response.text())
  await portico.close()
  return { pages, warnings, data: data as TraceNode }
}
