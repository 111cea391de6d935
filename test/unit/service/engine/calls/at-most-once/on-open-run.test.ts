import { expect, test } from 'vitest'
import {
  afterRejection,
  type RejectedAttempt,
} from '../../../../../../src/service/engine/calls/at-most-once/on-open-run.ts'
import { withPossibleEffect } from '../../../../../../src/service/engine/rpc.ts'
import { RpcError } from '../../../../../../src/service/engine/transport/transport.ts'
import { GrpcCode } from '../../../../../../src/shared/temporal/grpc-code.ts'
import type { Status } from '../../../../../../src/shared/wire/execution.ts'

const REJECTED = new RpcError('workflow execution already completed', { code: GrpcCode.NOT_FOUND })
const AFTER_LOST_RESPONSE = withPossibleEffect(REJECTED)
const DETAILS = { workflowId: 'w', updateId: 'u' }

function decide(overrides: Partial<RejectedAttempt> & { status: Status }) {
  const { status, ...rest } = overrides
  const attempt = { error: REJECTED, attempt: 1, described: { runId: 'r', status }, attemptedRunId: undefined, ...rest }
  const next = afterRejection(attempt, DETAILS)
  return next.step === 'retry' ? 'retry' : next.error
}

test('afterRejection: retries twice while the workflow has an open run', () => {
  expect([1, 2].map((attempt) => decide({ attempt, status: 'running' }))).toEqual(['retry', 'retry'])
  expect(decide({ status: 'paused' })).toBe('retry')
})

test('afterRejection: after the third attempt the client can retry', () => {
  expect(decide({ attempt: 3, status: 'running' })).toMatchObject({
    error: 'EngineUnavailableError',
    message: 'Workflow w continued as a new run during every attempt; retry the request',
    details: { ...DETAILS, runId: 'r', workflowStatus: 'running', retryAfterSeconds: 1 },
    cause: REJECTED,
  })
})

test('afterRejection: a closed run is not running, and has not received the update', () => {
  const error = decide({ status: 'failed' })

  expect(error).toMatchObject({
    error: 'WorkflowNotRunningError',
    message: 'Workflow w is not running; its status is failed',
    cause: REJECTED,
  })
  expect(error).toHaveProperty('details', { workflowId: 'w', runId: 'r', workflowStatus: 'failed' })
})

test('afterRejection: after a lost response, only the run of that attempt can be reported as closed', () => {
  const lost = { error: AFTER_LOST_RESPONSE, attemptedRunId: 'r' }

  expect(decide({ ...lost, status: 'completed' })).toMatchObject({ error: 'WorkflowNotRunningError' })
  for (const unknown of [
    decide({ ...lost, status: 'running' }),
    decide({ ...lost, attemptedRunId: 'earlier', status: 'completed' }),
    decide({ ...lost, attemptedRunId: undefined, status: 'completed' }),
  ]) {
    expect(unknown).toMatchObject({ error: 'EngineUnavailableError', details: DETAILS })
    expect(unknown).not.toHaveProperty('details.retryAfterSeconds')
  }
})
