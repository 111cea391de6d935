import type { RunRef } from '../../shared/wire/run-ref.ts'
import { type Call, withTimeout } from '../model/call.ts'
import { hasErrorName } from '../model/errors.ts'
import type { PublishCommand } from '../model/stream.ts'
import { describeUserRun } from '../runs/history.ts'
import type { StreamPorts } from './follow-stream.ts'

// A worker first says whether the workflow has a stream. Leaves time for the signal after it.
const WORKER_MS = 10_000

// How often the items are sent to a workflow that continues as a new run meanwhile.
const MAX_ATTEMPTS = 3

/** The run is known before the items are sent, because a workflow without a stream must not receive them. */
export async function publish(
  ports: StreamPorts,
  { ref, items, idempotencyKey }: PublishCommand,
  call: Call,
): Promise<RunRef> {
  for (let attempt = 1; ; attempt++) {
    const { workflowId, runId } = await describeUserRun(ports, ref, call)
    call.audit({ runId })
    try {
      await ports.engine.publish({ workflowId, runId }, items, idempotencyKey ?? null, withTimeout(call, WORKER_MS))
      return { workflowId, runId }
    } catch (error) {
      const isClosed = hasErrorName(error, 'WorkflowNotRunningError') && ref.runId === undefined
      const next = isClosed && attempt < MAX_ATTEMPTS ? await ports.engine.describe(ref, call) : null
      if (next === null || next.runId === runId) throw error
    }
  }
}
