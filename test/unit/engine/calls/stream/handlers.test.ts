import { expect, test } from 'vitest'
import { streamHead } from '../../../../../src/engine/calls/stream/handlers.ts'
import { RpcError } from '../../../../../src/engine/transport/transport.ts'
import { GrpcCode } from '../../../../../src/temporal/grpc-code.ts'
import { toPayload } from '../../../../../src/temporal/payload.ts'
import { aCall } from '../../../call.ts'
import { scriptedContext } from '../scripted-context.ts'

const RUN = { workflowId: 'w', runId: 'r' }
const LOST = new RpcError('query timed out before a worker could process it', { code: GrpcCode.DEADLINE_EXCEEDED })
const HEAD = { queryResult: { payloads: [toPayload(3)] } }

test('queries of a stream: one that got lost is sent again', async () => {
  const { context, sent } = scriptedContext(LOST, HEAD)

  expect(await streamHead(context, RUN, aCall())).toBe(3)
  expect(sent.map(({ method }) => method)).toEqual(['queryWorkflow', 'queryWorkflow'])
})

test('queries of a stream: without a worker two are sent', async () => {
  const { context, sent } = scriptedContext(LOST)

  await expect(streamHead(context, RUN, aCall())).rejects.toMatchObject({ error: 'DeadlineExceededError' })
  expect(sent).toHaveLength(2)
})
