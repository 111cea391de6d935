/** The response to a request about a batch is lost: there is no second batch. */
import { describe, expect } from 'vitest'
import { createBatch, ended, startListed } from '../../conformance/batches.ts'
import { test } from '../../support/fixtures.ts'
import { sendOverFaultProxy } from './fixture.ts'

describe.for(['grpc', 'http'] as const)('lost answers about batches over %s', (transport) => {
  const { proxy, api } = sendOverFaultProxy(transport)

  /** Creates a batch, whose first attempts meet a fault, for a run of its own. */
  async function faulted(fault: 'lost' | 'dropped', times: number, headers: Record<string, string> = {}) {
    const workflowId = `lost-${crypto.randomUUID()}`
    const filter = await startListed(api, [workflowId], 'messages')
    let attempts = 0
    const count = async () => attempts++
    const takeBack = proxy.on({
      ...{ method: 'StartBatchOperation', containing: workflowId, times },
      fault: fault === 'lost' ? { lost: count } : { dropped: count },
    })
    const body = { operation: 'signal', signal: 'add', payload: 1, filter }
    const answer = await createBatch(api, body, headers)
    takeBack()
    const gathered = async () => (await api.post(`${workflowId}/query/state`)).body.gathered
    return { answer, attempts, gathered, body }
  }

  test.for(['lost', 'dropped'] as const)('a batch whose response is %s is created once', async (fault) => {
    const { answer, attempts, gathered } = await faulted(fault, 1)

    expect([answer.status, answer.body.matching, attempts]).toEqual([202, 1, 1])
    expect((await ended(api, answer.body.batchId)).body).toMatchObject({ state: 'completed', processed: 1 })
    await expect.poll(gathered).toEqual([1])
  })

  test('without a response it is 424, or 503 with a key, with which the batch is found', async () => {
    const key = { 'Idempotency-Key': crypto.randomUUID() }

    const unkeyed = await faulted('lost', 9)
    await ended(api, unkeyed.answer.body.batchId)
    const keyed = await faulted('lost', 9, key)
    const again = await api.call('POST', '/batches', keyed.body, key)
    await ended(api, again.body.batchId)

    expect([unkeyed.answer.status, unkeyed.answer.body.error]).toEqual([424, 'OutcomeUnknownError'])
    expect([keyed.answer.status, keyed.answer.body.error]).toEqual([503, 'EngineUnavailableError'])
    expect([again.status, again.body.batchId]).toEqual([202, keyed.answer.body.batchId])
    expect(again.headers.get('Idempotency-Replayed')).toBe('true')
    await expect.poll(unkeyed.gathered).toEqual([1])
    await expect.poll(keyed.gathered).toEqual([1])
  })
})
