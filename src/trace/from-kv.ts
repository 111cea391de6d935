import type { TraceSource } from '../domain/trace/trace-source.ts'
import { spansKey } from '../protocol/trace/keys.ts'
import type { KvStore } from '../store/kv/kv-store.ts'
import { foundSpans, inWords } from './read-stored-trace.ts'

export interface KvTraceOptions {
  kv: Pick<KvStore, 'readList'>
  namespace: string
  maxBytes: number
}

/** The key-value store, where spans wait until their run is archived. */
export function tracesFromKv({ kv, namespace, maxBytes }: KvTraceOptions): TraceSource {
  return {
    name: 'kvstore',
    async find({ runId }, call) {
      const { values, complete } = await kv.readList(spansKey(namespace, runId), maxBytes, call).catch(inWords)
      return values.length === 0 ? null : foundSpans(values, complete ? null : maxBytes)
    },
  }
}
