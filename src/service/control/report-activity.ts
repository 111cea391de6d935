/** Ends activities that complete outside their worker: docs/decisions/048-completion-by-id.md. */
import { newId } from '../../shared/lib/new-id.ts'
import { isOpen } from '../../shared/wire/execution.ts'
import type {
  ActivityCommand,
  ActivityRef,
  ActivityReport,
  CancelActivityCommand,
  CompleteActivityCommand,
  EndedActivity,
  FailActivityCommand,
  HeartbeatCommand,
} from '../model/activity.ts'
import type { Call } from '../model/call.ts'
import { hasErrorName, ServiceError } from '../model/errors.ts'
import type { Description, OpenActivity } from '../model/execution.ts'
import { activityMarkOf } from '../model/keyed-id.ts'
import type { Ports } from '../ports.ts'
import { rejectCatalog } from './catalog-guard.ts'

type ReportPorts = Pick<Ports, 'engine'>

export async function completeActivity(
  ports: ReportPorts,
  command: CompleteActivityCommand,
  call: Call,
): Promise<ActivityRef & { isRepeated: boolean }> {
  const values = 'output' in command ? [command.output] : []
  const { activity, isRepeated } = await report(ports, command, { kind: 'complete', values }, call)
  return { ...activity, isRepeated }
}

export async function failActivity(ports: ReportPorts, command: FailActivityCommand, call: Call): Promise<ActivityRef> {
  return (await report(ports, command, { kind: 'fail', failure: command.failure }, call)).activity
}

export async function cancelActivity(
  ports: ReportPorts,
  command: CancelActivityCommand,
  call: Call,
): Promise<ActivityRef> {
  return (await report(ports, command, { kind: 'cancel', values: detailsOf(command) }, call)).activity
}

export async function heartbeatActivity(
  ports: ReportPorts,
  command: HeartbeatCommand,
  call: Call,
): Promise<ActivityRef & { cancelRequested: boolean }> {
  const reported = await report(ports, command, { kind: 'heartbeat', values: detailsOf(command) }, call)
  const { activity, cancelRequested } = reported
  return { ...activity, cancelRequested }
}

function detailsOf(command: HeartbeatCommand): unknown[] {
  return 'details' in command ? [command.details] : []
}

interface Reported {
  activity: ActivityRef
  cancelRequested: boolean
  /** Whether an earlier request with the same key has done this. */
  isRepeated: boolean
}

/** If the activity ends meanwhile, the same run is described again to find out why. Activity ids belong to one run. */
async function report(
  { engine }: ReportPorts,
  command: ActivityCommand,
  report: ActivityReport,
  call: Call,
): Promise<Reported> {
  const run = await engine.describe(command.ref, call)
  try {
    return await reportTo({ engine }, run, command, report, call)
  } catch (error) {
    if (!hasErrorName(error, 'ActivityNotFoundError') || error.cause === undefined) throw error
    const { workflowId, runId } = run
    return reportTo({ engine }, await engine.describe({ workflowId, runId }, call), command, report, call)
  }
}

async function reportTo(
  { engine }: ReportPorts,
  run: Description,
  { activityId, idempotencyKey, admits = () => true }: ActivityCommand,
  report: ActivityReport,
  call: Call,
): Promise<Reported> {
  rejectCatalog(run)
  const { workflowId, runId, workflowName, status } = run
  call.audit({ runId, workflowName })
  const activity = { workflowId, runId, activityId }
  const repeated = { activity, cancelRequested: false, isRepeated: true }
  const mark = idempotencyKey === undefined ? null : await activityMarkOf(idempotencyKey, report.kind, activityId)
  const isAdmitted = ({ activityType }: { activityType: string }) => admits({ activityType, workflowName })

  const open = isOpen(status) ? (run.openActivity?.(activityId) ?? null) : null
  // The workflow may have used the id again, so the key is looked up even if an activity with the id is open.
  const found = open === null || mark !== null ? await engine.endedActivity(activity, mark, call) : null
  const ended = found !== null && isAdmitted(found) ? found : null
  if (ended?.isMarked) return repeated
  if (open === null) throw missingActivity(run, activityId, ended)
  // The same error as for an activity that was never scheduled: the caller may not know that this one exists.
  if (!isAdmitted(open)) throw missingActivity(run, activityId, null)
  if (mark !== null && open.failureMark === mark) return repeated
  assertExpected(activity, open, report)
  return { activity, isRepeated: false, ...(await engine.reportActivity(activity, report, mark ?? newId(), call)) }
}

export function missingActivity(
  { workflowId, runId, status }: Description,
  activityId: string,
  ended: Pick<EndedActivity, 'completed'> | null,
): ServiceError {
  const details = { workflowId, runId, activityId, ...(ended?.completed && { completed: true as const }) }
  if (isOpen(status)) {
    const state = ended?.completed ? 'has completed' : 'is not open'
    const message = `Activity "${activityId}" of workflow ${workflowId} ${state}`
    return new ServiceError('ActivityNotFoundError', message, { details })
  }
  const message = `Workflow ${workflowId} is not running; its status is ${status}`
  return new ServiceError('WorkflowNotRunningError', message, { details: { ...details, workflowStatus: status } })
}

/** Throws `WorkflowNotReadyError` for a report that the engine would not take now. */
function assertExpected(
  activity: ActivityRef,
  { isStarted, isCancelRequested }: OpenActivity,
  { kind }: ActivityReport,
): void {
  if (kind === 'complete' || (isStarted && (kind !== 'cancel' || isCancelRequested))) return
  const { workflowId, activityId } = activity
  const state = isStarted
    ? 'is not being canceled: its workflow has not requested that'
    : 'has no attempt that is running now'
  const message = `Activity "${activityId}" of workflow ${workflowId} ${state}`
  throw new ServiceError('WorkflowNotReadyError', message, { details: { ...activity } })
}
