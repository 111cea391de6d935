/** Spans of libraries that are instrumented with OpenTelemetry, and of Nexus operations, in the trace of their run. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { Client, Connection } from '@temporalio/client'
import * as nexus from 'nexus-rpc'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { until } from '../../dev/servers/until.ts'
import { parseTraceDocument } from '../../src/protocol/trace/document.ts'
import { type TraceNode, toTraceTree } from '../../src/protocol/trace/tree.ts'
import { defineCatalog, porticoPlugin, span } from '../../src/worker/index.ts'
import { porticoSpanProcessor } from '../../src/worker/tracing/otel.ts'
import { startWorker, type TestWorker } from '../support/worker.ts'
import { bank } from './fixtures/nexus-service.ts'

const taskQueue = `otel-${crypto.randomUUID()}`
const tracer = trace.getTracer('test')

/** An instrumented library, in and around `span()`. */
async function thinks(): Promise<string> {
  return tracer.startActiveSpan(
    'POST',
    { attributes: { 'http.request.method': 'POST', authorization: 'Basic x' } },
    async (outer) => {
      await span('note', 'inside', async () => {
        tracer.startActiveSpan('chat', { attributes: { 'gen_ai.request.model': 'm' } }, (inner) => inner.end())
      })
      outer.recordException(new TypeError('no answer'))
      outer.setAttribute('http.response.status_code', 503)
      outer.end()
      return 'thought'
    },
  )
}

let folder: string
let connection: Connection
let worker: TestWorker

beforeAll(async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [porticoSpanProcessor()] }))
  folder = await mkdtemp(join(tmpdir(), 'portico-otel-'))
  const { address } = inject('engine')
  connection = await Connection.connect({ address })
  const traces = { remote: null, local: { directory: folder, writes: true }, maxBytes: 1 << 20 }
  const plugins = [porticoPlugin({ catalog: defineCatalog({ story: {} }), traces })]
  const workflowsPath = new URL('./fixtures/traced-workflows.ts', import.meta.url)
  worker = await startWorker({ address, taskQueue, activities: { thinks }, workflowsPath, options: { plugins } })
})

afterAll(async () => {
  await worker?.stop()
  await connection?.close()
  await rm(folder, { recursive: true, force: true })
  trace.disable()
  context.disable()
})

test('OpenTelemetry: its spans are nodes of the run, nested with those of span(), with kinds, attributes and errors', async () => {
  tracer.startActiveSpan('outside of any activity', (outside) => outside.end())
  const handle = await new Client({ connection }).workflow.start('story', {
    workflowId: taskQueue,
    taskQueue,
    args: [{ end: 'complete' }],
  })
  await handle.result()

  const [step] = (await archived(handle.firstExecutionRunId)).children

  expect(step?.children).toMatchObject([
    {
      kind: 'http',
      name: 'POST',
      error: { name: 'TypeError', message: 'no answer' },
      attributes: { attempt: 1, authorization: '[redacted]', 'http.response.status_code': 503 },
      children: [
        {
          kind: 'note',
          name: 'inside',
          children: [{ kind: 'llm', name: 'chat', attributes: { 'gen_ai.request.model': 'm' } }],
        },
      ],
    },
  ])
  expect(step?.children).toHaveLength(1)
})

test('Nexus: a span in the handler of an operation stands below the operation of its caller', async () => {
  const { address } = inject('engine')
  const queue = `nexus-${crypto.randomUUID()}`
  const endpoint = `endpoint-${crypto.randomUUID()}`
  const spec = { name: endpoint, target: { worker: { namespace: 'default', taskQueue: queue } } }
  await connection.operatorService.createNexusEndpoint({ spec })
  const pay = async () => span('http', 'charge', async () => 'paid')
  const traces = { remote: null, local: { directory: folder, writes: true }, maxBytes: 1 << 20 }
  const own = await startWorker({
    address,
    taskQueue: queue,
    activities: {},
    workflowsPath: new URL('./fixtures/nexus-workflows.ts', import.meta.url),
    options: {
      nexusServices: [nexus.serviceHandler(bank, { pay })],
      plugins: [porticoPlugin({ catalog: defineCatalog({ pays: {} }), traces })],
    },
  })
  const handle = await new Client({ connection }).workflow.start('pays', {
    workflowId: queue,
    taskQueue: queue,
    args: [{ endpoint }],
  })
  expect(await handle.result()).toBe('paid')

  const { children } = await archived(handle.firstExecutionRunId)

  expect(children).toMatchObject([
    { kind: 'nexus_operation', output: 'paid', children: [{ kind: 'http', name: 'charge', output: 'paid' }] },
  ])
  await own.stop()
}, 60_000)

async function archived(runId: string): Promise<TraceNode> {
  const path = join(folder, 'default', `${runId}.json`)
  const text = await until('the run is archived', () => readFile(path, 'utf8').catch(() => null), { timeoutMs: 20_000 })
  const tree = toTraceTree(parseTraceDocument(text).found.entries)
  if (tree === null) throw new Error('The trace has no root')
  return tree
}
