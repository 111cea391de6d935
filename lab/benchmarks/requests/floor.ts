/**
 * The minimum work of a gateway: a bare server of the runtime that makes the same raw calls through the SDK's
 * connection.
 *
 * Runs on Node, Bun and Deno. `POST /sdk/run` starts the workflow with the SDK's `workflow.execute` instead.
 */
import { createServer } from 'node:http'
import process from 'node:process'
import { Client, Connection } from '@temporalio/client'

const { ENGINE_ADDRESS: address, SERVICE_CATALOG_ID: catalog = '', SERVICE_PORT = '0' } = process.env
const namespace = 'default'
const connection = await Connection.connect({ address: address ?? '' })
const service = connection.workflowService
const client = new Client({ connection })

interface Payload {
  metadata?: Record<string, Uint8Array> | null
  data?: Uint8Array | null
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const encoding = encoder.encode('json/plain')
const toPayloads = (value: unknown) => ({
  payloads: [{ metadata: { encoding }, data: encoder.encode(JSON.stringify(value)) }],
})
const fromPayloads = (payloads?: { payloads?: Payload[] | null } | null): unknown => {
  const data = payloads?.payloads?.[0]?.data
  return data ? JSON.parse(decoder.decode(data)) : null
}

async function start(body: { workflowName: string; input: unknown }) {
  const workflowId = crypto.randomUUID()
  const { runId } = await service.startWorkflowExecution({
    namespace,
    workflowId,
    requestId: crypto.randomUUID(),
    workflowType: { name: body.workflowName },
    taskQueue: { name: catalog },
    input: toPayloads(body.input),
  })
  return { workflowId, runId: runId ?? '' }
}

async function closeEvent(execution: { workflowId: string; runId: string }, waitNewEvent: boolean) {
  const { history } = await service.getWorkflowExecutionHistory({
    namespace,
    execution,
    waitNewEvent,
    historyEventFilterType: 2, // CLOSE_EVENT
  })
  return history?.events?.at(-1)?.workflowExecutionCompletedEventAttributes
}

async function answer(path: string, body: () => Promise<unknown>): Promise<unknown> {
  const [, first, second = '', third = '', run = '', last = third] = path.split(/[/?]/)
  if (first === 'health') return { status: 'ok' }
  if (first === 'sdk') {
    const { workflowName, input } = (await body()) as { workflowName: string; input: unknown }
    const args = [input]
    return client.workflow.execute(workflowName, { taskQueue: catalog, workflowId: crypto.randomUUID(), args })
  }
  if (second === 'start') return start((await body()) as { workflowName: string; input: unknown })
  if (second === 'run') {
    const run = await start((await body()) as { workflowName: string; input: unknown })
    return { ...run, output: fromPayloads((await closeEvent(run, true))?.result) }
  }
  if (second === 'catalog') {
    const execution = { workflowId: `$catalog:${catalog}`, runId: '' }
    await service.describeWorkflowExecution({ namespace, execution })
    const { history } = await service.getWorkflowExecutionHistory({ namespace, execution, maximumPageSize: 1 })
    return fromPayloads(history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input)
  }
  if (second === 'runs') {
    const { executions } = await service.listWorkflowExecutions({ namespace, pageSize: 20 })
    return executions.map(({ execution, type, status }) => ({ ...execution, workflowName: type?.name, status }))
  }
  const execution = { workflowId: second, runId: third === 'runs' ? run : '' }
  if (third === 'status') {
    const { workflowExecutionInfo: run } = await service.describeWorkflowExecution({ namespace, execution })
    return { workflowId: second, runId: run?.execution?.runId, status: run?.status }
  }
  if (third === 'query') {
    await body()
    const query = { queryType: 'progress' }
    const { queryResult } = await service.queryWorkflow({ namespace, execution, query })
    return fromPayloads(queryResult)
  }
  if (last === 'result') {
    const { workflowExecutionInfo: run } = await service.describeWorkflowExecution({ namespace, execution })
    const { history } = await service.getWorkflowExecutionHistory({ namespace, execution, maximumPageSize: 1 })
    const input = fromPayloads(history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input)
    const output = fromPayloads((await closeEvent(execution, false))?.result)
    return { workflowId: second, runId: run?.execution?.runId, status: run?.status, input, output }
  }
  // trace-log
  await service.describeWorkflowExecution({ namespace, execution })
  const { history } = await service.getWorkflowExecutionHistory({ namespace, execution })
  return (history?.events ?? []).map(({ eventId, eventType }) => ({ id: Number(eventId), type: eventType }))
}

const port = Number(SERVICE_PORT)
const hostname = '127.0.0.1'

if ('Bun' in globalThis || 'Deno' in globalThis) {
  const fetch = async (request: Request) =>
    Response.json(await answer(new URL(request.url).pathname, () => request.json()))
  const { Bun, Deno } = globalThis as unknown as {
    Bun?: { serve(options: object): unknown }
    Deno?: { serve(options: object, fetch: (request: Request) => Promise<Response>): unknown }
  }
  if (Bun) Bun.serve({ port, hostname, fetch })
  else Deno?.serve({ port, hostname }, fetch)
} else {
  createServer(async (request, response) => {
    const body = async () => {
      let text = ''
      for await (const part of request) text += part
      return JSON.parse(text)
    }
    const text = JSON.stringify(await answer(request.url ?? '', body))
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
  }).listen(port, hostname)
}
