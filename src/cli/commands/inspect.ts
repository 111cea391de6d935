/** `portico status`, `explain`, `trace` and `history`. */
import { type CommonFlags, callService, READ_TIMEOUT_MS } from '../command.ts'
import { readInteger } from '../flags/number-flags.ts'
import { pathOfRun, type RunFlags, refOf } from '../flags/run-ref.ts'
import { renderHistory } from '../output/history.ts'
import { renderExplanation, renderStatus } from '../output/run.ts'
import { renderTrace } from '../output/trace.ts'

export async function status(id: string, flags: CommonFlags & RunFlags): Promise<void> {
  await callService(flags, async ({ client, signal, show }) =>
    show(await client.status(refOf(id, flags), { signal, timeoutMs: READ_TIMEOUT_MS }), renderStatus),
  )
}

export async function explain(id: string, flags: CommonFlags & RunFlags): Promise<void> {
  await callService(flags, async ({ client, signal, show }) =>
    show(await client.explain(refOf(id, flags), { signal, timeoutMs: READ_TIMEOUT_MS }), renderExplanation),
  )
}

export async function trace(id: string, flags: CommonFlags & RunFlags): Promise<void> {
  await callService(flags, async ({ client, signal, show }) => {
    const options = { signal, timeoutMs: READ_TIMEOUT_MS }
    return show(await client.request('GET', `${pathOfRun(id, flags)}/trace-log`, options), renderTrace)
  })
}

export interface HistoryFlags extends CommonFlags, RunFlags {
  pageSize?: string
  pageToken?: string
  payloads: boolean
}

export async function history(id: string, flags: HistoryFlags): Promise<void> {
  await callService(flags, async ({ client, signal, show }) => {
    const { pageSize, pageToken, payloads } = flags
    const pages = client.history(refOf(id, flags), {
      signal,
      timeoutMs: READ_TIMEOUT_MS,
      includePayloads: payloads,
      ...(pageSize !== undefined && { pageSize: readInteger('--page-size', pageSize) }),
      ...(pageToken !== undefined && { pageToken }),
    })
    return show(await pages.page(), renderHistory)
  })
}
