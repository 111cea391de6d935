import { unwrapOutput } from '../../protocol/older-wrapper.ts'
import type { TraceEntry, TraceError } from '../../protocol/trace/entry.ts'
import { toTaskError } from '../failed-task.ts'
import { decodeFailure, type Failure, toErrorDetails } from '../failure.ts'
import { type HistoryEvent, toClosing } from '../outcome.ts'
import type { Payload } from '../payload.ts'
import { toSingleDecoded } from '../payload.ts'
import type { PayloadReader } from '../payload-reader.ts'

type PayloadList = readonly Payload[] | null | undefined

/** An entry whose values are still as the engine keeps them. */
export interface Draft extends Omit<TraceEntry, 'input' | 'output'> {
  input?: PayloadList
  output?: PayloadList
  failure?: Failure | null | undefined
  /** Why a workflow task failed. */
  failedTask?: Failure
  /** Why an attempt failed that was not the last one. */
  lastFailure?: Failure | null | undefined
  /** The last events of a run, for how it ended. */
  closing?: readonly HistoryEvent[]
}

/** The entries that the drafts become: all values are decoded in one go, for a codec may be a server. */
export async function toEntries(drafts: readonly Draft[], payloads: PayloadReader): Promise<TraceEntry[]> {
  const lists = drafts.flatMap(({ input, output }) => [input ?? [], output ?? []])
  const values = await payloads.decodeEach(lists.flat())
  const entries: TraceEntry[] = []
  let at = 0
  const next = (list: Draft['input']) => {
    const from = at
    at += list?.length ?? 0
    return toSingleDecoded(values.slice(from, at))
  }
  for (const draft of drafts) {
    const { failure, failedTask, lastFailure, closing, input, output, ...rest } = draft
    const given = input === undefined ? undefined : next(input)
    const returned = output === undefined ? undefined : next(output)
    const entry = {
      ...rest,
      ...(given !== undefined && { input: given.value }),
      ...(returned !== undefined && { output: unwrapOutput(returned.value) }),
      ...((given?.storedElsewhere || returned?.storedElsewhere) && {
        attributes: { ...rest.attributes, storedElsewhere: true },
      }),
    }
    // Most have none of these, and histories are long.
    const isPlain = failure === undefined && failedTask === undefined && lastFailure == null && closing === undefined
    entries.push(isPlain ? entry : await withFailures(entry, draft, payloads))
  }
  return entries
}

async function withFailures(
  entry: TraceEntry,
  { failure, failedTask, lastFailure, closing }: Draft,
  payloads: PayloadReader,
): Promise<TraceEntry> {
  return {
    ...entry,
    ...(failedTask !== undefined && { error: await toTaskError(failedTask, payloads) }),
    ...(failure !== undefined && { error: await ownFailure(failure ?? {}, payloads) }),
    ...(lastFailure != null && {
      attributes: { ...entry.attributes, lastFailure: await ownFailure(lastFailure, payloads) },
    }),
    ...(closing !== undefined && (await toEnd(entry, closing, payloads))),
  }
}

/** The user's own, not the engine's words for where it came from. */
async function ownFailure(failure: Failure, payloads: PayloadReader): Promise<TraceError> {
  const { name, message, cause } = toErrorDetails(await decodeFailure(failure, payloads))
  return { name, message, cause }
}

async function toEnd(
  entry: TraceEntry,
  events: readonly HistoryEvent[],
  payloads: PayloadReader,
): Promise<Partial<TraceEntry>> {
  const closing = await toClosing(events, payloads)
  if (closing === null) return {}
  const { outcome, nextRunId } = closing
  const attributes = { ...entry.attributes, status: outcome.status, ...(nextRunId !== null && { nextRunId }) }
  if (outcome.status === 'completed') {
    const { output, storedElsewhere } = outcome
    return { output, attributes: { ...attributes, ...(storedElsewhere && { storedElsewhere: true }) } }
  }
  if (outcome.status === 'continued') return { attributes }
  const { name, message, cause } = outcome.error
  return { attributes, error: { name, message, cause } }
}
