import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import type { RunningRedis } from '../../dev/servers/redis.ts'
import { type RunningS3, storageEnv } from '../../dev/servers/s3.ts'
import { runningMs } from '../../lab/long/running-ms.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { grpcTransport } from '../../src/service/engine/transport/grpc/transport.ts'
import { createPortico, type Portico } from '../../src/service/portico.ts'
import { tracesFromFile } from '../../src/service/traces/from-file.ts'
import { parseConfig } from '../../src/shared/config.ts'
import type { KvStore } from '../../src/shared/stores/kv/kv-store.ts'
import { toTraceDocument } from '../../src/shared/wire/trace/document.ts'
import type { TraceEntry } from '../../src/shared/wire/trace/entry.ts'
import { spansKey, stepId, TRACE_TEMPLATE } from '../../src/shared/wire/trace/keys.ts'
import { fillTemplate } from '../../src/shared/wire/trace/template.ts'
import type { TraceNode } from '../../src/shared/wire/trace/tree.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { publishCatalog } from '../../src/worker/catalog/publish-catalog.ts'
import { storeCall } from '../conformance/kv-store.ts'
import { test } from '../support/fixtures.ts'
import { promisedMs } from '../support/promises.ts'
import type { S3Fault, S3Proxy } from '../support/s3-proxy.ts'
import { nodesIn, toEntries, toNode } from '../support/trace-nodes.ts'

interface Answer {
  source: string
  runId: string
  complete: boolean
  warnings: string[]
  data: TraceNode
}

const NAMES = ['echo', 'everyKind', 'failAfterRetries', 'longStep', 'retriedLater', 'chain', 'parent']

