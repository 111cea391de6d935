import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TraceSource } from '../../src/domain/traces.ts'
import { toTraceDocument } from '../../src/protocol/trace-document.ts'
import { LOCAL_FILE_TEMPLATE, outboxKey, spansKey, toOutboxMember } from '../../src/protocol/trace-keys.ts'
import { fillTemplate } from '../../src/protocol/trace-template.ts'
import { createKv, type KvStore } from '../../src/store/kv.ts'
import { createObjectStore } from '../../src/store/objects.ts'
import { tracesFromFile } from '../../src/trace/from-file.ts'
import { tracesFromKv } from '../../src/trace/from-kv.ts'
import { tracesFromObjects } from '../../src/trace/from-objects.ts'
import { storeCall } from '../conformance/kv-store.ts'
import { describeStoredTraces, storedEntries, traceCall, tracedRun } from '../conformance/trace-source.ts'
import { type RunningRedis, startRedis } from '../support/redis.ts'
import { type RunningS3, startWeed } from '../support/s3.ts'

const MAX_BYTES = 100_000

let folder: string
let s3: RunningS3
let redis: RunningRedis
let kv: KvStore

beforeAll(async () => {
  ;[folder, s3, redis] = await Promise.all([mkdtemp(join(tmpdir(), 'traces-')), startWeed(), startRedis()])
  kv = createKv({ url: redis.url, token: null })
  await mkdir(join(folder, 'traces'))
})
afterAll(async () => {
  await kv.close()
  await Promise.all([s3.stop(), redis.kill(), rm(folder, { recursive: true })])
})

const fill = (template: string, workflowId: string) => fillTemplate(template, { workflowId, rootRunId: 'run-1' })

describeStoredTraces('remote', async () => {
  const objects = createObjectStore(s3)
  const keys = new Map<string, string>()
  return {
    source: tracesFromObjects({ objects, rules: s3, maxBytes: MAX_BYTES }),
    destinations: (workflowId) => ({ remote: `${s3.endpoint}/${s3.bucket}/${keys.get(workflowId) ?? 'not-there'}` }),
    async put(workflowId, text) {
      const key = await fill('traces/{workflowId}/{rootRunId}.json', workflowId)
      keys.set(workflowId, key)
      await objects.put({ bucket: s3.bucket, key }, new TextEncoder().encode(text), 'application/json', storeCall())
    },
  }
})

describeStoredTraces('local', async () => ({
  source: tracesFromFile({ directory: join(folder, 'traces'), maxBytes: MAX_BYTES }),
  destinations: () => ({}),
  put: async (workflowId, text) => writeFile(join(folder, 'traces', await fill(LOCAL_FILE_TEMPLATE, workflowId)), text),
}))

describe('remote', () => {
  const find = (remote: string, rules: Partial<RunningS3> = {}) =>
    tracesFromObjects({ objects: createObjectStore(s3), rules: { ...s3, ...rules }, maxBytes: MAX_BYTES }).find(
      tracedRun('orders-17', { destinations: async () => ({ remote }) }),
      traceCall(),
    )

  test('remote: a run that says no destination is looked for nowhere', async () => {
    const source = tracesFromObjects({ objects: { get: () => Promise.reject(new Error('asked')) }, rules: s3, maxBytes: MAX_BYTES })

    expect(await source.find(tracedRun('orders-17'), traceCall())).toBeNull()
  })

  test('remote: the trace of a run that has ended should be there, and that it is not is said', async () => {
    await expect(find(`${s3.endpoint}/${s3.bucket}/not-there`)).rejects.toThrow('The object storage has no object there (404)')
  })

  test('remote: a key of others’ making is found when it stands percent-encoded in the destination', async () => {
    const text = toTraceDocument({ workflowId: 'orders-17', rootRunId: 'run-1', entries: storedEntries() })
    await createObjectStore(s3).put(
      { bucket: s3.bucket, key: 'other/a b+ü%.json' },
      new TextEncoder().encode(text),
      'text/plain',
      storeCall(),
    )

    expect((await find(`${s3.endpoint}/${s3.bucket}/other/a%20b%2B%C3%BC%25.json`))?.entries).toEqual(storedEntries())
  })

  test('remote: what the rules do not allow is asked of nobody', async () => {
    const source = tracesFromObjects({ objects: { get: () => Promise.reject(new Error('asked')) }, rules: s3, maxBytes: MAX_BYTES })
    const destinations = async () => ({ remote: 'http://169.254.169.254/latest/meta-data' })

    await expect(source.find(tracedRun('orders-17', { destinations }), traceCall())).rejects.toThrow(
      'The destination of the trace is not read: it is not on SERVICE_STORAGE_ENDPOINT',
    )
  })
})

