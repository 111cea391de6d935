/** The OpenTelemetry interceptors of Temporal's SDKs continue the trace of the request. */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { Worker } from '@temporalio/worker'
import { beforeAll, expect } from 'vitest'
import { untilPolled } from '../../dev/servers/worker.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import * as activities from '../support/activities.ts'
import { test as baseTest } from '../support/fixtures.ts'
import { startPythonWorker } from '../support/python-worker.ts'
import { installTracer } from '../support/tracer.ts'

// Without its types, which are those of OpenTelemetry 1: the spans of this process are of OpenTelemetry 2.
const { OpenTelemetryPlugin } = createRequire(import.meta.url)('@temporalio/interceptors-opentelemetry')

const WORKFLOWS = fileURLToPath(new URL('../support/workflows.ts', import.meta.url))
const SCRIPT = fileURLToPath(new URL('../support/python_traced_worker.py', import.meta.url))

let tracer: ReturnType<typeof installTracer>

beforeAll(() => {
  tracer = installTracer()
  return tracer.uninstall
})

const test = baseTest
  .extend('pythonWorker', { scope: 'file' }, async ({ engine, catalog, cleanup }) => {
    const worker = await startPythonWorker({ address: engine.address, taskQueue: `${catalog}-python`, script: SCRIPT })
    cleanup.defer(() => worker.stop())
    return worker
  })
  .extend('typeScriptWorker', { scope: 'file' }, async ({ nativeConnection: connection, catalog, cleanup }) => {
    const taskQueue = `${catalog}-typescript`
    const spanProcessor = new SimpleSpanProcessor(tracer.exporter)
    const plugins = [new OpenTelemetryPlugin({ resource: { attributes: {} }, spanProcessor })]
    const worker = await Worker.create({ connection, taskQueue, workflowsPath: WORKFLOWS, activities, plugins })
    const running = worker.run()
    cleanup.defer(async () => {
      worker.shutdown()
      await running
    })
    await untilPolled(connection, 'default', taskQueue)
    return { taskQueue }
  })

/** The span of the request in this process, once it has ended. */
function requestSpan(traceId: string) {
  return until('the span of the request has ended', () =>
    tracer.exporter
      .getFinishedSpans()
      .find((span) => span.spanContext().traceId === traceId && span.name === 'POST /workflow/run'),
  )
}

test('Python: the request, its workflow and its activity are one trace', async ({ serve, pythonWorker }) => {
  const { call, run } = serve({ SERVICE_CATALOG_ID: pythonWorker.taskQueue })
  const traceId = crypto.randomUUID().replaceAll('-', '')
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` }

  const body = { workflowName: 'py_traced', input: 'Ada' }
  const { body: result } = await call('POST', '/workflow/run', body, headers)
  const { body: spans } = await run('py_spans', traceId)

  const [workflow, start, activity] = ['RunWorkflow:py_traced', 'StartActivity:py_step', 'RunActivity:py_step'].map(
    (name) => spans.output.find((span: { name: string }) => span.name === name),
  )
  expect(result.output).toBe('Hello, Ada!')
  const requestId = (await requestSpan(traceId)).spanContext().spanId
  // In Python the spans of a workflow have the same parent as the workflow itself.
  expect([workflow.parent, start.parent, activity.parent]).toEqual([requestId, requestId, start.id])
})

test('TypeScript: the request, its workflow and its activity are one trace', async ({ serve, typeScriptWorker }) => {
  const { call } = serve({ SERVICE_CATALOG_ID: typeScriptWorker.taskQueue })
  const traceId = crypto.randomUUID().replaceAll('-', '')
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` }

  const { body } = await call('POST', '/workflow/run', { workflowName: 'manySteps', input: { n: 1 } }, headers)

  const request = await requestSpan(traceId)
  const [workflow, start, activity] = await until('the spans have ended', () => {
    const spans = tracer.exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === traceId)
    const found = ['RunWorkflow:manySteps', 'StartActivity:step', 'RunActivity:step'].map((name) =>
      spans.find((span) => span.name === name),
    )
    return found.includes(undefined) ? null : found
  })
  expect(body.output).toBe(1)
  expect([workflow, start, activity].map(parentId)).toEqual([
    request.spanContext().spanId,
    workflow?.spanContext().spanId,
    start?.spanContext().spanId,
  ])
})

/** The spans of workflows have it in the form of OpenTelemetry 1. */
function parentId(span: object | undefined): unknown {
  const { parentSpanId, parentSpanContext } = (span ?? {}) as {
    parentSpanId?: string
    parentSpanContext?: { spanId: string }
  }
  return parentSpanId ?? parentSpanContext?.spanId
}
