/** The trace of a request continues in the engine. */
import { beforeAll, expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type InProcessService, test } from '../support/fixtures.ts'
import { installTracer } from '../support/tracer.ts'

let tracer: ReturnType<typeof installTracer>

beforeAll(() => {
  tracer = installTracer()
  return tracer.uninstall
})

test('over gRPC, the engine gets the trace context of each call as metadata', async ({ faultProxy, serve }) => {
  const traceId = await traceOf(serve({ ENGINE_ADDRESS: faultProxy.address }, 'disturbed'))

  expect(sentIn(faultProxy.traceparents, traceId)).toEqual(callSpansOf(traceId))
})

test("over Temporal's HTTP API, the engine gets it as a header", async ({ faultProxy, serve }) => {
  const env = { ENGINE_TRANSPORT: 'http', ENGINE_HTTP_URL: faultProxy.httpUrl ?? '', ENGINE_ADDRESS: '' }
  const traceId = await traceOf(serve(env, 'disturbed'))

  expect(sentIn(faultProxy.traceparents, traceId)).toEqual(callSpansOf(traceId))
})

test('a started workflow continues the trace, with the span of the request as its parent', async ({
  serve,
  worker,
  client,
}) => {
  const { call } = serve({ SERVICE_CATALOG_ID: worker.taskQueue })
  const traceId = crypto.randomUUID().replaceAll('-', '')
  const workflowId = crypto.randomUUID()
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`

  const { status } = await call(
    'POST',
    '/workflow/run',
    { workflowName: 'echo', input: 1, workflowId },
    { traceparent },
  )

  const { events } = await client.workflow.getHandle(workflowId).fetchHistory()
  const { fields } = events?.[0]?.workflowExecutionStartedEventAttributes?.header ?? {}
  const server = await until('the span has ended', () =>
    tracer.exporter
      .getFinishedSpans()
      .find((span) => span.spanContext().traceId === traceId && span.name === 'POST /workflow/run'),
  )
  expect(status).toBe(200)
  expect(JSON.parse(new TextDecoder().decode(fields?.['_tracer-data']?.data ?? undefined))).toEqual({
    traceparent: `00-${traceId}-${server.spanContext().spanId}-01`,
  })
})

/** The trace of a request that calls the engine once. */
async function traceOf({ call }: InProcessService): Promise<string> {
  const traceId = crypto.randomUUID().replaceAll('-', '')
  const answer = await call('GET', '/workflow/unknown-id/status', undefined, {
    traceparent: `00-${traceId}-b7ad6b7169203331-01`,
  })
  expect(answer.status).toBe(404)
  return traceId
}

function sentIn(traceparents: string[], traceId: string): string[] {
  return traceparents.filter((traceparent) => traceparent.includes(traceId))
}

/** As the `traceparent` of one call. */
function callSpansOf(traceId: string): string[] {
  const ids = tracer.exporter
    .getFinishedSpans()
    .filter((span) => span.spanContext().traceId === traceId && span.name.endsWith('/DescribeWorkflowExecution'))
    .map((span) => span.spanContext().spanId)
  expect(ids).toHaveLength(1)
  return ids.map((id) => `00-${traceId}-${id}-01`)
}
