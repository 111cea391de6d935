/** The readers of stores on every runtime: the same service, started as its users start it. */
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import type { RunningRedis } from '../../dev/servers/redis.ts'
import { bin, DENO_PERMISSIONS } from '../../dev/servers/runtimes.ts'
import { storageEnv } from '../../dev/servers/s3.ts'
import { toTraceDocument } from '../../src/shared/wire/trace/document.ts'
import type { TraceEntry } from '../../src/shared/wire/trace/entry.ts'
import { spansKey } from '../../src/shared/wire/trace/keys.ts'
import { storeCall } from '../conformance/kv-store.ts'
import { makeApi } from '../support/api.ts'
import { FROM_SOURCE, processOf, type ServedEntry, type ServeEntry, workerdOf } from '../support/entries.ts'
import { test } from '../support/fixtures.ts'
import { readiness } from '../support/readiness.ts'
import type { UpstashServer } from '../support/upstash.ts'

interface Stores {
  redis: RunningRedis
  upstash: UpstashServer
}

const overUpstash = ({ upstash }: Stores) => ({
  SERVICE_KVSTORE_URL: upstash.url,
  SERVICE_KVSTORE_TOKEN: upstash.token,
})
const overTcp = ({ redis }: Stores) => ({ SERVICE_KVSTORE_URL: redis.url })

// Over TCP the bundles: ioredis, which is CommonJS, is part of them.
describeReaders('Node', bundled('node.js', process.execPath), overTcp)
describeReaders('Bun', bundled('bun.js', bin('bun')), overTcp)
describeReaders('Bun', FROM_SOURCE.Bun, overUpstash)
describeReaders('Deno', bundled('deno.js', bin('deno'), 'run', ...DENO_PERMISSIONS), overTcp)
describeReaders('Deno', FROM_SOURCE.Deno, overUpstash)
describeReaders('workerd', async (env) => workerdOf(join(await ensureBundles(), 'workerd.js'))(env), overUpstash)

function bundled(bundle: string, command: string, ...args: string[]): ServeEntry {
  return async (env) => processOf(command, ...args, join(await ensureBundles(), bundle))(env)
}

type KvVariables = (stores: Stores) => Record<string, string>

function describeReaders(runtime: string, serve: ServeEntry, kvVariables: KvVariables): void {
  describe(`traces on ${runtime}, key-value store ${kvVariables === overTcp ? 'over TCP' : 'over REST'}`, () => {
    let service: ServedEntry

    test.beforeAll(async ({ engine, worker, seaweed, redis, upstash, cleanup }) => {
      service = await serve({
        ENGINE_ADDRESS: engine.address,
        SERVICE_ALLOW_ANONYMOUS: 'true',
        SERVICE_CATALOG_ID: worker.taskQueue,
        SERVICE_PORT: '0',
        SERVICE_TRACE_REMOTE_ON: 'true',
        ...storageEnv(seaweed),
        ...kvVariables({ redis, upstash }),
      })
      cleanup.defer(() => service.stop())
      await readiness(makeApi({ url: service.url }))
    })

    test('spans come from the key-value store, and whole traces from object storage', async ({
      client,
      worker,
      seaweed: s3,
      kvStore,
    }) => {
      const workflowId = `ünï ${crypto.randomUUID()}`
      const remote = `${s3.endpoint}/${s3.bucket}/${encodeURIComponent(workflowId)}.json`
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

      await kvStore.append(spansKey('default', runId), [JSON.stringify(span)], 60_000, storeCall())
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
