/** The outbox over a real engine, Redis and S3, with the clock of its worker in hand; that of the store can't be moved, but what it is compared with can. */
import { Client, Connection } from '@temporalio/client'
import { NativeConnection } from '@temporalio/worker'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createPayloads } from '../../src/engine/payload.ts'
import { outboxKey, spansKey } from '../../src/protocol/trace-keys.ts'
import { createKv, type KvStore } from '../../src/store/kv.ts'
import { createEngineCalls } from '../../src/worker/engine-calls.ts'
import { createTraceOutbox } from '../../src/worker/trace-outbox.ts'
import { traceTargets } from '../../src/worker/trace-targets.ts'
import { type RunningRedis, startRedis } from '../support/redis.ts'
import { type RunningS3, startRclone } from '../support/s3.ts'
import { storedTrace, traceKeys } from '../support/traced-worker.ts'
import { until } from '../support/until.ts'
import { quietRuntime } from '../support/worker.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const catalog = `clock-${crypto.randomUUID()}`

let redis: RunningRedis
let store: Redis
let s3: RunningS3
let kv: KvStore
let native: NativeConnection
let connection: Connection
let client: Client

beforeAll(async () => {
  quietRuntime()
  const { address } = inject('engine')
  ;[redis, s3] = await Promise.all([startRedis(), startRclone()])
  store = new Redis(redis.url)
  kv = createKv({ url: redis.url, token: null })
  native = await NativeConnection.connect({ address })
  connection = await Connection.connect({ address })
  client = new Client({ connection })
})

afterAll(async () => {
  await kv?.close()
  store?.disconnect()
  await redis?.kill()
  await s3?.stop()
  await native?.close()
  await connection?.close()
})

test('outbox: the spans of an open run are given their time again by the sweep, twice a day', async () => {
  const { root, outbox, sweepAfter } = await worker()
  await outbox.append(root, root.rootRunId, [span(root.rootRunId)])
  await sweepAfter(0)
  await store.pexpire(spansKey(root.rootRunId), HOUR_MS)

  await sweepAfter(13 * HOUR_MS)
  const renewed = await store.pttl(spansKey(root.rootRunId))
  await store.pexpire(spansKey(root.rootRunId), HOUR_MS)
  await sweepAfter(14 * HOUR_MS)

  expect(renewed).toBeGreaterThan(7 * DAY_MS - 60_000)
  expect(await store.pttl(spansKey(root.rootRunId))).toBeLessThanOrEqual(HOUR_MS)
  await client.workflow.getHandle(root.workflowId).terminate()
})

test('outbox: a worker that comes back after an hour stores what has ended meanwhile', async () => {
  const { root, outbox, sweepAfter } = await worker()
  await outbox.append(root, root.rootRunId, [span(root.rootRunId)])
  await sweepAfter(0)
  await client.workflow.getHandle(root.workflowId).terminate()

  // The index hears of an end a moment later.
  await until('it is stored', async () => {
    await sweepAfter(HOUR_MS)
    return (await storedTrace(s3, root.workflowId)).entries.some(({ phase }) => phase === 'ended')
  })

  expect((await storedTrace(s3, root.workflowId)).entries.map(({ id }) => id)).toContain(`${root.rootRunId}:span:a`)
  expect((await traceKeys(redis)).filter((key) => key.includes(root.rootRunId))).toEqual([])
  expect(await store.zscore(outboxKey('default', catalog), JSON.stringify([root.workflowId, root.rootRunId]))).toBeNull()
})

test('outbox: a run that the engine does not know is dropped after seven days, not before', async () => {
  const { outbox, sweepAfter } = await worker()
  const unknown = { workflowId: `unknown-${crypto.randomUUID()}`, rootRunId: crypto.randomUUID(), catalog }
  await outbox.append(unknown, unknown.rootRunId, [span(unknown.rootRunId)])

  await sweepAfter(0)
  await sweepAfter(6 * DAY_MS)
  const before = await store.exists(spansKey(unknown.rootRunId))
  await sweepAfter(7 * DAY_MS)

  expect(before).toBe(1)
  expect((await traceKeys(redis)).filter((key) => key.includes(unknown.rootRunId))).toEqual([])
})

/** An open run that nobody executes, and an outbox that sweeps when it is told to. */
async function worker() {
  const { bucket, region, accessKeyId, secretAccessKey, endpoint } = s3
  let aheadMs = 0
  const outbox = createTraceOutbox({
    engine: createEngineCalls({ connection: native, namespace: 'default' }),
    kv,
    namespace: 'default',
    catalog,
    targets: traceTargets({
      remote: { storage: { bucket, region, accessKeyId, secretAccessKey, endpoint }, kvstore: null },
      local: null,
      maxBytes: 1 << 20,
    }),
    payloads: createPayloads({ codec: null, maxBytes: Number.POSITIVE_INFINITY }),
    redact: (_path, value) => value,
    maxBytes: 1 << 20,
    trouble: () => {},
    now: () => Date.now() + aheadMs,
  })
  const workflowId = `clock-${crypto.randomUUID()}`
  const { firstExecutionRunId } = await client.workflow.start('nobody', { workflowId, taskQueue: catalog })
  return {
    outbox,
    root: { workflowId, rootRunId: firstExecutionRunId, catalog },
    /** So long after now, when all that waits is due. */
    async sweepAfter(ms: number) {
      aheadMs = ms
      const members = await store.zrange(outboxKey('default', catalog), '0', '-1')
      for (const member of members) await store.zadd(outboxKey('default', catalog), 0, member)
      await outbox.sweep()
    },
  }
}

function span(runId: string): string {
  return JSON.stringify({ id: `${runId}:span:a`, parentId: `${runId}:step:1`, kind: 'llm', name: 'a', at: 1, phase: 'began' })
}
