import { NativeConnection } from '@temporalio/worker'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../dev/servers/until.ts'
import { catalogHash } from '../../src/protocol/catalog-hash.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { publishCatalog } from '../../src/worker/catalog/publish-catalog.ts'

const TEN_YEARS_SECONDS = 315_360_000

const FIRST = defineCatalog({ greet: { aliases: ['hello'] } })
const SECOND = defineCatalog({ greet: {}, order: {} })

let connection: NativeConnection

beforeAll(async () => {
  connection = await NativeConnection.connect({ address: inject('engine').address })
})

afterAll(() => connection?.close())

test('publishCatalog: parks one run that no worker will ever see', async () => {
  const catalog = aCatalog()

  await publish(catalog, FIRST)

  const { workflowExecutionInfo: run, pendingWorkflowTask } = await describe(catalog)
  expect(run).toMatchObject({ status: 1, type: { name: '$catalog' }, taskQueue: '$catalog' })
  expect(Number(run?.executionTime?.seconds) - Number(run?.startTime?.seconds)).toBe(TEN_YEARS_SECONDS)
  expect(pendingWorkflowTask).toBeNull()
})

test('publishCatalog: the memo holds the names, the hash and where traces go; the argument is the definition', async () => {
  const catalog = aCatalog()

  const { hash } = await publish(catalog, FIRST)

  const { workflowExecutionInfo: run } = await describe(catalog)
  expect(decoded(run?.memo?.fields)).toEqual({ workflowNames: { greet: 'greet', hello: 'greet' }, hash, traces: false })
  expect(hash).toBe(await catalogHash(FIRST, false))
  expect(await firstArgument(catalog)).toEqual([FIRST])
})

test('publishCatalog: leaves a catalog of the same content alone', async () => {
  const catalog = aCatalog()
  const first = await publish(catalog, FIRST)
  const runId = await openRunId(catalog)

  const second = await publish(catalog, FIRST)

  expect([first.state, second.state]).toEqual(['published', 'unchanged'])
  expect(await openRunId(catalog)).toBe(runId)
})

test('publishCatalog: replaces another catalog, and no reader ever sees none', async () => {
  const catalog = aCatalog()
  await publish(catalog, FIRST)
  const seen = new Set<string>()
  let reading = true
  const readers = [1, 2, 3].map(async () => {
    while (reading) {
      const { workflowExecutionInfo: run } = await describe(catalog)
      seen.add(`${run?.status} ${Object.keys(names(decoded(run?.memo?.fields)))}`)
    }
  })

  for (let round = 0; round < 10; round++) {
    await publish(catalog, SECOND)
    await publish(catalog, FIRST)
  }
  reading = false
  await Promise.all(readers)

  expect([...seen].sort()).toEqual(['1 greet,hello', '1 greet,order'])
})

test('publishCatalog: many workers of one version that start at once leave one catalog', async () => {
  const catalog = aCatalog()

  const results = await Promise.all(Array.from({ length: 10 }, () => publish(catalog, FIRST)))

  expect(new Set(results.map(({ hash }) => hash)).size).toBe(1)
  expect(await openRunId(catalog)).toBeTruthy()
  expect(await firstArgument(catalog)).toEqual([FIRST])
})

test('publishCatalog: publishes again what somebody terminated', async () => {
  const catalog = aCatalog()
  await publish(catalog, FIRST)
  await connection.workflowService.terminateWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: `$catalog:${catalog}` },
  })

  const { state } = await publish(catalog, FIRST)

  expect(state).toBe('published')
  expect(await openRunId(catalog)).toBeTruthy()
})

test('publishCatalog: replaces what another publisher wrote there', async () => {
  const catalog = aCatalog()
  await connection.workflowService.startWorkflowExecution({
    namespace: 'default',
    workflowId: `$catalog:${catalog}`,
    workflowType: { name: 'something' },
    taskQueue: { name: '$catalog' },
    memo: { fields: { hash: { data: Buffer.from('no JSON') } } },
  })

  expect(await publish(catalog, FIRST)).toMatchObject({ state: 'published' })
  expect(await firstArgument(catalog)).toEqual([FIRST])
})

test('publishCatalog: the engine takes the largest catalog that can be defined', async () => {
  const bytes = (definition: typeof FIRST) => Buffer.byteLength(JSON.stringify(definition))
  const withText = (length: number) => defineCatalog({ greet: { description: 'x'.repeat(length) } })
  const largest = 2 * 1024 * 1024 - 64 - bytes(withText(0))

  expect(await publish(aCatalog(), withText(largest))).toMatchObject({ state: 'published' })
  expect(() => withText(largest + 1)).toThrow('the largest workflow is "greet"')
})

test('publishCatalog: goes on when the engine is away for a moment', async () => {
  const catalog = aCatalog()
  const way = await startTcpProxy(inject('engine').address)
  const shaky = await NativeConnection.connect({ address: way.address })
  way.interrupt()

  const publishing = publish(catalog, FIRST, shaky)
  await until('the engine was asked for in vain', () => way.refused() >= 2)
  way.restore()

  expect(await publishing).toMatchObject({ state: 'published' })
  expect(await firstArgument(catalog)).toEqual([FIRST])
  await shaky.close()
  await way.close()
})

function aCatalog(): string {
  return `publish-${crypto.randomUUID()}`
}

function publish(catalog: string, definition: typeof FIRST, through = connection) {
  return publishCatalog({
    connection: through,
    namespace: 'default',
    catalog,
    definition,
    traces: false,
    identity: 'a test',
    version: null,
    starts: true,
  })
}

function describe(catalog: string) {
  return connection.workflowService.describeWorkflowExecution({
    namespace: 'default',
    execution: { workflowId: `$catalog:${catalog}` },
  })
}

async function openRunId(catalog: string): Promise<string | null | undefined> {
  const { workflowExecutionInfo: run } = await describe(catalog)
  return run?.status === 1 ? run.execution?.runId : null
}

async function firstArgument(catalog: string): Promise<unknown[] | undefined> {
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
