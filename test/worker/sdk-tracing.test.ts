/** The OpenTelemetry interceptors of Temporal's SDKs continue the trace of the request. */
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect } from 'vitest'
import { until } from '../../dev/servers/until.ts'
import { test as baseTest } from '../support/fixtures.ts'
import { startPythonWorker } from '../support/python-worker.ts'
import { installTracer } from '../support/tracer.ts'

const SCRIPT = fileURLToPath(new URL('../support/python_traced_worker.py', import.meta.url))

let tracer: ReturnType<typeof installTracer>

beforeAll(() => {
  tracer = installTracer()
})
afterAll(() => tracer.uninstall())

const test = baseTest.extend('worker', { scope: 'file' }, async ({ engine, catalog, cleanup }) => {
  const worker = await startPythonWorker({ address: engine.address, taskQueue: catalog, script: SCRIPT })
  cleanup.defer(() => worker.stop())
  return worker
})

/** The span of the request in this process, once it has ended. */
function requestSpan(traceId: string) {
  return until('the span of the request has ended', () =>
    tracer.exporter
      .getFinishedSpans()
      .find((span) => span.spanContext().traceId === traceId && span.name === 'POST /workflow/run'),
  )
}

test('Python: the request, its workflow and its activity are one trace', async ({ serve, worker: _ }) => {
  const { call, run } = serve()
  const traceId = crypto.randomUUID().replaceAll('-', '')
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` }

  const body = { workflowName: 'py_traced', input: 'Ada' }
  const { body: result } = await call('POST', '/workflow/run', body, headers)
  const { body: spans } = await run('py_spans', traceId)

  const requestId = (await requestSpan(traceId)).spanContext().spanId
  expect(result.output).toBe('Hello, Ada!')
  expect(spans.output).toEqual(
    expect.arrayContaining([
      { name: 'RunWorkflow:py_traced', parent: requestId },
      { name: 'StartActivity:py_step', parent: expect.any(String) },
      { name: 'RunActivity:py_step', parent: expect.any(String) },
    ]),
  )
})
