/** `portico batch`. */
import type { BatchPage, BatchRequest, CreatedBatch } from '../../client/requests/batches.ts'
import { sleep } from '../../shared/lib/abort.ts'
import { type Command, type CommonFlags, callService, READ_TIMEOUT_MS, WAIT_RETRY_MS } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { UsageError } from '../failures.ts'
import { type ArgumentFlags, readArguments } from '../flags/json-argument.ts'
import { readInteger } from '../flags/number-flags.ts'
import { cellOf, table, timeCell } from '../output/table.ts'
import { jsonForTerminal, printNote } from '../output/terminal.ts'
import { type FilterFlags, filterOf } from './list.ts'

interface CreateFlags extends FilterFlags, ArgumentFlags {
  all?: boolean
  reason?: string
  key?: string
  wait?: boolean
}

const POLL_MS = 1000

// The service takes up to 30 s to find the runs.
const CREATE_TIMEOUT_MS = 60_000

function create(operation: BatchRequest['operation'], flags: CreateFlags, name?: string): Promise<void> {
  return callService(
    flags,
    async (command) => {
      const { client, settings, signal, show } = command
      const filter = filterOf(flags, settings)
      // The catalog may be that of the settings.
      const isFiltered = flags.catalog !== undefined || Object.keys(filter).some((name) => name !== 'catalog')
      if (flags.all !== true && !isFiltered)
        throw new UsageError('Give a filter such as --query, or --all for all open runs')
      const given = name === undefined ? null : await readArguments(flags, signal)
      const request = {
        ...{ operation, filter },
        ...(flags.reason !== undefined && { reason: flags.reason }),
        ...(name !== undefined && { signal: name }),
        ...(given !== null && ('input' in given ? { payload: given.input } : given)),
      } as BatchRequest
      const options = {
        signal,
        timeoutMs: CREATE_TIMEOUT_MS,
        ...(flags.key !== undefined && { idempotencyKey: flags.key }),
      }
      const created = await client.batches.create(request, options)
      const render = ({ batchId, matching }: CreatedBatch) =>
        batchId === null ? 'No open run matches.' : `Batch ${cellOf(batchId)} is for ${matching} runs.`
      if (flags.wait !== true || created.batchId === null) return show(created, render)
      printNote(render(created))
      return printEnd(command, created.batchId)
    },
    flags.wait === true ? { retryMs: WAIT_RETRY_MS } : {},
  )
}

/** Waits for the end. Ctrl-C ends the waiting, not the batch. */
async function printEnd({ client, signal, wait, show }: Command, batchId: string): Promise<ExitCode> {
  const hide = wait('the batch is running')
  try {
    while (true) {
      const batch = await client.batches.get(batchId, { signal, timeoutMs: READ_TIMEOUT_MS })
      if (batch.state === 'running') await sleep(POLL_MS, signal)
      else {
        show(batch, jsonForTerminal)
        return batch.state === 'completed' ? EXIT.completed : EXIT.failed
      }
    }
  } finally {
    hide()
  }
}

export const BATCH_COMMANDS = {
  signal: (name: string, flags: CreateFlags) => create('signal', flags, name),
  stop: (flags: CreateFlags) => create('stop', flags),
  terminate: (flags: CreateFlags) => create('terminate', flags),
  get: (id: string, flags: CommonFlags): Promise<void> =>
    callService(flags, async ({ client, signal, show }) =>
      show(await client.batches.get(id, { signal, timeoutMs: READ_TIMEOUT_MS }), jsonForTerminal),
    ),
  halt: (id: string, { reason, ...flags }: CommonFlags & { reason?: string }): Promise<void> =>
    callService(flags, async ({ client, signal, show }) => {
      const request = { signal, timeoutMs: READ_TIMEOUT_MS, ...(reason !== undefined && { reason }) }
      return show(await client.batches.stop(id, request), ({ batchId, stopped }) =>
        stopped ? `Batch ${cellOf(batchId)} is stopped.` : `Batch ${cellOf(batchId)} had ended before.`,
      )
    }),
  ls: (flags: CommonFlags & { pageSize?: string; pageToken?: string }): Promise<void> =>
    callService(flags, async ({ client, signal, columns, show }) => {
      const { pageSize, pageToken } = flags
      const options = {
        ...(pageSize !== undefined && { pageSize: readInteger('--page-size', pageSize) }),
        ...(pageToken !== undefined && { pageToken }),
      }
      const page = await client.batches.list({ ...options, signal, timeoutMs: READ_TIMEOUT_MS }).page()
      return show(page, (shown) => renderBatches(shown, columns))
    }),
}

function renderBatches({ batches, nextPageToken }: BatchPage, columns: number): string {
  const rows = batches.map(({ batchId, state, operation, startedAt }) => [
    cellOf(batchId),
    cellOf(state),
    cellOf(operation),
    timeCell(startedAt),
  ])
  const list = rows.length === 0 ? 'No batches.' : table(['Id', 'State', 'Operation', 'Started (UTC)'], rows, columns)
  return nextPageToken === null ? list : `${list}\n\nMore: --page-token ${cellOf(nextPageToken)}`
}
