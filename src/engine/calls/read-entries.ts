import type { Call } from '../../domain/model/call.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import type { TraceEntry } from '../../protocol/trace/entry.ts'
import { createHistoryReader } from '../../temporal/history/reader.ts'
import { type EngineContext, executionIds } from '../context.ts'
import { toServiceError } from '../errors.ts'
import { readPage } from './history-pages.ts'

export async function* readEntries(context: EngineContext, run: RunRef, call: Call): AsyncGenerator<TraceEntry> {
  const reader = createHistoryReader(run, context.payloads)
  let nextPageToken: Uint8Array | null = null
  try {
    do {
      const page = await readPage(context, run, call, nextPageToken === null ? {} : { nextPageToken })
      yield* await reader.entriesOf(page.events)
      nextPageToken = page.nextPageToken
    } while (nextPageToken !== null)
  } catch (error) {
    throw toServiceError(error, { kind: 'read', details: executionIds(run) })
  }
}
