import type { Call } from '../domain/call.ts'
import type { FoundTrace, TraceSource } from '../domain/traces.ts'
import { parseEntryTexts } from '../protocol/trace-document.ts'
import { outboxKey, spansKey, toOutboxMember } from '../protocol/trace-keys.ts'
import type { KvReader } from '../store/kv-reader.ts'
import { inWords, notAvailable } from './stored.ts'

export interface KvTraceOptions {
  kv: Pick<KvReader, 'isWaiting' | 'readList'>
  namespace: string
  /** What the spans are put into: it knows all runs of the trace. */
  history: TraceSource
  maxBytes: number
}

const READ_AT_ONCE = 8

/** The key-value store, where spans are until the run has ended and its trace is stored. */
export function tracesFromKv({ kv, namespace, history, maxBytes }: KvTraceOptions): TraceSource {
  async function spansOf(runIds: readonly string[], call: Call): Promise<string[]> {
    const texts: string[] = []
    const room = { left: maxBytes }
    for (let at = 0; at < runIds.length; at += READ_AT_ONCE) {
      const lists = await Promise.all(runIds.slice(at, at + READ_AT_ONCE).map((runId) => kv.readList(spansKey(runId), room, call)))
      const isWhole = lists.every(({ values, length }) => values.length === length)
      if (!isWhole || room.left < 0) throw notAvailable(`The key-value store has more than ${maxBytes} bytes there`)
      texts.push(...lists.flatMap(({ values }) => values))
    }
    return texts
  }

  return {
    name: 'kvstore',
    async find(run, call): Promise<FoundTrace | null> {
      const { runId } = run
      const { workflowId, firstRunId: rootRunId, catalog } = await run.root(call)
      const member = { outbox: outboxKey(namespace, catalog), member: toOutboxMember({ workflowId, rootRunId }) }
      if (!(await kv.isWaiting(spansKey(runId), member, call).catch(inWords))) return null

      const told = await history.find(run, call)
      if (told === null) return null
      const runIds = told.entries.filter(({ id, kind, phase }) => kind === 'workflow' && phase === 'began' && !id.endsWith(':chain'))
      const texts = await spansOf([...new Set(runIds.map(({ id }) => id))], call).catch(inWords)
      const { found, skipped } = parseEntryTexts(texts)
      const warnings = skipped === 0 ? told.warnings : [...told.warnings, `${skipped} of the spans could not be read`]
      return { entries: [...told.entries, ...found], whole: told.whole, warnings }
    },
  }
}
