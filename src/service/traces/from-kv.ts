import { createCircuit } from '../../shared/stores/circuit.ts'
import type { KvStore } from '../../shared/stores/kv/kv-store.ts'
import type { StoreCall } from '../../shared/stores/store-call.ts'
import { spansKey } from '../../shared/wire/trace/keys.ts'
import type { TraceSource } from '../model/trace-source.ts'
import { rethrowStoreError, toFoundSpans } from './read-stored-trace.ts'

export interface KvTraceOptions {
  kv: Pick<KvStore, 'readList'>
  namespace: string
  maxBytes: number
}

/** Reads the spans of runs that are not archived yet from the key-value store. */
export function tracesFromKv({ kv, namespace, maxBytes }: KvTraceOptions): TraceSource {
  const circuit = createCircuit()
  return {
    name: 'kvstore',
    async find({ runId }, call) {
      const read = (storeCall: StoreCall) => kv.readList(spansKey(namespace, runId), maxBytes, storeCall)
      const { values, complete } = await circuit(call, read).catch(rethrowStoreError)
      return values.length === 0 ? null : toFoundSpans(values, complete ? null : maxBytes)
    },
  }
}
