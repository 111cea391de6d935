/** Conditional writes of archived traces, on a real object storage. */
import { expect } from 'vitest'
import type { TraceEntry } from '../../src/shared/wire/trace/entry.ts'
import { bucketDestination } from '../../src/worker/closed-runs/archive/destinations.ts'
import { writeTrace } from '../../src/worker/closed-runs/archive/write-trace.ts'
import { storeCall } from '../conformance/kv-store.ts'
import { storedEntries } from '../conformance/trace-source.ts'
import { test as baseTest } from '../support/fixtures.ts'

const test = baseTest
  .extend('destination', { scope: 'file' }, ({ seaweed, s3Proxy }) => {
    const storage = { ...seaweed, endpoint: s3Proxy.endpoint }
    return bucketDestination(storage, seaweed.bucket, 'written/{namespace}/{runId}.json')
  })
  /** Adds the spans to the trace of the run. */
  .extend('write', { scope: 'file' }, ({ destination }) => {
    return (runId: string, spans: TraceEntry[] = [], signal = new AbortController().signal) =>
      writeTrace(destination, { namespace: 'default', workflowId: 'orders-17', runId }, spans, {
        history: async () => storedEntries({ runId }),
        protect: (entry) => entry,
        call: () => storeCall(10_000, signal),
        maxBytes: 100_000,
        signal,
      })
  })

const spanOf = (runId: string, name: string): TraceEntry => {
  return { id: `${runId}:span:${name}`, parentId: runId, kind: 'llm', name, at: 1, phase: 'began' }
}

test('writeTrace: a write that another archiver always precedes ends after five attempts with pauses', async ({
  write,
  s3Proxy,
}) => {
  const runId = crypto.randomUUID()
  await write(runId)
  s3Proxy.fail({ method: 'PUT', status: 412, code: 'PreconditionFailed' })

  await expect(write(runId, [spanOf(runId, 'late')])).rejects.toThrow('was changed at each attempt')

  const methods = s3Proxy.requests.map((request) => request.split(' ')[0])
  expect(methods).toEqual(Array.from({ length: 5 }, () => ['GET', 'PUT']).flat())
  s3Proxy.fail(null)
})

test('writeTrace: a write that was preceded a few times adds its spans in the end', async ({
  write,
  destination,
  s3Proxy,
}) => {
  const runId = crypto.randomUUID()
  await write(runId)
  s3Proxy.fail({ method: 'PUT', status: 412, code: 'PreconditionFailed', times: 3 })

  await write(runId, [spanOf(runId, 'late')])

  expect((await destination.read({ namespace: 'default', runId }, 100_000, storeCall()))?.text).toContain('late')
  s3Proxy.fail(null)
})

test('writeTrace: an abort ends the attempts', async ({ write, s3Proxy }) => {
  const runId = crypto.randomUUID()
  await write(runId)
  s3Proxy.fail({ method: 'PUT', status: 412, code: 'PreconditionFailed' })

  await expect(write(runId, [spanOf(runId, 'late')], AbortSignal.abort(new Error('stopping')))).rejects.toThrow(
    'stopping',
  )
  s3Proxy.fail(null)
})

test('writeTrace: spans are added over a version whose ETag a proxy has weakened', async ({
  write,
  destination,
  s3Proxy,
}) => {
  const runId = crypto.randomUUID()
  await write(runId)
  s3Proxy.fail({ weakensEtag: true })

  await write(runId, [spanOf(runId, 'late')])

  expect(s3Proxy.requests.map((request) => request.split(' ')[0])).toEqual(['GET', 'PUT'])
  s3Proxy.fail(null)
  const stored = await destination.read({ namespace: 'default', runId }, 100_000, storeCall())
  expect(stored?.text).toContain('late')
})
