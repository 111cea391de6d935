/** `portico stop`, `terminate`, `pause`, `unpause`, `reset` and `activity`. */
import { type CommonFlags, callService, READ_TIMEOUT_MS } from '../command.ts'
import { UsageError } from '../failures.ts'
import { readJsonArgument } from '../flags/json-argument.ts'
import { readInteger } from '../flags/number-flags.ts'
import { handleOf, type RunFlags } from '../flags/run-ref.ts'
import { cellOf } from '../output/table.ts'
import { paintStatus } from '../output/terminal.ts'

export type ControlFlags = CommonFlags & RunFlags & { reason?: string }

export async function stop(id: string, flags: ControlFlags): Promise<void> {
  await callService(flags, async ({ client, signal, show }) =>
    show(await handleOf(client, id, flags).stop(requestOf(flags, signal)), ({ workflowId, cancelRequested, status }) =>
      cancelRequested
        ? `Cancellation of ${cellOf(workflowId)} requested.`
        : `${cellOf(workflowId)} has ended already: ${paintStatus(cellOf(status))}.`,
    ),
  )
}

export async function terminate(id: string, flags: ControlFlags): Promise<void> {
  await callService(flags, async ({ client, signal, show }) =>
    show(
      await handleOf(client, id, flags).terminate(requestOf(flags, signal)),
      ({ workflowId, runId }) => `${cellOf(workflowId)} terminated (run ${cellOf(runId)}).`,
    ),
  )
}

export async function pause(id: string, flags: ControlFlags): Promise<void> {
  await callService(flags, async ({ client, signal, show }) =>
    show(
      await handleOf(client, id, flags).pause(requestOf(flags, signal)),
      ({ workflowId, runId }) => `${cellOf(workflowId)} is paused (run ${cellOf(runId)}).`,
    ),
  )
}

export async function unpause(id: string, flags: ControlFlags): Promise<void> {
  await callService(flags, async ({ client, signal, show }) =>
    show(
      await handleOf(client, id, flags).unpause(requestOf(flags, signal)),
      ({ workflowId, runId }) => `${cellOf(workflowId)} continues (run ${cellOf(runId)}).`,
    ),
  )
}

export async function reset(id: string, flags: ControlFlags & { step?: string; event?: string }): Promise<void> {
  await callService(flags, async ({ client, signal, show }) => {
    const { step, event } = flags
    if ((step === undefined) === (event === undefined)) throw new UsageError('Use either --step or --event')
    const point = event === undefined ? { stepName: step ?? '' } : { eventId: readInteger('--event', event) }
    const reset = await handleOf(client, id, flags).reset({ ...requestOf(flags, signal), ...point })
    return show(reset, ({ workflowId, runId, runsAgain }) => {
      const again = runsAgain.length === 0 ? '' : ` It executes again: ${runsAgain.map(cellOf).join(', ')}.`
      return `${cellOf(workflowId)} continues as run ${cellOf(runId)}.${again}`
    })
  })
}

function requestOf({ reason }: ControlFlags, signal: AbortSignal) {
  return { signal, timeoutMs: READ_TIMEOUT_MS, ...(reason !== undefined && { reason }) }
}

type ActivityFlags = CommonFlags & RunFlags & { key?: string }

export async function completeActivity(id: string, activity: string, flags: ActivityFlags & { output?: string }) {
  await callService(flags, async ({ client, signal, show }) => {
    const value = flags.output === undefined ? {} : { output: await readJsonArgument('--output', flags.output, signal) }
    const ended = await handleOf(client, id, flags).completeActivity(activity, {
      ...optionsOf(flags, signal),
      ...value,
    })
    return show(ended, ({ workflowId }) => `Activity ${cellOf(activity)} of ${cellOf(workflowId)} completed.`)
  })
}

type FailFlags = ActivityFlags & { message: string; name?: string; details?: string; retry: boolean }

export async function failActivity(id: string, activity: string, flags: FailFlags): Promise<void> {
  await callService(flags, async ({ client, signal, show }) => {
    const { message, name } = flags
    const details = flags.details === undefined ? [] : await readJsonArgument('--details', flags.details, signal)
    if (!Array.isArray(details)) throw new UsageError('--details must be a JSON array')
    const failed = await handleOf(client, id, flags).failActivity(activity, {
      ...optionsOf(flags, signal),
      message,
      ...(name !== undefined && { name }),
      ...(details.length > 0 && { details }),
      ...(!flags.retry && { retryable: false }),
    })
    return show(failed, ({ workflowId }) => `Activity ${cellOf(activity)} of ${cellOf(workflowId)} failed.`)
  })
}

export async function heartbeatActivity(id: string, activity: string, flags: ActivityFlags & { details?: string }) {
  await callService(flags, async ({ client, signal, show }) => {
    const { details: json } = flags
    const value = json === undefined ? {} : { details: await readJsonArgument('--details', json, signal) }
    const sent = await handleOf(client, id, flags).heartbeatActivity(activity, {
      ...optionsOf(flags, signal),
      ...value,
    })
    return show(sent, ({ workflowId, cancelRequested }) =>
      cancelRequested
        ? `Activity ${cellOf(activity)} of ${cellOf(workflowId)} should end: its cancellation was requested.`
        : `Activity ${cellOf(activity)} of ${cellOf(workflowId)} is open.`,
    )
  })
}

function optionsOf({ key }: ActivityFlags, signal: AbortSignal) {
  return { signal, timeoutMs: READ_TIMEOUT_MS, ...(key !== undefined && { idempotencyKey: key }) }
}
