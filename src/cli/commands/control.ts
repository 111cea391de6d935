/** `portico stop`, `terminate`, `pause`, `unpause` and `reset`. */
import { type CommonFlags, callService, READ_TIMEOUT_MS } from '../command.ts'
import { UsageError } from '../failures.ts'
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
