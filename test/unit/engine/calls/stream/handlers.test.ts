import { expect, onTestFinished, test, vi } from 'vitest'
import { TIMEOUT_MS } from '../../../../../src/domain/model/deadlines.ts'
import { streamHead } from '../../../../../src/engine/calls/stream/handlers.ts'
import { RpcError } from '../../../../../src/engine/transport/transport.ts'
import { GrpcCode } from '../../../../../src/temporal/grpc-code.ts'
import { toPayload } from '../../../../../src/temporal/payload.ts'
import { aCall } from '../../../call.ts'
import { scriptedContext } from '../scripted-context.ts'

const RUN = { workflowId: 'w', runId: 'r' }
const LOST = new RpcError('query timed out before a worker could process it', { code: GrpcCode.DEADLINE_EXCEEDED })
/** Is not answered in time. */
const lose = () => {
  vi.setSystemTime(Date.now() + TIMEOUT_MS.streamQueryAgain)
  return LOST
}

const HEAD = { queryResult: { payloads: [toPayload(3)] } }

async function headOf(...answers: Parameters<typeof scriptedContext>) {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { context, sent } = scriptedContext(...answers)
  const call = aCall({ deadlineAt: Date.now() + 2 * TIMEOUT_MS.streamQueryAgain })
  const head = await streamHead(context, RUN, call).catch((error) => error.error)
  return { head, queries: sent.filter(({ method }) => method === 'queryWorkflow').length }
}

test('queries of a stream: one that got lost is sent again', async () => {
  expect(await headOf(lose, HEAD)).toEqual({ head: 3, queries: 2 })
})

test('queries of a stream: one that the engine rejects at once, because there is no worker, is sent once', async () => {
  expect(await headOf(LOST)).toEqual({ head: 'DeadlineExceededError', queries: 1 })
})

test('queries of a stream: two are sent at most', async () => {
  expect(await headOf(lose)).toEqual({ head: 'DeadlineExceededError', queries: 2 })
})
