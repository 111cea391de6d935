import { type Call, within } from '../../domain/call.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { ErrorCause, ExecutionRef } from '../../domain/execution.ts'
import { revealed, toErrorCause } from '../failure.ts'
import { readEnd } from './history.ts'
import type { Wire } from './wire.ts'

// The answer is there: the log waits for its reason no longer than this.
const LOOK_MS = 1000

/** Rejects as `act` does, and notes for the log why the run can't take it, where that is a bug in the workflow. */
export async function notingTaskFailure<T>(wire: Wire, ref: ExecutionRef, call: Call, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof ServiceError && error.error === 'WorkflowNotReadyError') {
      const taskFailure = await lastTaskFailure(wire, ref, within(call, LOOK_MS))
      if (taskFailure !== null) call.note({ taskFailure })
    }
    throw error
  }
}

async function lastTaskFailure(wire: Wire, ref: ExecutionRef, call: Call): Promise<ErrorCause | null> {
  try {
    const events = await readEnd(wire, ref, call, (event) => event.workflowTaskFailedEventAttributes != null)
    const failed = events.findLast((event) => event.workflowTaskFailedEventAttributes)?.workflowTaskFailedEventAttributes
    return failed?.failure ? toErrorCause(await revealed(failed.failure, wire.payloads)) : null
  } catch {
    // The caller's answer is what it is without the reason too.
    return null
  }
}