describe('GET /workflow/:id/trace-log', () => {
  let queue: string
  let withoutCatalog: string
  let s3: RunningS3
  let proxy: S3Proxy
  let redis: RunningRedis
  let kv: KvStore
  let portico: Portico
  let createService: () => Portico
  let lastLogged: unknown

  test.beforeAll(({ seaweed, s3Proxy, redis: ownRedis, kvStore, cleanup }) => {
    s3 = seaweed
    proxy = s3Proxy
    redis = ownRedis
    kv = kvStore
    // A test restarts it.
    cleanup.defer(() => redis.kill())
  })

  test.beforeAll(
    async ({ engine: { address }, connection, catalog, worker: _, startWorker, folder, upstash, cleanup }) => {
      queue = catalog
      withoutCatalog = `${catalog}-plain`
      await startWorker({ taskQueue: withoutCatalog })
      const definition = defineCatalog(
        Object.fromEntries(NAMES.map((name) => [name, { description: 'For its trace' }])),
      )
      const traces = { remote: `${proxy.endpoint}/${s3.bucket}/${TRACE_TEMPLATE}`, local: join(folder, TRACE_TEMPLATE) }
      await publishCatalog({ connection, namespace: 'default', catalog, definition, traces, identity: 'test' })
      const config = parseConfig(
        {
          ENGINE_ADDRESS: address,
          SERVICE_CATALOG_ID: catalog,
          SERVICE_TRACE_REMOTE_ON: 'true',
          ...storageEnv({ ...s3, endpoint: proxy.endpoint }),
          SERVICE_KVSTORE_URL: upstash.url,
          SERVICE_KVSTORE_TOKEN: upstash.token,
          SERVICE_TRACE_LOCAL_DIR: folder,
        },
        { binds: true },
      )
      createService = () => {
        const service = createPortico({
          config,
          transport: grpcTransport({ address, apiKey: null, tls: null }),
          log(_level, _message, fields) {
            lastLogged = fields
          },
          traceSources: [
            tracesFromFile({
              directory: folder,
              namespace: 'default',
              isOnlyNamespace: true,
              maxBytes: config.traces.maxBytes,
            }),
          ],
        })
        cleanup.defer(() => service.close())
        return service
      }
    },
  )

  // A service remembers for some seconds that a store is down.
  test.beforeEach(() => {
    portico = createService()
  })

  async function send(method: string, path: string, body?: unknown) {
    const init =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    const response = await portico.fetch(new Request(`http://localhost${path}`, { method, ...init }))
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  const ended = async (workflowName: string, input: unknown = null, on = queue) =>
    (await send('POST', '/workflow/run', { workflowName, input, catalog: on })).body
  const traceLog = async (workflowId: string): Promise<Answer> => {
    const { status, body } = await send('GET', `/workflow/${workflowId}/trace-log`)
    expect(status, JSON.stringify(body)).toBe(200)
    return body
  }
  /** How long after this call the store was still away, until it is read again. */
  const awayFor = async (isRead: () => Promise<boolean>) => {
    const backAt = runningMs()
    let lastAwayMs = 0
    await until('it is read again', async () => {
      const sentAfterMs = runningMs() - backAt
      if (await isRead()) return true
      lastAwayMs = sentAfterMs
      return false
    })
    return lastAwayMs
  }
  const ofSteps = ({ data }: Answer) => nodesIn(data).filter(({ kind }) => kind === 'step')
  const documentOf = (workflowId: string, runId: string, entries: TraceEntry[]) =>
    toTraceDocument({ namespace: 'default', workflowId, runId, entries })
  const store = async (runId: string, text: string) => {
    const key = fillTemplate(TRACE_TEMPLATE, { namespace: 'default', runId })
    const { ok } = await s3.client.fetch(`${s3.endpoint}/${s3.bucket}/${key}`, { method: 'PUT', body: text })
    expect(ok).toBe(true)
  }
  const push = (runId: string, span: object) =>
    kv.append(spansKey('default', runId), [JSON.stringify(span)], 60_000, storeCall())

  test('returns a run from its history, children with their own trees', async () => {
    const { workflowId, runId } = await ended('everyKind', 'in')

    const { source, complete, runId: tracedRunId, data } = await traceLog(workflowId)

    expect({ source, complete, tracedRunId }).toEqual({ source: 'history', complete: true, tracedRunId: runId })
    expect(data).toMatchObject({
      id: runId,
      kind: 'workflow',
      name: 'everyKind',
      input: 'in',
      output: 'in',
      attributes: { status: 'completed' },
    })
    expect(data.children.map(({ kind }) => kind)).toEqual(['step', 'timer', 'child_workflow'])
    expect(data.children[2]?.children).toMatchObject([{ kind: 'workflow', name: 'echo', input: 'in', output: 'in' }])
  })

  test('returns one run of a chain and names the previous and the next one', async () => {
    const { workflowId, runId } = await ended('chain', { links: 3 })

    const last = await traceLog(workflowId)
    const { previousRunId } = last.data.attributes
    const { body: middle } = await send('GET', `/workflow/${workflowId}/runs/${previousRunId}/trace-log`)

    expect(last).toMatchObject({
      runId,
      data: { id: runId, output: { links: 3, link: 3 }, attributes: { status: 'completed' } },
    })
    expect(middle.data).toMatchObject({ id: previousRunId, attributes: { status: 'continued', nextRunId: runId } })
    expect(middle.data.attributes.previousRunId).toEqual(expect.any(String))
  })

  test('returns the last failure and the number of attempts of a step', async () => {
    const { workflowId } = await ended('failAfterRetries')

    expect(ofSteps(await traceLog(workflowId))).toMatchObject([
      {
        error: { name: 'RangeError' },
        attributes: { attempts: 5, lastFailure: { name: 'RangeError', message: 'always out of range' } },
      },
    ])
  })

  test('returns an open run, with the current attempt', async () => {
    const { body } = await send('POST', '/workflow/start', { workflowName: 'longStep', input: { ms: 60_000 } })
    const answer = await until('the step is under way', async () => {
      const log = await traceLog(body.workflowId)
      return ofSteps(log)[0]?.attributes.attempts !== undefined && log
    })

    expect(answer).toMatchObject({ complete: false, data: { endedAt: null } })
    const [step] = ofSteps(answer)
    expect(step).toMatchObject({ endedAt: null, attributes: { attempts: 1, lastStartedAt: expect.any(Number) } })
    expect(step?.attributes.lastStartedAt).toBeGreaterThanOrEqual(step?.startedAt ?? Number.NaN)
    await send('POST', `/workflow/${body.workflowId}/terminate`)
  })

  test('returns of an open step that waits for its next attempt when the last one ended, and when the next one is due', async () => {
    const { body } = await send('POST', '/workflow/start', { workflowName: 'retriedLater', input: null })
    const { startedAt, attributes } = await until('the first attempt has failed', async () => {
      const [step] = ofSteps(await traceLog(body.workflowId))
      return step?.attributes.nextAttemptAt !== undefined && step
    })
    await send('POST', `/workflow/${body.workflowId}/terminate`)
    const [closed] = ofSteps(await traceLog(body.workflowId))

    expect(attributes).toMatchObject({ attempts: 2, lastFailure: { message: 'always out of range' } })
    const { lastEndedAt, nextAttemptAt } = attributes as Record<string, number>
    expect(lastEndedAt).toBeGreaterThanOrEqual(startedAt)
    expect(nextAttemptAt).toBeCloseTo((lastEndedAt ?? 0) + 3_600_000, -4)
    expect(closed?.attributes).not.toHaveProperty('nextAttemptAt')
  })

  test('the four sources, in order, return the same tree, each with its own details', async () => {
    const { workflowId, runId, trace } = await ended('everyKind', 'in')
    const fromHistory = await traceLog(workflowId)
    const step = ofSteps(fromHistory)[0]
    expect(step?.id).toBe(stepId(runId, '1'))
    const span: TraceEntry = {
      id: `${runId}:span:1`,
      parentId: stepId(runId, '1'),
      kind: 'llm',
      name: 'summarise',
      at: step?.startedAt ?? 0,
      phase: 'began',
    }
    const expected = JSON.parse(JSON.stringify(fromHistory.data))
    for (const node of nodesIn(expected)) if (node.id === span.parentId) node.children.push(toNode(span))
    const own = nodesIn(fromHistory.data).filter(({ id }) => id.startsWith(runId))
    const stored = documentOf(workflowId, runId, [...own.flatMap((node) => toEntries(node, fromHistory.data)), span])

    await mkdir(dirname(trace.destinations.local), { recursive: true })
    await writeFile(trace.destinations.local, stored)
    expect(await traceLog(workflowId)).toMatchObject({ source: 'local', data: expected })

    await push(runId, span)
    expect(await traceLog(workflowId)).toMatchObject({ source: 'kvstore', data: expected })

    await store(runId, stored)
    expect(await traceLog(workflowId)).toMatchObject({ source: 'remote', data: expected })
  })

  test('a partial stored trace is completed from the history', async () => {
    const { workflowId, runId } = await ended('everyKind', 'in')
    const span: TraceEntry = {
      id: `${runId}:span:1`,
      parentId: stepId(runId, '1'),
      kind: 'llm',
      name: 'summarise',
      at: 1,
      phase: 'began',
    }
    await store(runId, documentOf(workflowId, runId, [span]))

    const { source, data } = await traceLog(workflowId)

    expect(source).toBe('remote')
    expect(data).toMatchObject({ id: runId, output: 'in', attributes: { status: 'completed' } })
    expect(data.children.find(({ id }) => id === stepId(runId, '1'))?.children).toMatchObject([
      { kind: 'llm', name: 'summarise' },
    ])
  })

  const faults: [string, S3Fault, string][] = [
    ['403', { status: 403, code: 'AccessDenied' }, '403 AccessDenied'],
    ['404', { status: 404, code: 'NoSuchKey' }, '404'],
    ['500', { status: 500, code: 'InternalError' }, '500 InternalError'],
    ['503 SlowDown', { status: 503, code: 'SlowDown' }, '503 SlowDown'],
    ['a wrong clock', { status: 403, code: 'RequestTimeTooSkewed' }, 'the clock of this machine is wrong'],
    ['a redirect', { status: 301, headers: { location: 'http://127.0.0.1:1/' } }, 'redirects are not followed'],
    ['silence', { hangs: true }, 'did not respond in time'],
    ['a body cut half way', { cutAt: 40 }, 'cannot be reached'],
  ]
  test.each(faults)(
    'object storage that returns %s: the next source is read, and a warning has the reason',
    async (_name, fault, said) => {
      const { workflowId, runId } = await ended('echo', 1)
      await store(
        runId,
        documentOf(workflowId, runId, [
          { id: runId, parentId: null, kind: 'workflow', name: 'x'.repeat(100), at: 1, phase: 'ended' },
        ]),
      )
      proxy.fail(fault)

      const { source, warnings, data } = await traceLog(workflowId)
      proxy.fail(null)

      expect(source).toBe('history')
      expect(warnings).toEqual([expect.stringContaining(said)])
      expect(warnings[0]).toMatch(/^remote: /)
      expect(data).toMatchObject({ name: 'echo', output: 1 })
    },
  )

  test('object storage that is down: it is not called again until it may be up (failure 24)', async () => {
    const { workflowId } = await ended('echo', 1)
    proxy.fail({ status: 503 })

    const first = await traceLog(workflowId)
    const requests = proxy.requests.length
    const second = await traceLog(workflowId)

    expect(lastLogged).toMatchObject({ remoteTrace: expect.stringContaining('The object storage returned 503') })
    expect(first.warnings).toEqual(['remote: The object storage returned 503'])
    expect(second.warnings).toEqual(['remote: The object storage returned 503; it is not tried again for 10 s'])
    expect([first.source, second.source]).toEqual(['history', 'history'])
    expect(proxy.requests).toHaveLength(requests)
    proxy.fail({ status: 404, code: 'NoSuchKey' })
    const isCalled = async () => (await traceLog(workflowId)).warnings[0]?.includes('(404)') === true
    const awayMs = await awayFor(isCalled)
    proxy.fail(null)
    expect(awayMs).toBeLessThan(promisedMs(24, '10 s'))
  })

  test('Redis unreachable: the history is used; Redis is used again when it is back (failure 19)', async () => {
    const { workflowId, runId } = await ended('echo', 1)
    const append = () =>
      push(runId, { id: `${runId}:span:1`, parentId: runId, kind: 'llm', name: 'x', at: 1, phase: 'began' })
    await append()
    await redis.kill()

    const without = await traceLog(workflowId)
    expect(lastLogged).toMatchObject({ kvstoreTrace: expect.stringMatching(/^The key-value store/) })
    expect(without).toMatchObject({ source: 'history', data: { output: 1 } })
    expect(without.warnings).toContainEqual(expect.stringMatching(/^kvstore: The key-value store/))
    expect((await traceLog(workflowId)).warnings).toContainEqual(
      expect.stringMatching(/^kvstore: .*; it is not tried again for 10 s$/),
    )

    redis = await redis.restart()
    await append()
    const awayMs = await awayFor(async () => (await traceLog(workflowId)).source === 'kvstore')
    expect(awayMs).toBeLessThan(promisedMs(19, '10 s'))
  })

  test('a destination that the run itself names is read only if it is allowed (threat 85)', async () => {
    for (const remote of [
      'http://169.254.169.254/latest/meta-data',
      'file:///etc/passwd',
      `${proxy.endpoint}/${s3.bucket}/../other/x`,
    ]) {
      const trace = { remote, local: '/etc/passwd' }
      const { workflowId } = await ended('saysTrace', { trace }, withoutCatalog)
      proxy.fail(null)

      const { source, warnings } = await traceLog(workflowId)

      expect(source).toBe('history')
      expect(warnings).toEqual([
        expect.stringMatching(/^remote: The trace destination is not allowed: /),
        'local: The trace destination is not allowed: it is outside SERVICE_TRACE_LOCAL_DIR',
      ])
      expect(proxy.requests).toEqual([])
    }
  })

  test('a client that disconnects aborts the read', async () => {
    const { workflowId } = await ended('echo', 1)
    proxy.fail({ hangs: true })
    const leaving = new AbortController()

    const order: string[] = []
    const read = async (client: string, signal?: AbortSignal) => {
      await portico.fetch(new Request(`http://localhost/workflow/${workflowId}/trace-log`, { signal: signal ?? null }))
      order.push(client)
    }
    const reads = [read('stays')]
    await until('the storage is read', () => proxy.requests.length === 1)
    reads.push(read('leaves', leaving.signal))
    await until('the storage is read twice', () => proxy.requests.length === 2)
    leaving.abort()
    await Promise.all(reads)

    // Without the abort the first read reaches its deadline first.
    expect(order).toEqual(['leaves', 'stays'])
    proxy.fail(null)
  })
})
