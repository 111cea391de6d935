/** An engine context with scripted responses, for the order of calls that a real engine cannot be made to cause. */

import { createEngineClock, createPayloads, type EngineContext } from '../../../../../src/service/engine/context.ts'
import { createPollSlots } from '../../../../../src/service/engine/polls.ts'
import { createRpc } from '../../../../../src/service/engine/rpc.ts'
import { RpcError, type Transport } from '../../../../../src/service/engine/transport/transport.ts'
import { toPayload } from '../../../../../src/shared/temporal/payload.ts'

const RUNNING = 1

export const ALL_FEATURES: Transport['features'] = {
  slashInIds: { supported: true },
  updateWithStart: { supported: true },
  asyncUpdates: { supported: true },
}

export interface Sent {
  method: string
  updateId: string | undefined
  requestId: string | undefined
  runId: string
  /** How far an update must be before the engine responds. */
  stage: number | undefined
}

/** Gets the call that it responds to, and all calls until then. */
export type Answer = (call: Sent, sent: Sent[]) => unknown

/** Responds to the calls in this order, with the last response for all further calls. Records what is sent. */
export function scriptedContext(...answers: (object | Answer)[]): { context: EngineContext; sent: Sent[] } {
  const sent: Sent[] = []
  const answer = async (method: string, request: RequestLike) => {
    const [first, second] = request.operations ?? []
    const call = {
      method,
      updateId: (second?.updateWorkflow ?? request).request?.meta?.updateId,
      requestId: first?.startWorkflow?.requestId,
      runId: (request.workflowExecution ?? request.execution)?.runId ?? '',
      stage: (second?.updateWorkflow ?? request).waitPolicy?.lifecycleStage,
    }
    sent.push(call)
    const next = answers.length > 1 ? answers.shift() : answers[0]
    const answered = typeof next === 'function' ? next(call, sent) : next
    if (answered instanceof Error) throw answered
    return answered
  }
  const transport: Transport = {
    name: 'grpc',
    features: ALL_FEATURES,
    async call(method, request, { signal }) {
      signal.throwIfAborted()
      return answer(method, request as RequestLike) as never
    },
    async close() {},
  }
  return {
    context: {
      rpc: createRpc(transport),
      features: transport.features,
      namespace: 'default',
      payloads: createPayloads({ codec: null, maxBytes: 1000 }),
      clock: createEngineClock(),
      polls: createPollSlots(10),
    },
    sent,
  }
}

interface RequestLike {
  operations?: { startWorkflow?: { requestId: string }; updateWorkflow?: RequestLike }[]
  request?: { meta?: { updateId?: string } }
  waitPolicy?: { lifecycleStage: number }
  workflowExecution?: { runId?: string }
  execution?: { runId?: string }
}

export function done(runId: string, started: boolean) {
  return { responses: [{ startWorkflow: { runId, started } }, { updateWorkflow: outcome(runId) }] }
}

export function outcome(runId: string) {
  return {
    updateRef: { workflowExecution: { workflowId: 'w', runId } },
    outcome: { success: { payloads: [toPayload('done')] } },
  }
}

/** Describes this run as one that the first call has started. */
export function startedByRequest(run: Run): Answer {
  return (_, [first]) => described({ ...run, ...(first?.requestId && { requestId: first.requestId }) })
}

/** The error when the start succeeded and the update was rejected. */
export function updateRejected({ code, message, details }: RpcError): RpcError {
  const statuses = [
    { code: 0, message: '', details: [] },
    { code, message, details },
  ]
  const failure = { name: 'MultiOperationExecutionFailure', fields: { statuses } }
  return new RpcError('Update-with-Start could not be executed.', { code, details: [failure] })
}

export interface Run {
  runId: string
  firstRunId?: string
  status?: number
  requestId?: string
  /** How long ago it started and, if it is closed, closed. */
  sinceMs?: number
}

export function described({ runId, firstRunId = runId, status = RUNNING, requestId, sinceMs = 0 }: Run) {
  const at = { seconds: Math.floor((Date.now() - sinceMs) / 1000), nanos: 0 }
  return {
    workflowExecutionInfo: {
      execution: { workflowId: 'w', runId },
      firstRunId,
      status,
      startTime: at,
      ...(status !== RUNNING && { closeTime: at }),
    },
    workflowExtendedInfo: { requestIdInfos: requestId === undefined ? {} : { [requestId]: {} } },
  }
}
