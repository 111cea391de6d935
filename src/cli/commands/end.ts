/** `portico stop` and `terminate`. */
import { type CommonFlags, callService, READ_TIMEOUT_MS } from '../command.ts'
import { type RunFlags, refOf } from '../flags/run-ref.ts'
import { paintStatus } from '../output/paint.ts'
import { cellOf } from '../output/value.ts'

export type EndFlags = CommonFlags & RunFlags & { reason?: string }

export async function stop(id: string, flags: EndFlags): Promise<void> {
  await callService(flags, async ({ client, signal, show }) =>
    show(await client.stop(refOf(id, flags), requestOf(flags, signal)), ({ workflowId, cancelRequested, status }) =>
      cancelRequested
        ? `Cancellation of ${cellOf(workflowId)} requested.`
        : `${cellOf(workflowId)} has ended already: ${paintStatus(cellOf(status))}.`,
    ),
  )
}

export async function terminate(id: string, flags: EndFlags): Promise<void> {
  await callService(flags, async ({ client, signal, show }) =>
    show(
      await client.terminate(refOf(id, flags), requestOf(flags, signal)),
      ({ workflowId, runId }) => `${cellOf(workflowId)} terminated (run ${cellOf(runId)}).`,
    ),
  )
}

function requestOf({ reason }: EndFlags, signal: AbortSignal) {
  return { signal, timeoutMs: READ_TIMEOUT_MS, ...(reason !== undefined && { reason }) }
}
