/** The readers of stores on every runtime: the same service, started as its users start it. */
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { haveBundles } from '../../dev/servers/bundles.ts'
import { type RunningRedis, startRedis } from '../../dev/servers/redis.ts'
import { bin, DENO_PERMISSIONS } from '../../dev/servers/runtimes.ts'
import { type RunningS3, startWeed } from '../../dev/servers/s3.ts'
import { toTraceDocument } from '../../src/protocol/trace/document.ts'
import type { TraceEntry } from '../../src/protocol/trace/entry.ts'
import { spansKey } from '../../src/protocol/trace/keys.ts'
import { createKvStore, type KvStore } from '../../src/store/kv/kv-store.ts'
import { storeCall } from '../conformance/kv-store.ts'
import { processOf, type ServedEntry, type ServeEntry, workerdOf } from '../support/entries.ts'
import { startUpstash, type UpstashServer } from '../support/upstash.ts'
import { startWorker, type TestWorker } from '../support/worker.ts'

let redis: RunningRedis
let upstash: UpstashServer
let s3: RunningS3
let kv: KvStore
let worker: TestWorker
let connection: Connection

beforeAll(async () => {
  const { address } = inject('engine')
  ;[redis, s3] = await Promise.all([startRedis(), startWeed()])
  upstash = await startUpstash(redis.url)
  kv = createKvStore({ url: redis.url, token: null })
  worker = await startWorker({ address, taskQueue: `traces-runtimes-${crypto.randomUUID()}` })
  connection = await Connection.connect({ address })
})
afterAll(async () => {
  await Promise.all([worker.stop(), connection.close(), kv.close(), upstash.close()])
  await Promise.all([redis.kill(), s3.stop()])
})

const overUpstash = () => ({ SERVICE_KVSTORE_URL: upstash.url, SERVICE_KVSTORE_TOKEN: upstash.token })
const overTcp = () => ({ SERVICE_KVSTORE_URL: redis.url })

// Over TCP the bundles: ioredis, which is CommonJS, is part of them.
describeReaders('Node', bundled('node.js', process.execPath), overTcp)
describeReaders('Bun', bundled('bun.js', bin('bun')), overTcp)
describeReaders('Bun', processOf(bin('bun'), 'src/runtime/bun.ts'), overUpstash)
describeReaders('Deno', bundled('deno.js', bin('deno'), 'run', ...DENO_PERMISSIONS), overTcp)
describeReaders('Deno', processOf(bin('deno'), 'run', ...DENO_PERMISSIONS, 'src/runtime/deno.ts'), overUpstash)
describeReaders('workerd', async (env) => workerdOf(join(await haveBundles(), 'workerd.js'))(env), overUpstash)

function bundled(bundle: string, command: string, ...args: string[]): ServeEntry {
  return async (env) => processOf(command, ...args, join(await haveBundles(), bundle))(env)
}

function describeReaders(runtime: string, serve: ServeEntry, kvstore: () => Record<string, string>): void {
  describe(`traces on ${runtime}, key-value store ${kvstore === overTcp ? 'over TCP' : 'over REST'}`, () => {
    let service: ServedEntry

    beforeAll(async () => {
      service = await serve({
        ENGINE_ADDRESS: inject('engine').address,
        SERVICE_ALLOW_ANONYMOUS: 'true',
        SERVICE_CATALOG_ID: worker.taskQueue,
        SERVICE_PORT: '0',
        SERVICE_TRACE_REMOTE_ON: 'true',
        SERVICE_STORAGE_ACCESS_KEY_ID: s3.accessKeyId,
        SERVICE_STORAGE_SECRET_ACCESS_KEY: s3.secretAccessKey,
        SERVICE_STORAGE_REGION: s3.region,
        SERVICE_STORAGE_BUCKET: s3.bucket,
        SERVICE_STORAGE_ENDPOINT: s3.endpoint,
        ...kvstore(),
      })
    })
    afterAll(() => service.stop())

    test('spans come from the key-value store, and whole traces from object storage', async () => {
      const workflowId = `ünï ${crypto.randomUUID()}`
      const remote = `${s3.endpoint}/${s3.bucket}/${encodeURIComponent(workflowId)}.json`
      const client = new Client({ connection })
      const handle = await client.workflow.start('saysTrace', {
        taskQueue: worker.taskQueue,
        workflowId,
        args: [{ trace: { remote } }],
      })
      await handle.result()
      const runId = handle.firstExecutionRunId
      const span: TraceEntry = {
        id: `${runId}:span:1`,
        parentId: runId,
        kind: 'llm',
        name: 'summarise',
        at: 1,
        phase: 'began',
        input: 'ü',
      }

      await kv.append(spansKey('default', runId), [JSON.stringify(span)], 60_000, storeCall())
      expect(await traceLog(service, workflowId)).toMatchObject({
        source: 'kvstore',
        warnings: ['remote: The object storage has no object at the trace destination (404)'],
        data: { id: runId, output: 'said', children: [{ kind: 'llm', input: 'ü' }] },
      })

      const run: TraceEntry = {
        id: runId,
        parentId: null,
        kind: 'workflow',
        name: 'stored',
        at: 1,
        phase: 'ended',
        output: 'as it was stored',
      }
      const url = `${s3.endpoint}/${s3.bucket}/${encodeURIComponent(encodeURIComponent(workflowId))}.json`
      await s3.client.fetch(url, {
        method: 'PUT',
        body: toTraceDocument({ namespace: 'default', workflowId, runId, entries: [run] }),
      })
      expect(await traceLog(service, workflowId)).toMatchObject({
        source: 'remote',
        warnings: [],
        data: { output: 'as it was stored' },
      })
    })
  })
}

async function traceLog({ url, output }: ServedEntry, workflowId: string): Promise<unknown> {
  const response = await fetch(`${url}/workflow/${encodeURIComponent(workflowId)}/trace-log`)
  const text = await response.text()
  expect(response.status, `${text}\n${output()}`).toBe(200)
  return JSON.parse(text)
}
