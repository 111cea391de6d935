/** Marked secrets at all depths of a run's values: no source shows one of them at any moment of the run's life. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type RunningRedis, startRedis } from '../../dev/servers/redis.ts'
import { type RunningS3, startWeed } from '../../dev/servers/s3.ts'
import { tracedEnv } from '../../dev/servers/traced-worker.ts'
import { until } from '../../dev/servers/until.ts'
import { defineCatalog, porticoPlugin, type Redact } from '../../src/worker/index.ts'
import { type Service, startService } from '../support/service.ts'
import { startWorker, type TestWorker } from '../support/worker.ts'
import * as activities from './fixtures/secretive-activities.ts'

const NAMES = [
  'password',
  'passwd',
  'token',
  'secret',
  'api_key',
  'apiKey',
  'access-token',
  'RefreshToken',
  'client_secret',
  'private.key',
]
const HEADERS = ['authorization', 'Cookie', 'Set-Cookie', 'X-API-Key', 'proxy-authorization']

/** Every name on every level, and header lists. */
function secretive(mark: string): Record<string, unknown> {
  const level = Object.fromEntries(NAMES.map((name) => [name, `${mark}-${name}`]))
  const headers = HEADERS.map((name) => [name, `${mark}-${name}`])
  return {
    shown: 'plain',
    ...level,
    below: [{ ...level, list: [{ ...level, headers }] }],
    headers: Object.fromEntries(headers),
  }
}

let folder: string
let redis: RunningRedis
let s3: RunningS3
let connection: Connection

beforeAll(async () => {
  const { address } = inject('engine')
  ;[folder, redis, s3, connection] = await Promise.all([
    mkdtemp(join(tmpdir(), 'portico-redacted-')),
    startRedis(),
    startWeed(),
    Connection.connect({ address }),
  ])
})

afterAll(async () => {
  await connection?.close()
  await Promise.all([redis?.kill(), s3?.stop()])
  await rm(folder, { recursive: true, force: true })
})

test('secrets: values under the names of secrets appear in no source at any moment, and everything else does', async () => {
  const seen = await lifeOf('marked-secret')

  expect(new Set(seen.map(({ source }) => source))).toEqual(new Set(['history', 'kvstore', 'remote', 'local']))
  for (const { text } of seen) {
    expect(text).not.toContain('marked-secret')
    expect(text).toContain('plain')
  }
})

test("secrets: with a redact of the worker's own, nothing it replaces appears in any source, before and after archiving", async () => {
  const redact: Redact = (_path, value) => (typeof value === 'string' && value.includes('marked-') ? '[gone]' : value)
  const seen = await lifeOf('marked-secret', redact, 'marked-anywhere')

  for (const { text } of seen) expect(text).not.toContain('marked-')
  expect(seen.filter(({ source }) => source === 'remote')[0]?.text).toContain('plain')
  expect(seen.filter(({ source }) => source === 'history')[0]?.text).not.toContain('plain')
})

interface Seen {
  source: string
  text: string
}

/** Every answer of trace-log from the start of a run until it is archived, and what is stored then. */
async function lifeOf(mark: string, redact?: Redact, anywhere = 'anywhere'): Promise<Seen[]> {
  const { address } = inject('engine')
  const taskQueue = `secretive-${crypto.randomUUID()}`
  const { accessKeyId, secretAccessKey, region, bucket, endpoint } = s3
  const storage = { accessKeyId, secretAccessKey, region, bucket, endpoint }
  const traces = {
    remote: { storage, kvstore: { url: redis.url, token: null } },
    local: { directory: folder, writes: true },
    maxBytes: 1 << 20,
  }
  const plugins = [porticoPlugin({ catalog: defineCatalog({ secretive: {} }), traces, ...(redact && { redact }) })]
  const workflowsPath = new URL('./fixtures/secretive-workflows.ts', import.meta.url)
  const worker: TestWorker = await startWorker({ address, taskQueue, activities, workflowsPath, options: { plugins } })
  const start = (env: Record<string, string>) => startService({ address, catalog: taskQueue, env })
  const services: Service[] = await Promise.all([
    start(tracedEnv(redis, s3)),
    start({ SERVICE_TRACE_LOCAL_DIR: folder }),
    start({}),
  ])
  const handle = await new Client({ connection }).workflow.start('secretive', {
    workflowId: taskQueue,
    taskQueue,
    args: [{ ...secretive(mark), anywhere }],
  })
  const seen: Seen[] = []
  const look = async () => {
    for (const service of services) {
      const { status, body } = await service.call('GET', `/workflow/${taskQueue}/trace-log`)
      if (status === 200) seen.push({ source: (body as { source: string }).source, text: JSON.stringify(body) })
    }
    return seen
  }
  let hasEnded = false
  void handle.result().then(
    () => {
      hasEnded = true
    },
    () => {
      hasEnded = true
    },
  )
  await until('it has ended', async () => (await look()).length > 0 && hasEnded, { timeoutMs: 20_000 })
  await until(
    'it is archived',
    async () =>
      (await look()).some(({ source }) => source === 'local') && seen.some(({ source }) => source === 'remote'),
    {
      timeoutMs: 30_000,
    },
  )
  const stored = await readFile(join(folder, 'default', `${handle.firstExecutionRunId}.json`), 'utf8')
  expect(stored).not.toContain(mark)
  await worker.stop()
  await Promise.all(services.map((service) => service.kill()))
  return seen
}
