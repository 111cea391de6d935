/** `portico activity complete`, `fail` and `heartbeat`. */
import { type CommonFlags, callService, READ_TIMEOUT_MS } from '../command.ts'
import { UsageError } from '../failures.ts'
import { readJsonArgument } from '../flags/json-argument.ts'
import { handleOf, type RunFlags } from '../flags/run-ref.ts'
import { cellOf } from '../output/table.ts'

type ActivityFlags = CommonFlags & RunFlags & { key?: string }

export async function complete(id: string, activity: string, flags: ActivityFlags & { output?: string }) {
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

export async function fail(id: string, activity: string, flags: FailFlags): Promise<void> {
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

export async function heartbeat(id: string, activity: string, flags: ActivityFlags & { details?: string }) {
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
