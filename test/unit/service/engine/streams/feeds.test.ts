import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createFeeds } from '../../../../../src/service/engine/streams/feeds.ts'
import { GrpcCode } from '../../../../../src/shared/temporal/grpc-code.ts'
import { aCall } from '../../../call.ts'
import { described, scriptedContext } from '../calls/scripted-context.ts'
import { answer } from '../rpc-errors.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('stream feeds: one whose run takes no more updates is forgotten 5 s after its failure, however often readers come', async () => {
  const { context } = scriptedContext(({ method }) =>
    method === 'describeWorkflowExecution'
      ? described({ runId: 'r' })
      : answer(GrpcCode.NOT_FOUND, 'update "poll" not found'),
  )
  let created = 0
  const open = createFeeds({
    ...{ context, maxBufferBytes: 1000, maxUpdates: 0, waitForEnd: async () => null },
    async verify() {
      created++
      return { hasPollQuery: false }
    },
  })
  const counts: number[] = []
  const errors: unknown[] = []

  for (let second = 0; second <= 6; second++) {
    const reader = open({ workflowId: 'w', runId: 'r', status: 'running' }, 0, aCall())
    // It is live first.
    const reading = reader
      .next(aCall())
      .then(() => reader.next(aCall()))
      .catch((error) => error.error)
    await vi.advanceTimersByTimeAsync(1)
    errors.push(await reading)
    reader.close()
    counts.push(created)
    await vi.advanceTimersByTimeAsync(999)
  }

  expect(new Set(errors)).toEqual(new Set(['ResourceExhaustedError']))
  expect(counts).toEqual([1, 1, 1, 1, 1, 2, 2])
})
