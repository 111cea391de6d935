import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CONTRACT_MS } from '../../../../src/service/model/deadlines.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import { readWithBackoff, toResult, waitForEnd } from '../../../../src/service/runs/chain-end.ts'
import { aCall, rejection } from '../../call.ts'
import { anEngine } from '../catalog-fixture.ts'

test('toResult: the error of a failure without a message is its name', () => {
  const error = { message: '', name: 'CardDeclined', retryable: false, activityId: null, details: [], cause: null }
  const run = { workflowId: 'w', runId: 'r', input: null }

  const result = toResult(run, { outcome: { status: 'failed', error }, nextRunId: null }, null)

  expect(result.error).toBe('CardDeclined')
  expect(result.errorDetails?.message).toBe('')
})

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const RUN = { workflowId: 'orders-17', runId: 'run-1' }

/** An engine that always rejects reads with this error; records when. */
function rejecting(error: Error) {
  const startedAt = Date.now()
  const readsAt: number[] = []
  const engine = anEngine({
    async read() {
      readsAt.push(Date.now() - startedAt)
      throw error
    },
  })
  return { engine, readsAt }
}

test('readWithBackoff: reads every 500 ms while the engine is at its limit, until the deadline', async () => {
  const { engine, readsAt } = rejecting(new ServiceError('ResourceExhaustedError', 'busy'))

  const rejected = rejection(readWithBackoff(engine, RUN, aCall({ deadlineAt: Date.now() + 1200 })))
  await vi.runAllTimersAsync()

  expect((await rejected).error).toBe('ResourceExhaustedError')
  expect(readsAt).toEqual([0, 500, 1000])
})

test('readWithBackoff: any other error ends it', async () => {
  const { engine, readsAt } = rejecting(new ServiceError('WorkflowNotFoundError', 'not found'))

  expect((await rejection(readWithBackoff(engine, RUN, aCall()))).error).toBe('WorkflowNotFoundError')
  expect(readsAt).toEqual([0])
})

test('waitForEnd: the last read ends within the contract, also if the first read took longer than the wait', async () => {
  const arrivedAt = Date.now() - 4400
  const waitMs = 1000
  const deadlines: number[] = []
  const engine = anEngine({
    wait: async () => null,
    async describe(_, { deadlineAt }) {
      deadlines.push(deadlineAt)
      throw new ServiceError('EngineUnavailableError', 'away')
    },
  })

  const rejected = await rejection(waitForEnd({ engine }, { run: RUN, followsChain: true, arrivedAt, waitMs }, aCall()))

  expect(rejected.error).toBe('WorkflowExecutionTimedOutError')
  expect(deadlines).toHaveLength(1)
  expect(deadlines[0]).toBeLessThan(arrivedAt + waitMs + CONTRACT_MS)
})
