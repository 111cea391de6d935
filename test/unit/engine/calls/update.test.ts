import { expect, test } from 'vitest'
import { update } from '../../../../src/engine/calls/update.ts'
import { createEngineClock, type EngineContext } from '../../../../src/engine/context.ts'
import { createPayloads } from '../../../../src/engine/payloads.ts'
import { HTTP_API_FEATURES } from '../../../../src/engine/transport/http/features.ts'
import { RpcError } from '../../../../src/engine/transport/transport.ts'
import { createPollSlots } from '../../../../src/engine/waits/poll-slots.ts'
import { GrpcCode } from '../../../../src/temporal/grpc-code.ts'
import { toPayload } from '../../../../src/temporal/payload.ts'
import { aCall, rejection } from '../../call.ts'
import { UNSENT } from '../rpc-errors.ts'

const RUN = { updateRef: { workflowExecution: { workflowId: 'w', runId: 'r' } } }
const ADMITTED = RUN
const DONE = { ...RUN, outcome: { success: { payloads: [toPayload('done')] } } }
const LIMITED = new RpcError('namespace rate limit exceeded', {
  code: GrpcCode.RESOURCE_EXHAUSTED,
  details: [{ name: 'ResourceExhaustedFailure', fields: {} }],
})

/** Responds to the calls in this order, and records what is sent. */
function scriptedContext(...answers: unknown[]): { context: EngineContext; sent: string[] } {
  const sent: string[] = []
  const rpc = async (_method: string, request: { request?: { meta?: { updateId?: string } } }) => {
    sent.push(request.request?.meta?.updateId ?? '')
    const answer = answers.shift()
    if (answer instanceof Error) throw answer
    return answer
  }
  return {
    context: {
      rpc: rpc as unknown as EngineContext['rpc'],
      namespace: 'default',
      payloads: createPayloads({ codec: null, maxBytes: 1e6 }),
      clock: createEngineClock(),
      polls: createPollSlots(10),
      features: HTTP_API_FEATURES,
    },
    sent,
  }
}

const send = (context: EngineContext) =>
  update(context, { workflowId: 'w' }, { name: 'set', args: [] }, 'the-id', aCall())

test('update: an admitted update is polled with the same id, even when the engine is at a limit', async () => {
  const { context, sent } = scriptedContext(ADMITTED, LIMITED, DONE)

  expect(await send(context)).toBe('done')
  expect(sent).toEqual(['the-id', 'the-id', 'the-id'])
})

test('update: a limit that is reached before the update is admitted is returned with Retry-After', async () => {
  const { context } = scriptedContext(LIMITED)

  const rejected = await rejection(send(context))
  expect(rejected).toMatchObject({ error: 'ResourceExhaustedError', retryAfterSeconds: 1, updateId: 'the-id' })
})

test('update: after admission, an unreachable engine is reported with the run and without Retry-After', async () => {
  const [before, after] = [scriptedContext(UNSENT), scriptedContext(ADMITTED, UNSENT)]

  expect(await rejection(send(before.context))).toMatchObject({
    error: 'EngineUnavailableError',
    retryAfterSeconds: 1,
    updateId: 'the-id',
  })
  const rejected = await rejection(send(after.context))
  expect(rejected).toMatchObject({ error: 'EngineUnavailableError', workflowId: 'w', runId: 'r', updateId: 'the-id' })
  expect(rejected).not.toHaveProperty('retryAfterSeconds')
})
