/** Repairs an open activity: docs/decisions/051-repair-of-activities.md. */
import { isOpen } from '../../shared/wire/execution.ts'
import type {
  ActivityOptions,
  ActivityRef,
  PauseActivityCommand,
  RepairCommand,
  RetryActivityCommand,
  SetActivityCommand,
} from '../model/activity.ts'
import type { Call } from '../model/call.ts'
import { hasErrorName, ServiceError } from '../model/errors.ts'
import type { Description, OpenActivity } from '../model/execution.ts'
import type { Ports } from '../ports.ts'
import { rejectCatalog } from './catalog-guard.ts'
import { missingActivity } from './report-activity.ts'

type RepairPorts = Pick<Ports, 'engine'>

export async function retryActivity(
  { engine }: RepairPorts,
  { dropHeartbeat, restoreOptions, ...command }: RetryActivityCommand,
  call: Call,
): Promise<ActivityRef> {
  return onOpenActivity({ engine }, command, call, async (activity, { isStarted, position }, { status }) => {
    // The engine checks neither: it would execute the activity in a paused run, and cut an attempt at its heartbeat.
    if (status === 'paused') throw notReady(activity, 'cannot be retried while the run is paused', { status })
    if (isStarted) throw notReady(activity, 'has an attempt that is running now')
    await engine.retryActivity(activity, { dropHeartbeat, restoreOptions, position }, call)
    return activity
  })
}

export async function pauseActivity(
  { engine }: RepairPorts,
  command: PauseActivityCommand,
  call: Call,
): Promise<ActivityRef & { paused: boolean }> {
  return onOpenActivity({ engine }, command, call, async (activity) => {
    await engine.pauseActivity(activity, command.reason, call)
    return { ...activity, paused: true }
  })
}

export async function unpauseActivity(
  { engine }: RepairPorts,
  command: RepairCommand,
  call: Call,
): Promise<ActivityRef & { paused: boolean }> {
  return onOpenActivity({ engine }, command, call, async (activity) => {
    await engine.unpauseActivity(activity, call)
    return { ...activity, paused: false }
  })
}

export async function setActivity(
  { engine }: RepairPorts,
  command: SetActivityCommand,
  call: Call,
): Promise<ActivityRef & { options: ActivityOptions }> {
  return onOpenActivity({ engine }, command, call, async (activity) => {
    return { ...activity, options: await engine.setActivity(activity, command.change, call) }
  })
}

type Act<T> = (activity: ActivityRef, open: OpenActivity, run: Description) => Promise<T>

/** If the activity ends meanwhile, the same run is described again to find out why. */
async function onOpenActivity<T>(ports: RepairPorts, command: RepairCommand, call: Call, act: Act<T>): Promise<T> {
  const run = await ports.engine.describe(command.ref, call)
  try {
    return await attempt(ports, run, command, call, act)
  } catch (error) {
    if (!hasErrorName(error, 'ActivityNotFoundError') || error.cause === undefined) throw error
    const { workflowId, runId } = run
    return attempt(ports, await ports.engine.describe({ workflowId, runId }, call), command, call, act)
  }
}

async function attempt<T>(
  { engine }: RepairPorts,
  run: Description,
  { activityId, admits = () => true }: RepairCommand,
  call: Call,
  act: Act<T>,
): Promise<T> {
  rejectCatalog(run)
  const { workflowId, runId, workflowName, status } = run
  call.audit({ runId, workflowName })
  const activity = { workflowId, runId, activityId }
  const isAdmitted = ({ activityType }: { activityType: string }) => admits({ activityType, workflowName })
  const open = isOpen(status) ? (run.openActivity?.(activityId) ?? null) : null
  if (open !== null && isAdmitted(open)) return act(activity, open, run)
  const ended = open === null ? await engine.endedActivity(activity, null, call) : null
  throw missingActivity(run, activityId, ended !== null && isAdmitted(ended) ? ended : null)
}

function notReady(
  { workflowId, runId, activityId }: ActivityRef,
  why: string,
  { status }: { status?: 'paused' } = {},
): ServiceError {
  const message = `Activity "${activityId}" of workflow ${workflowId} ${why}`
  const details = { workflowId, runId, activityId, ...(status && { workflowStatus: status }) }
  return new ServiceError('WorkflowNotReadyError', message, { details })
}
