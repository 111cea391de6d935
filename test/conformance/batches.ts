/** What batches do, on each runtime and over each transport. */
import { describe, expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { Answer, Api } from '../support/api.ts'

/** A `test` of vitest. */
export type BatchTest = (name: string, act: (api: Api) => Promise<void>) => void

type Caller = Pick<Api, 'call'>

/** Repeats the request while another test has a batch: one of the namespace is running at a time. */
export function createBatch({ call }: Caller, body: object, headers?: Record<string, string>): Promise<Answer> {
  return until('no other batch is running', async () => {
    const answer = await call('POST', '/batches', body, headers)
    return answer.status !== 429 && answer
  })
}

/** The batch, once it has ended. */
export function ended({ call }: Caller, batchId: string): Promise<Answer> {
  return until('the batch has ended', async () => {
    const answer = await call('GET', `/batches/${batchId}`)
    return answer.body.state !== 'running' && answer
  })
}

/** Starts runs, and waits until the engine lists them. Returns the filter that finds them. */
export async function startListed(
  api: Pick<Api, 'get' | 'start'>,
  ids: readonly string[],
  workflowName = 'waitForSignal',
) {
  for (const workflowId of ids) await api.start(workflowName, null, { workflowId })
  const query = `WorkflowId IN (${ids.map((id) => `'${id}'`).join(', ')})`
  const count = async () => (await api.get(`runs/count?query=${encodeURIComponent(query)}`)).body.count
  await until('the runs are listed', async () => (await count()) === ids.length)
  return { query }
}

const newIds = (count: number) => Array.from({ length: count }, () => `batch-${crypto.randomUUID()}`)

export function describeBatches(name: string, it: BatchTest): void {
  describe(`batches, ${name}`, () => {
    it('a signal reaches all open runs that match, and the batch says how many there were', async (api) => {
      const ids = newIds(3)
      const filter = await startListed(api, ids)
      await api.post(`${ids[2]}/terminate`)
      await until('the end is listed', async () => {
        const query = encodeURIComponent(`${filter.query} AND ExecutionStatus = 'Running'`)
        return (await api.get(`runs/count?query=${query}`)).body.count === 2
      })

      const created = await createBatch(api, { operation: 'signal', signal: 'finish', payload: { n: 1 }, filter })
      const { batchId } = created.body
      const { body } = await ended(api, batchId)
      const results = await Promise.all(ids.map(async (id) => (await api.get(`${id}/result?wait=30s`)).body.output))
      const stopped = await api.call('POST', `/batches/${batchId}/stop`)

      expect([created.status, created.body]).toEqual([202, { batchId, operation: 'signal', matching: 2 }])
      expect(created.headers.get('Location')).toBe(`/batches/${batchId}`)
      expect(body).toEqual({
        ...{ batchId, operation: 'signal', state: 'completed', matching: 2, processed: 2, reason: 'batch signal' },
        ...{ startedAt: expect.any(String), closedAt: expect.any(String) },
      })
      expect(results).toEqual([[{ n: 1 }], [{ n: 1 }], null])
      expect([stopped.status, stopped.body]).toEqual([200, { batchId, stopped: false }])
      await until('it is listed', async () => {
        const { batches } = (await api.call('GET', '/batches?pageSize=1000')).body
        return batches.some((one: { batchId: string }) => one.batchId === batchId)
      })
    })

    it('one key is one batch; without a run it is null; and what is not valid is a 400', async (api) => {
      const [id = '', other = ''] = newIds(2)
      const filter = await startListed(api, [id, other])
      const key = { 'Idempotency-Key': crypto.randomUUID() }
      const body = { operation: 'terminate', filter, reason: 'sold out' }

      const first = await createBatch(api, body, key)
      const { body: batch } = await ended(api, first.body.batchId)
      const again = await api.call('POST', '/batches', body, key)
      const changed = await api.call('POST', '/batches', { ...body, operation: 'stop' }, key)
      const result = await api.get(`${id}/result`)
      const none = await api.call('POST', '/batches', { ...body, filter: { query: `WorkflowId = '${id}'` } })
      const invalid = await api.call('POST', '/batches', { ...body, filter: { query: 'Nope = 1' } })
      const missing = await api.call(
        'GET',
        `/batches/${batch.batchId.replace(/.$/, (last: string) => (last === '0' ? '1' : '0'))}`,
      )

      expect([first.headers.get('Idempotency-Replayed'), batch.reason]).toEqual(['false', 'sold out'])
      expect([again.status, again.body, again.headers.get('Idempotency-Replayed')]).toEqual([202, first.body, 'true'])
      expect([changed.status, changed.body.error]).toEqual([422, 'IdempotencyKeyReusedError'])
      expect(result.body.error).toMatch(/sold out/)
      expect([none.status, none.body]).toEqual([202, { batchId: null, operation: 'terminate', matching: 0 }])
      expect([invalid.status, invalid.body.issues?.[0]?.path]).toEqual([400, '/filter/query'])
      expect([missing.status, missing.body.error]).toEqual([404, 'BatchNotFoundError'])
    })
  })
}
