/** OpenTelemetry spans and spans of Nexus operations in the trace of their run. */
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import * as nexus from 'nexus-rpc'
import { expect } from 'vitest'
import { defineCatalog, span } from '../../src/worker/index.ts'
import { porticoSpanProcessor } from '../../src/worker/tracing/otel.ts'
import { archivedTrace } from '../support/archived-trace.ts'
import { test as baseTest } from '../support/fixtures.ts'
import { bank } from './fixtures/nexus-service.ts'
import { startStory } from './fixtures/start-story.ts'

const tracer = trace.getTracer('test')

/** An activity with an instrumented library inside and around `span()`. */
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

const test = baseTest
  .extend('openTelemetry', { scope: 'file' }, ({ cleanup }) => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [porticoSpanProcessor()] }))
    cleanup.defer(() => {
      trace.disable()
      context.disable()
    })
    return trace
  })
  .override('worker', { scope: 'file' }, ({ startTracedWorker, openTelemetry: _ }) => {
    const workflowsPath = new URL('./fixtures/traced-workflows.ts', import.meta.url)
    return startTracedWorker({
      plugin: { catalog: defineCatalog({ story: {} }) },
      activities: { thinks },
      workflowsPath,
    })
  })

test('OpenTelemetry: spans are nested with those of span(), with kinds, attributes and errors', async ({
  client,
  worker: { taskQueue },
  folder,
}) => {
  tracer.startActiveSpan('outside of any activity', (outside) => outside.end())
  const handle = await startStory(client, taskQueue)
  await handle.result()

  const { tree } = await archivedTrace(folder, handle.firstExecutionRunId, { hasSpans: true })
  const [step] = tree.children

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

test("Nexus: a span in an operation's handler is a child of the operation in the caller's trace", async ({
  connection,
  client,
  startTracedWorker,
  folder,
}) => {
  const queue = `nexus-${crypto.randomUUID()}`
  const endpoint = `endpoint-${crypto.randomUUID()}`
  const spec = { name: endpoint, target: { worker: { namespace: 'default', taskQueue: queue } } }
  await connection.operatorService.createNexusEndpoint({ spec })
  const pay = async () => span('http', 'charge', async () => 'paid')
  await startTracedWorker({
    plugin: { catalog: defineCatalog({ pays: {} }) },
    taskQueue: queue,
    activities: {},
    workflowsPath: new URL('./fixtures/nexus-workflows.ts', import.meta.url),
    options: { nexusServices: [nexus.serviceHandler(bank, { pay })] },
  })
  const handle = await client.workflow.start('pays', { workflowId: queue, taskQueue: queue, args: [{ endpoint }] })
  expect(await handle.result()).toBe('paid')

  const { tree } = await archivedTrace(folder, handle.firstExecutionRunId, { hasSpans: true })

  expect(tree.children).toMatchObject([
    { kind: 'nexus_operation', output: 'paid', children: [{ kind: 'http', name: 'charge', output: 'paid' }] },
  ])
})
