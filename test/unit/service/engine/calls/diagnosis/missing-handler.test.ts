import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { missingHandler } from '../../../../../../src/service/engine/calls/diagnosis/missing-handler.ts'
import type { EngineContext } from '../../../../../../src/service/engine/context.ts'
import { RpcError } from '../../../../../../src/service/engine/transport/transport.ts'
import type { Call } from '../../../../../../src/service/model/call.ts'
import { GrpcCode } from '../../../../../../src/shared/temporal/grpc-code.ts'
import { toPayload } from '../../../../../../src/shared/temporal/payload.ts'
import { aCall } from '../../../../call.ts'
import { scriptedContext } from '../scripted-context.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const METADATA = { queryResult: { payloads: [toPayload({ definition: { updateDefinitions: [{ name: 'set' }] } })] } }

/** A worker that lists its handlers after `ms`, if the caller still waits. */
function listedAfter(ms: number): EngineContext {
  const rpc = async (_method: string, _request: object, { deadlineAt }: Call) => {
    await new Promise((resolve) => setTimeout(resolve, Math.min(ms, deadlineAt - Date.now())))
    if (Date.now() >= deadlineAt) throw new RpcError('no answer', { code: GrpcCode.DEADLINE_EXCEEDED })
    return METADATA
  }
  return { ...scriptedContext().context, rpc: rpc as never }
}

function diagnose(context: EngineContext) {
  const call = aCall({ deadlineAt: Date.now() + 30_000 })
  return missingHandler(context, { workflowId: 'w' }, 'update', { name: 'nope' }, 'no handler: nope', call)
}

test('missingHandler: finds out that the handler is missing from a worker that is slow', async () => {
  const diagnosed = diagnose(listedAfter(6000))

  await vi.advanceTimersByTimeAsync(6000)

  expect(await diagnosed).toMatchObject({ error: 'HandlerNotFoundError', details: { available: ['set'] } })
})

test('missingHandler: does not wait for long for a worker that has gone', async () => {
  const diagnosed = diagnose(listedAfter(60_000))

  await vi.advanceTimersByTimeAsync(10_000)

  expect(await diagnosed).toBeNull()
})
