import { fromArguments } from '../../domain/from-arguments.ts'
import type { TraceEntry, TraceError } from '../../protocol/trace-entry.ts'
import { type Failure, revealed, toErrorDetails } from '../failure.ts'
import { unwrapOutput } from '../older-worker.ts'
import { type HistoryEvent, toClosing } from '../outcome.ts'
import type { Payload, Payloads } from '../payload.ts'

type PayloadList = readonly Payload[] | null | undefined

/** An entry whose values are still as the engine keeps them. */
export interface Draft extends Omit<TraceEntry, 'input' | 'output'> {
  input?: PayloadList
  output?: PayloadList
  failure?: Failure | null | undefined
  /** Why an attempt failed that was not the last one. */
  lastFailure?: Failure | null | undefined
  /** The last events of a run, for how it ended. */
  closing?: readonly HistoryEvent[]
}

type Decoder = Pick<Payloads, 'decode'>

/** The entries that the drafts become: all values are decoded in one go, for a codec may be a server. */
export async function toEntries(drafts: readonly Draft[], payloads: Decoder): Promise<TraceEntry[]> {
  const lists = drafts.flatMap(({ input, output }) => [input ?? [], output ?? []])
  const values = await payloads.decode(lists.flat())
  const entries: TraceEntry[] = []
  let at = 0
  const next = (list: Draft['input']) => {
    const from = at
    at += list?.length ?? 0
    return fromArguments(values.slice(from, at))
  }
  for (const draft of drafts) {
    const { failure, lastFailure, closing, input, output, ...rest } = draft
    const entry = {
      ...rest,
      ...(input !== undefined && { input: next(input) }),
      ...(output !== undefined && { output: unwrapOutput(next(output)) }),
    }
    // Most have none of these, and histories are long.
    entries.push(failure === undefined && lastFailure == null && closing === undefined ? entry : await withFailures(entry, draft, payloads))
  }
  return entries
}

async function withFailures(entry: TraceEntry, { failure, lastFailure, closing }: Draft, payloads: Decoder): Promise<TraceEntry> {
  return {
    ...entry,
    ...(failure !== undefined && { error: await ownFailure(failure ?? {}, payloads) }),
    ...(lastFailure != null && { attributes: { ...entry.attributes, lastFailure: await ownFailure(lastFailure, payloads) } }),
    ...(closing !== undefined && (await toEnd(entry, closing, payloads))),
  }
}

/** The user's own, not the engine's words for where it came from. */
async function ownFailure(failure: Failure, payloads: Decoder): Promise<TraceError> {
  const { name, message, cause } = toErrorDetails(await revealed(failure, payloads))
  return { name, message, cause }
}

async function toEnd(entry: TraceEntry, events: readonly HistoryEvent[], payloads: Decoder): Promise<Partial<TraceEntry>> {
  const closing = await toClosing(events, payloads)
  if (closing === null) return {}
  const { outcome, nextRunId } = closing
  const attributes = { ...entry.attributes, status: outcome.status, ...(nextRunId !== null && { nextRunId }) }
  if (outcome.status === 'completed') return { attributes, output: outcome.output }
  if (outcome.status === 'continued') return { attributes }
  const { name, message, cause } = outcome.error
  return { attributes, error: { name, message, cause } }
}
