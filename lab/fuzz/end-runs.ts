/** Keeps a namespace in motion: nothing that a fuzzer starts stays open for long, so that no request waits for long. */
import { setTimeout as pause } from 'node:timers/promises'
import { Client, Connection, isGrpcServiceError, ServiceError, WorkflowNotFoundError } from '@temporalio/client'
import { GrpcCode } from '../../src/shared/temporal/grpc-code.ts'

const EVERY_MS = 100

/**
 * Terminates each run and standalone activity that is open for longer than `maxAgeMs`, except catalogs, until the
 * returned function is called.
 */
export async function endRuns(address: string, maxAgeMs: number): Promise<() => Promise<void>> {
  const connection = await Connection.connect({ address })
  const client = new Client({ connection })
  const stopped = new AbortController()
  const ending = repeat(() => endOld(client, maxAgeMs), stopped.signal)
  return async () => {
    stopped.abort()
    await ending.finally(() => connection.close())
  }
}

/** Rejects if the last round failed. */
async function repeat(once: () => Promise<void>, stopped: AbortSignal): Promise<void> {
  let failure: unknown
  while (!stopped.aborted) {
    failure = await once().catch((error: unknown) => error)
    await pause(EVERY_MS, undefined, { signal: stopped }).catch(() => {}) // rejects when stopped
  }
  if (failure !== undefined) throw failure
}

async function endOld(client: Client, maxAgeMs: number): Promise<void> {
  const before = new Date(Date.now() - maxAgeMs).toISOString()
  const query = `ExecutionStatus IN ("Running", "Paused") AND WorkflowType != "$catalog" AND StartTime < "${before}"`
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    await client.workflow
      .getHandle(workflowId, runId)
      .terminate()
      .catch((error: unknown) => {
        if (!(error instanceof WorkflowNotFoundError)) throw error // it has ended in the meantime
      })
  }
  const open = `ExecutionStatus = "Running" AND StartTime < "${before}"`
  for await (const { activityId, activityRunId } of client.activity.list(open)) {
    await client.activity
      .getHandle(activityId, activityRunId)
      .terminate('open for too long')
      .catch((error: unknown) => {
        const { cause } = error instanceof ServiceError ? error : {}
        if (!isGrpcServiceError(cause) || cause.code !== GrpcCode.FAILED_PRECONDITION) throw error // likewise
      })
  }
}
