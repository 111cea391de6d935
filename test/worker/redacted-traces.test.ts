/** Secrets at all depths of a run's values: no source of traces shows one at any time. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { tracedEnv } from '../../dev/servers/traced-worker.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { defineCatalog, type Redact } from '../../src/worker/index.ts'
import { test as baseTest } from '../support/fixtures.ts'
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

interface ReadTrace {
  source: string
  text: string
}

const test = baseTest
  /** Reads the trace of one run from each source, again and again, from its start until it is archived. */
  .extend(
    'readTraces',
    { scope: 'file' },
    ({ client, folder, redis, seaweed: s3, startTracedWorker, startService }) => {
      return async (mark: string, redact?: Redact, anywhere = 'anywhere'): Promise<ReadTrace[]> => {
        const taskQueue = `secretive-${crypto.randomUUID()}`
        const { accessKeyId, secretAccessKey, region, bucket, endpoint } = s3
        const storage = { accessKeyId, secretAccessKey, region, bucket, endpoint }
        const traces = {
          remote: { storage, kvstore: { url: redis.url, token: null } },
          local: { directory: folder, writes: true },
          maxBytes: 1 << 20,
        }
        const plugin = { catalog: defineCatalog({ secretive: {} }), traces, ...(redact && { redact }) }
        const workflowsPath = new URL('./fixtures/secretive-workflows.ts', import.meta.url)
        // With the default interval, the trace is also read after the run has ended and before it is archived.
        await startTracedWorker({ plugin, archiveEveryMs: 5000, taskQueue, activities, workflowsPath })
        const services = await Promise.all([
          startService({ catalog: taskQueue, env: tracedEnv(redis, s3) }),
          startService({ catalog: taskQueue, env: { SERVICE_TRACE_LOCAL_DIR: folder } }),
          startService({ catalog: taskQueue, env: {} }),
        ])
        const handle = await client.workflow.start('secretive', {
          workflowId: taskQueue,
          taskQueue,
          args: [{ ...secretive(mark), anywhere }],
        })
        const seen: ReadTrace[] = []
        const readAll = async () => {
          for (const service of services) {
            const { status, body } = await service.get(`${taskQueue}/trace-log`)
            if (status === 200) seen.push({ source: (body as { source: string }).source, text: JSON.stringify(body) })
          }
          const { status, body } = await services[0].get(`${taskQueue}/history`)
          if (status === 200) seen.push({ source: 'events', text: JSON.stringify(body) })
          return new Set(seen.map(({ source }) => source))
        }
        await until('the sources of an open run have it', async () => {
          const sources = await readAll()
          return ['history', 'kvstore', 'events'].every((source) => sources.has(source))
        })
        await handle.signal('finish')
        let hasEnded = false
        void handle
          .result()
          .catch(() => {})
          .then(() => {
            hasEnded = true
          })
        await until('it has ended', async () => (await readAll()).size > 0 && hasEnded)
        await until('it is archived', async () => {
          const sources = await readAll()
          return sources.has('local') && sources.has('remote')
        })
        const stored = await readFile(join(folder, 'default', `${handle.firstExecutionRunId}.json`), 'utf8')
        expect(stored).not.toContain(mark)
        return seen
      }
    },
  )

test('secrets: no source ever shows a value under a secret name, and each shows the other values (threat 86)', async ({
  readTraces,
}) => {
  const seen = await readTraces('marked-secret')

  expect(new Set(seen.map(({ source }) => source))).toEqual(
    new Set(['history', 'kvstore', 'remote', 'local', 'events']),
  )
  for (const { text } of seen) {
    expect(text).not.toContain('marked-secret')
    expect(text).toContain('plain')
  }
})

test('secrets: no source shows a value that redact replaces, before or after archiving (threat 86)', async ({
  readTraces,
}) => {
  const redact: Redact = (_path, value) => (typeof value === 'string' && value.includes('marked-') ? '[gone]' : value)
  const seen = await readTraces('marked-secret', redact, 'marked-anywhere')

  for (const { text } of seen) expect(text).not.toContain('marked-')
  expect(seen.filter(({ source }) => source === 'remote')[0]?.text).toContain('plain')
  for (const source of ['history', 'events'])
    expect(seen.find((each) => each.source === source)?.text).not.toContain('plain')
})

test('secrets: the progress of activities is masked if the workers have their own redact (threat 86)', async ({
  client,
  serve,
  startTracedWorker,
}) => {
  const taskQueue = `reporting-${crypto.randomUUID()}`
  const plugin = { catalog: defineCatalog({ reportsProgress: {} }), redact: (_path: string, value: unknown) => value }
  await startTracedWorker({ plugin, taskQueue })
  const args = [{ details: { card: 'marked-secret' } }]
  const handle = await client.workflow.start('reportsProgress', { workflowId: taskQueue, taskQueue, args })

  const service = serve({ SERVICE_CATALOG_ID: taskQueue })
  const { text } = await until('the heartbeat has arrived', async () => {
    const status = await service.get(`${taskQueue}/status`)
    return status.body.progress ? status : null
  })
  await handle.terminate()

  expect(JSON.parse(text).progress).toMatchObject([{ activityType: 'reports', details: '[redacted]' }])
  expect(text).not.toContain('marked-secret')
})
