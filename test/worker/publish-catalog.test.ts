import { NativeConnection } from '@temporalio/worker'
import { expect } from 'vitest'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { catalogHash, publishCatalog } from '../../src/worker/catalog/publish-catalog.ts'
import { test } from '../support/fixtures.ts'

const TEN_YEARS_SECONDS = 315_360_000

const FIRST = defineCatalog({ greet: { aliases: ['hello'] } })
const SECOND = defineCatalog({ greet: {}, order: {} })

test('publishCatalog: starts one parked run that no worker executes', async ({ nativeConnection: connection }) => {
  const catalog = aCatalog()

  await publish(connection, catalog, FIRST)

  const { workflowExecutionInfo: run, pendingWorkflowTask } = await describe(connection, catalog)
  expect(run).toMatchObject({ status: 1, type: { name: '$catalog' }, taskQueue: '$catalog' })
  expect(Number(run?.executionTime?.seconds) - Number(run?.startTime?.seconds)).toBe(TEN_YEARS_SECONDS)
  expect(pendingWorkflowTask).toBeNull()
})

test('publishCatalog: the memo contains the names, the hash, the trace destinations and the publisher, the argument the definition', async ({
  nativeConnection: connection,
}) => {
  const catalog = aCatalog()

  const { hash } = await publish(connection, catalog, FIRST)

  const { workflowExecutionInfo: run } = await describe(connection, catalog)
  const workflowNames = { greet: 'greet', hello: 'greet' }
  expect(decoded(run?.memo?.fields)).toEqual({ workflowNames, hash, traces: false, publisher: 'a test' })
  expect(hash).toBe(await catalogHash(FIRST, false))
  expect(await firstArgument(connection, catalog)).toEqual([FIRST])
})

test('publishCatalog: does not replace a catalog with the same content', async ({ nativeConnection: connection }) => {
  const catalog = aCatalog()
  const first = await publish(connection, catalog, FIRST)
  const runId = await openRunId(connection, catalog)

  const second = await publish(connection, catalog, FIRST)

  expect([first.state, second.state]).toEqual(['published', 'unchanged'])
  expect(await openRunId(connection, catalog)).toBe(runId)
})

test('publishCatalog: replaces another catalog atomically: readers always find one', async ({
  nativeConnection: connection,
}) => {
  const catalog = aCatalog()
  await publish(connection, catalog, FIRST)
  const seen = new Set<string>()
  let reading = true
  const readers = [1, 2, 3].map(async () => {
    while (reading) {
      const { workflowExecutionInfo: run } = await describe(connection, catalog)
      seen.add(`${run?.status} ${Object.keys(names(decoded(run?.memo?.fields)))}`)
    }
  })

  for (let round = 0; round < 10; round++) {
    await publish(connection, catalog, SECOND)
    await publish(connection, catalog, FIRST)
  }
  reading = false
  await Promise.all(readers)

  expect([...seen].sort()).toEqual(['1 greet,hello', '1 greet,order'])
})

test('publishCatalog: many workers that start at once publish one catalog', async ({
  nativeConnection: connection,
}) => {
  const catalog = aCatalog()

  const results = await Promise.all(Array.from({ length: 10 }, () => publish(connection, catalog, FIRST)))

  expect(new Set(results.map(({ hash }) => hash)).size).toBe(1)
  expect(await openRunId(connection, catalog)).toBeTruthy()
  expect(await firstArgument(connection, catalog)).toEqual([FIRST])
})

test('publishCatalog: publishes a terminated catalog again', async ({ nativeConnection: connection }) => {
  const catalog = aCatalog()
  await publish(connection, catalog, FIRST)
  await connection.workflowService.terminateWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: `$catalog:${catalog}` },
  })

  const { state } = await publish(connection, catalog, FIRST)

  expect(state).toBe('published')
  expect(await openRunId(connection, catalog)).toBeTruthy()
})

test('publishCatalog: replaces a run that is not a catalog', async ({ nativeConnection: connection }) => {
  const catalog = aCatalog()
  await connection.workflowService.startWorkflowExecution({
    namespace: 'default',
    workflowId: `$catalog:${catalog}`,
    workflowType: { name: 'something' },
    taskQueue: { name: '$catalog' },
    memo: { fields: { hash: { data: Buffer.from('no JSON') } } },
  })

  expect(await publish(connection, catalog, FIRST)).toMatchObject({ state: 'published' })
  expect(await firstArgument(connection, catalog)).toEqual([FIRST])
})

test('publishCatalog: the engine accepts the largest catalog that defineCatalog accepts', async ({
  nativeConnection: connection,
}) => {
  const bytes = (definition: typeof FIRST) => Buffer.byteLength(JSON.stringify(definition))
  const withText = (length: number) => defineCatalog({ greet: { description: 'x'.repeat(length) } })
  const largest = 2 * 1024 * 1024 - 64 - bytes(withText(0))

  expect(await publish(connection, aCatalog(), withText(largest))).toMatchObject({ state: 'published' })
  expect(() => withText(largest + 1)).toThrow('the largest workflow is "greet"')
})

test('publishCatalog: succeeds after a short outage of the engine', async ({
  engine,
  nativeConnection: connection,
}) => {
  const catalog = aCatalog()
  const proxy = await startTcpProxy(engine.address)
  const interrupted = await NativeConnection.connect({ address: proxy.address })
  proxy.interrupt()

  const publishing = publish(interrupted, catalog, FIRST, 60_000)
  await until('two connection attempts have failed', () => proxy.rejected() >= 2)
  proxy.restore()

  expect(await publishing).toMatchObject({ state: 'published' })
  expect(await firstArgument(connection, catalog)).toEqual([FIRST])
  await interrupted.close()
  await proxy.close()
})

function aCatalog(): string {
  return `publish-${crypto.randomUUID()}`
}

function publish(connection: NativeConnection, catalog: string, definition: typeof FIRST, timeoutMs?: number) {
  return publishCatalog({
    connection,
    namespace: 'default',
    catalog,
    definition,
    traces: false,
    identity: 'a test',
    version: null,
    timeoutMs,
  })
}

function describe(connection: NativeConnection, catalog: string) {
  return connection.workflowService.describeWorkflowExecution({
    namespace: 'default',
    execution: { workflowId: `$catalog:${catalog}` },
  })
}

async function openRunId(connection: NativeConnection, catalog: string): Promise<string | null | undefined> {
  const { workflowExecutionInfo: run } = await describe(connection, catalog)
  return run?.status === 1 ? run.execution?.runId : null
}

async function firstArgument(connection: NativeConnection, catalog: string): Promise<unknown[] | undefined> {
  const { history } = await connection.workflowService.getWorkflowExecutionHistory({
    namespace: 'default',
    execution: { workflowId: `$catalog:${catalog}` },
  })
  expect(history?.events).toHaveLength(1)
  return history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.map(json)
}

interface Payload {
  metadata?: Record<string, Uint8Array> | null
  data?: Uint8Array | null
}

function json({ metadata, data }: Payload): unknown {
  expect(Buffer.from(metadata?.encoding ?? '').toString()).toBe('json/plain')
  return JSON.parse(Buffer.from(data ?? '').toString())
}

function decoded(fields: Record<string, Payload> | null | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields ?? {}).map(([key, payload]) => [key, json(payload)]))
}

function names({ workflowNames }: Record<string, unknown>): object {
  return typeof workflowNames === 'object' && workflowNames !== null ? workflowNames : {}
}
