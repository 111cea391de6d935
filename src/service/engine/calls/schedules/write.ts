/**
 * Writes schedules. Every document has a mark, because one generation of the scheduler drops a stale update without an
 * error.
 */
import { fromBase64 } from '../../../../shared/lib/base64.ts'
import { GrpcCode } from '../../../../shared/temporal/grpc-code.ts'
import { toTimestamp } from '../../../../shared/temporal/time.ts'
import type { ScheduleMark } from '../../../../shared/wire/schedule-mark.ts'
import type { Call } from '../../../model/call.ts'
import type { EngineSchedule } from '../../../model/engine.ts'
import { invalidValue } from '../../../model/errors.ts'
import { type ScheduleChange, scheduleNotFound } from '../../../model/schedule.ts'
import { type EngineContext, identityOf } from '../../context.ts'
import { hasDetail, toServiceError } from '../../errors.ts'
import { RpcError } from '../../transport/transport.ts'
import { rejectedOption } from '../rejected-option.ts'
import { OVERLAP, toEngineForm } from './document.ts'

/** False if the id is in use, maybe because of an earlier attempt whose response was lost. */
export async function createSchedule(
  context: EngineContext,
  schedule: EngineSchedule,
  mark: ScheduleMark,
  call: Call,
): Promise<boolean> {
  const request = await documentRequest(context, schedule, mark, call)
  try {
    await context.rpc('createSchedule', request, call)
    return true
  } catch (error) {
    if (error instanceof RpcError && error.code === GrpcCode.ALREADY_EXISTS) return false
    throw toWriteError(error, schedule)
  }
}

/**
 * Replaces the document, unless the schedule has another version than the given one; null: whatever version it has. The
 * caller reads the mark to find out whether that was done: it may not have been, without an error. False if the
 * schedule does not exist.
 */
export async function updateSchedule(
  context: EngineContext,
  schedule: EngineSchedule,
  mark: ScheduleMark,
  version: string | null,
  call: Call,
): Promise<boolean> {
  const document = await documentRequest(context, schedule, mark, call)
  const request = { ...document, ...(version !== null && { conflictToken: fromBase64(version) }) }
  try {
    await context.rpc('updateSchedule', request, call)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    // An attempt whose response was lost may have made the version stale.
    if (isStale(error)) return true
    throw toWriteError(error, schedule)
  }
}

async function documentRequest(context: EngineContext, schedule: EngineSchedule, mark: ScheduleMark, call: Call) {
  return {
    namespace: context.namespace,
    scheduleId: schedule.scheduleId,
    schedule: await toEngineForm(context, schedule, mark, call),
    identity: identityOf(call),
    // The engine creates one for all attempts.
    requestId: crypto.randomUUID(),
  }
}

/** An error of the second generation alone. */
function isStale(error: unknown): boolean {
  return (
    error instanceof RpcError && error.code === GrpcCode.FAILED_PRECONDITION && /conflict token/.test(error.message)
  )
}

/** A repeated request finds nothing to delete, which is an error unless an earlier attempt may have deleted it. */
export async function deleteSchedule(context: EngineContext, scheduleId: string, call: Call): Promise<void> {
  const request = { namespace: context.namespace, scheduleId, identity: identityOf(call) }
  try {
    await context.rpc('deleteSchedule', request, call)
  } catch (error) {
    if (isMissing(error) && error.mayHaveTakenEffect) return
    throw toScheduleError(error, scheduleId)
  }
}

/**
 * A trigger and a backfill are sent once: the second generation does not recognize a repeated request. A lost response
 * is an `EngineUnavailableError` with `mayHaveTakenEffect`.
 */
export async function changeSchedule(
  context: EngineContext,
  scheduleId: string,
  change: ScheduleChange,
  call: Call,
): Promise<void> {
  const request = {
    namespace: context.namespace,
    scheduleId,
    patch: toPatch(change),
    identity: identityOf(call),
    requestId: crypto.randomUUID(),
  }
  const isOnce = change.kind === 'trigger' || change.kind === 'backfill'
  try {
    await context.rpc('patchSchedule', request, call, isOnce ? { onLostResponse: 'throw' } : {})
  } catch (error) {
    throw toScheduleError(error, scheduleId, isOnce ? 'write' : 'read')
  }
}

function toPatch(change: ScheduleChange) {
  // The engine does nothing for an empty note.
  if (change.kind === 'pause') return { pause: change.reason || 'paused' }
  if (change.kind === 'unpause') return { unpause: change.reason || 'unpaused' }
  const { overlap } = change
  const policy = overlap === null ? {} : { overlapPolicy: OVERLAP[overlap] }
  if (change.kind === 'trigger') return { triggerImmediately: policy }
  const times = { startTime: toTimestamp(change.from), endTime: toTimestamp(change.until) }
  return { backfillRequest: [{ ...times, ...policy }] }
}

/** Unknown or deleted: the engine has several messages. */
export function isMissing(error: unknown): error is RpcError {
  return error instanceof RpcError && error.code === GrpcCode.NOT_FOUND && !hasDetail(error, 'NamespaceNotFoundFailure')
}

/** `read`: the request can be repeated. */
export function toScheduleError(error: unknown, scheduleId: string, kind: 'read' | 'write' = 'read'): unknown {
  if (isMissing(error)) return scheduleNotFound(scheduleId, error)
  return toServiceError(error, { kind, details: { scheduleId } })
}

const INVALID_SPEC = /^Invalid schedule spec: /i

/** A document can be sent again. */
function toWriteError(error: unknown, { scheduleId, start }: EngineSchedule): unknown {
  if (error instanceof RpcError && INVALID_SPEC.test(error.message))
    return invalidValue('/when', `is rejected by the workflow engine: ${error.message.replace(INVALID_SPEC, '')}`)
  return rejectedOption(error, { ...start, options: start.options ?? {} }) ?? toScheduleError(error, scheduleId)
}
