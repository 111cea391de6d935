import { expect, test } from 'vitest'
import { streamHead } from '../../../../../../src/service/engine/calls/stream/handlers.ts'
import { RpcError } from '../../../../../../src/service/engine/transport/transport.ts'
import { GrpcCode } from '../../../../../../src/shared/temporal/grpc-code.ts'
import { toPayload } from '../../../../../../src/shared/temporal/payload.ts'
import { aCall } from '../../../../call.ts'
import { scriptedContext } from '../scripted-context.ts'

const RUN = { workflowId: 'w', runId: 'r' }
const LOST = new RpcError('query timed out before a worker could process it', { code: GrpcCode.DEADLINE_EXCEEDED })
const HEAD = { queryResult: { payloads: [toPayload(3)] } }

async function headOf(...answers: Parameters<typeof scriptedContext>) {
  const { context, sent } = scriptedContext(...answers)
  const head = await streamHead(context, RUN, aCall()).catch((error) => error.error)
  return { head, queries: sent.filter(({ method }) => method === 'queryWorkflow').length }
}

test('queries of a stream: one that got lost is sent again', async () => {
  expect(await headOf(LOST, HEAD)).toEqual({ head: 3, queries: 2 })
})

test('queries of a stream: two are sent at most', async () => {
  expect(await headOf(LOST)).toEqual({ head: 'DeadlineExceededError', queries: 2 })
})