describe('local', () => {
  const find = (local: string | null, directory = join(folder, 'traces')) =>
    tracesFromFile({ directory, maxBytes: MAX_BYTES }).find(
      tracedRun('orders-17', { destinations: async () => (local === null ? {} : { local }) }),
      traceCall(),
    )
  const document = toTraceDocument({ workflowId: 'orders-17', rootRunId: 'run-1', entries: storedEntries() })
  const put = async (path: string) => {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, document)
    return path
  }
  const OUTSIDE = 'The destination of the trace is not read: it lies outside SERVICE_TRACE_LOCAL_DIR'

  test('local: a destination in the folder is read, whatever its name', async () => {
    expect(await find(await put(join(folder, 'traces/below/other name.json')))).toMatchObject({ whole: true })
  })

  test('local: a destination outside the folder is not read, whether something is there or not', async () => {
    const outside = await put(join(folder, 'outside/secret.json'))

    for (const path of [
      outside,
      join(folder, 'outside/nothing.json'),
      join(folder, 'traces/../outside/secret.json'),
      '/etc/passwd',
      folder,
    ])
      await expect(find(path)).rejects.toThrow(OUTSIDE)
    await expect(find(await put(join(folder, 'traces-of-others/secret.json')))).rejects.toThrow(OUTSIDE)
  })

  test('local: a destination outside the folder is where the worker has the folder, when the file is there by its usual name', async () => {
    const usual = await put(join(folder, 'traces', await fill(LOCAL_FILE_TEMPLATE, 'orders-17')))

    expect(await find('/elsewhere/traces/orders-17_run-1.json')).toMatchObject({ whole: true })
    await rm(usual)
    await expect(find('/elsewhere/traces/orders-17_run-1.json')).rejects.toThrow(OUTSIDE)
  })

  test('local: no link leads out of the folder', async () => {
    const outside = await put(join(folder, 'outside/secret.json'))
    await symlink(outside, join(folder, 'traces/file-link.json'))
    await symlink(dirname(outside), join(folder, 'traces/folder-link'))

    await expect(find(join(folder, 'traces/file-link.json'))).rejects.toThrow(OUTSIDE)
    await expect(find(join(folder, 'traces/folder-link/secret.json'))).rejects.toThrow(OUTSIDE)
  })

  test('local: the folder itself may be a link', async () => {
    await put(join(folder, 'traces/linked.json'))
    await symlink(join(folder, 'traces'), join(folder, 'link-to-traces'))

    expect(await find(join(folder, 'link-to-traces/linked.json'), join(folder, 'link-to-traces'))).toMatchObject({ whole: true })
  })

  test('local: what is no file is not read, and does not hold anybody up', async () => {
    execFileSync('mkfifo', [join(folder, 'traces/pipe.json')])

    await expect(find(join(folder, 'traces/pipe.json'))).rejects.toThrow('What is there is no file')
    await expect(find(join(folder, 'traces/below'))).rejects.toThrow('What is there is no file')
  })

  test('local: a folder that is not there has nothing', async () => {
    expect(await find(null, join(folder, 'no-such-folder'))).toBeNull()
  })
})

describe('kvstore', () => {
  const child = { id: 'child-1', parentId: 'run-1:child:5', kind: 'workflow', name: 'ship', at: 1300, phase: 'began' as const }
  const history: TraceSource = {
    name: 'history',
    find: async () => ({ entries: [...storedEntries().slice(0, 1), child], whole: true, warnings: ['told by the history'] }),
  }
  const [, span] = storedEntries()
  const spanOf = (runId: string) => JSON.stringify({ ...span, id: `${runId}:span:1` })
  const append = (runId: string, values: string[], open: Parameters<KvStore['append']>[0]['open'] = null) =>
    kv.append({ list: spansKey(runId), values, ttlMs: 60_000, open }, storeCall())
  const source = (maxBytes = MAX_BYTES, from = history) => tracesFromKv({ kv, namespace: 'default', history: from, maxBytes })

  test('kvstore: has nothing of a run without spans that waits in no outbox, and leaves the history unread', async () => {
    const unread: TraceSource = { name: 'history', find: () => Promise.reject(new Error('read')) }

    expect(await source(MAX_BYTES, unread).find(tracedRun('unknown', { runId: 'unknown' }), traceCall())).toBeNull()
  })

  test('kvstore: the spans of the run and of its children, in the history’s frame', async () => {
    await append('run-1', [spanOf('run-1'), 'no entry'])
    await append('child-1', [spanOf('child-1')])

    const found = await source().find(tracedRun('orders-17'), traceCall())

    expect(found?.entries.map(({ id }) => id)).toEqual(['run-1', 'child-1', 'run-1:span:1', 'child-1:span:1'])
    expect(found).toMatchObject({ whole: true, warnings: ['told by the history', '1 of the spans could not be read'] })
  })

  test('kvstore: a run that waits in its catalog’s outbox is found before it has any span', async () => {
    const run = (catalog: string) => tracedRun('waits', { runId: 'waits-2', firstRunId: 'waits-1', catalog })
    const member = toOutboxMember({ workflowId: 'waits', rootRunId: 'waits-1' })
    await append('other', [], { outbox: outboxKey('default', 'a:b'), member, delayMs: 0 })

    expect(await source().find(run('a:b'), traceCall())).not.toBeNull()
    expect(await source().find(run('c'), traceCall())).toBeNull()
  })

  test('kvstore: a child is found while its root waits', async () => {
    const root = tracedRun('of-a-child', { runId: 'root-1', firstRunId: 'root-1' })
    const child = tracedRun('child', { runId: 'child-7', firstRunId: 'child-7', root: async () => root })
    expect(await source().find(child, traceCall())).toBeNull()

    const member = toOutboxMember({ workflowId: 'of-a-child', rootRunId: 'root-1' })
    await append('other', [], { outbox: outboxKey('default', root.catalog), member, delayMs: 0 })

    expect(await source().find(child, traceCall())).not.toBeNull()
  })

  test('kvstore: more spans than may be read are refused', async () => {
    await append('run-1', [spanOf('run-1')])

    await expect(source(100).find(tracedRun('orders-17'), traceCall())).rejects.toThrow('The key-value store has more than')
  })
})
