/** `portico history`. */
import type { HistoryPage } from '../../client/responses.ts'
import { type Command, type CommonFlags, callService, READ_TIMEOUT_MS, WAIT_RETRY_MS } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { readInteger } from '../flags/number-flags.ts'
import { handleOf, type RunFlags } from '../flags/run-ref.ts'
import { renderEvents, renderHistory } from '../output/run.ts'
import { printDocument, printLines } from '../output/terminal.ts'

export interface HistoryFlags extends CommonFlags, RunFlags {
  pageSize?: string
  pageToken?: string
  payloads: boolean
  follow?: boolean
}

export async function history(id: string, flags: HistoryFlags): Promise<void> {
  const act = async (command: Command) => {
    const { client, signal, columns, show } = command
    const { pageSize, pageToken, payloads, follow = false } = flags
    const pages = handleOf(client, id, flags).history({
      signal,
      follow,
      ...(!follow && { timeoutMs: READ_TIMEOUT_MS }),
      includePayloads: payloads,
      ...(pageSize !== undefined && { pageSize: readInteger('--page-size', pageSize) }),
      ...(pageToken !== undefined && { pageToken }),
    })
    return follow
      ? printAll(pages.pages(), command, id)
      : show(await pages.page(), (page) => renderHistory(page, columns))
  }
  await callService(flags, act, flags.follow ? { retryMs: WAIT_RETRY_MS } : {})
}

/** Prints events as they arrive: for programs one JSON document on each line. */
async function printAll(pages: AsyncIterable<HistoryPage>, { isJson, wait }: Command, id: string) {
  const waitForEvents = () => wait(`waiting for events of ${id}`)
  let hide = waitForEvents()
  try {
    for await (const { events } of pages) {
      hide()
      if (isJson) for (const event of events) printDocument(JSON.stringify(event))
      else if (events.length > 0) printLines(renderEvents(events))
      hide = waitForEvents()
    }
  } finally {
    hide()
  }
  return EXIT.completed
}
