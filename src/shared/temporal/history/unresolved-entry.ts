import type { TraceEntry, TraceError } from '../../wire/trace/entry.ts'
import { toTaskError } from '../failed-task.ts'
import { decodeFailure, type Failure, toErrorDetails, toTraceError } from '../failure.ts'
import { type TemporalEvent, toClosing, unwrapOutput } from '../outcome.ts'
import { type Decoded, type PayloadList, type PayloadReader, toSingleDecoded } from '../payload.ts'

/** A trace entry whose payloads and failures are not decoded yet. */
export interface UnresolvedEntry extends Omit<TraceEntry, 'input' | 'output'> {
  input?: PayloadList
  output?: PayloadList
  /** Becomes an attribute. */
  summary?: PayloadList
  failure?: Failure | null | undefined
  /** The failure of a workflow task. */
  failedTask?: Failure
  /** The failure of the attempt before the last one. */
  lastFailure?: Failure | null | undefined
  /** The last events of a run; they say how it ended. */
  closing?: readonly TemporalEvent[]
}

/** Decodes entries. All values are decoded with one call, because a codec may be a remote server. */
export async function resolveEntries(
  unresolved: readonly UnresolvedEntry[],
  payloads: PayloadReader,
): Promise<TraceEntry[]> {
  const lists = unresolved.flatMap(({ input, output, summary }) => [input ?? [], output ?? [], summary ?? []])
  const values = await payloads.decodeEach(lists.flat())
  const entries: TraceEntry[] = []
  let position = 0
  const nextValue = (list: PayloadList) => {
    const from = position
    position += list?.length ?? 0
    return toSingleDecoded(values.slice(from, position))
  }
  for (const each of unresolved) {
    const { failure, failedTask, lastFailure, closing, input, output, summary, ...rest } = each
    const given = input === undefined ? undefined : nextValue(input)
    const returned = output === undefined ? undefined : nextValue(output)
    const said = summary === undefined ? undefined : nextValue(summary)
    const more = moreAttributes([given, returned], said)
    const entry = {
      ...rest,
      ...(given !== undefined && { input: given.value }),
      ...(returned !== undefined && { output: unwrapOutput(returned.value) }),
      ...(more !== null && { attributes: { ...rest.attributes, ...more } }),
    }
    // Most entries have no failures, and histories are long: an await for each would add up.
    const isPlain = failure === undefined && failedTask === undefined && lastFailure == null && closing === undefined
    entries.push(isPlain ? entry : await withFailures(entry, each, payloads))
  }
  return entries
}

/** Null for most entries. A summary that is no text is left out. */
function moreAttributes(values: readonly (Decoded | undefined)[], said: Decoded | undefined): object | null {
  const isElsewhere = values.some((value) => value?.storedElsewhere)
  const isText = typeof said?.value === 'string'
  if (!isElsewhere && !isText) return null
  return { ...(isText && { summary: said.value }), ...(isElsewhere && { storedElsewhere: true }) }
}

async function withFailures(
  entry: TraceEntry,
  { failure, failedTask, lastFailure, closing }: UnresolvedEntry,
  payloads: PayloadReader,
): Promise<TraceEntry> {
  return {
    ...entry,
    ...(failedTask !== undefined && { error: toTraceError(await toTaskError(failedTask, payloads)) }),
    ...(failure !== undefined && { error: await ownFailure(failure ?? {}, payloads) }),
    ...(lastFailure != null && {
      attributes: { ...entry.attributes, lastFailure: withoutDetails(await ownFailure(lastFailure, payloads)) },
    }),
    ...(closing !== undefined && (await toEnd(entry, closing, payloads))),
  }
}

/** The error that the user's code threw, without the engine's wrappers. */
async function ownFailure(failure: Failure, payloads: PayloadReader): Promise<TraceError> {
  return toTraceError(toErrorDetails(await decodeFailure(failure, payloads)))
}

/** Archives encode the values of an error, but not attributes from the engine. */
function withoutDetails({ name, message, cause }: TraceError): TraceError {
  return { name, message, cause: cause && withoutDetails(cause) }
}

async function toEnd(
  entry: TraceEntry,
  events: readonly TemporalEvent[],
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
  return { attributes, error: toTraceError(outcome.error) }
}
