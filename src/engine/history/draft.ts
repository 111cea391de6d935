import type { TraceEntry } from '../../protocol/trace-entry.ts'
import { type Failure, revealed, toErrorCause } from '../failure.ts'
import { fromArguments, type HistoryEvent, toClosing } from '../outcome.ts'
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

/** The entries that the drafts become: all values are decoded in one go, for a codec may be a server. */
export async function toEntries(drafts: readonly Draft[], payloads: Pick<Payloads, 'decode'>): Promise<TraceEntry[]> {
  const lists = drafts.flatMap(({ input, output }) => [input ?? [], output ?? []])
  const values = (await payloads.decode(lists.flat()))[Symbol.iterator]()
  const [...decoded] = lists.map((list) => fromArguments(list.map(() => values.next().value)))
  return Promise.all(drafts.map((draft, index) => toEntry(draft, decoded[2 * index], decoded[2 * index + 1], payloads)))
}

async function toEntry(draft: Draft, input: unknown, output: unknown, payloads: Pick<Payloads, 'decode'>): Promise<TraceEntry> {
  const { failure, lastFailure, closing, input: hasInput, output: hasOutput, ...rest } = draft
  const entry: TraceEntry = {
    ...rest,
    ...(hasInput !== undefined && { input }),
    ...(hasOutput !== undefined && { output }),
    ...(failure !== undefined && { error: toErrorCause(await revealed(failure ?? {}, payloads)) }),
  }
  if (closing !== undefined) return { ...entry, ...(await toEnd(entry, closing, payloads)) }
  if (lastFailure == null) return entry
  return { ...entry, attributes: { ...entry.attributes, lastFailure: toErrorCause(await revealed(lastFailure, payloads)) } }
}

async function toEnd(entry: TraceEntry, events: readonly HistoryEvent[], payloads: Pick<Payloads, 'decode'>): Promise<Partial<TraceEntry>> {
  const closing = await toClosing(events, payloads)
  if (closing === null) return {}
  const { outcome, nextRunId } = closing
  const attributes = { ...entry.attributes, status: outcome.status, ...(nextRunId !== null && { nextRunId }) }
  if (outcome.status === 'completed') return { attributes, output: outcome.output }
  if (outcome.status === 'continued') return { attributes }
  const { name, message, cause } = outcome.error
  return { attributes, error: { name, message, cause } }
}
