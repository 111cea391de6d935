import type { TraceSource } from '../domain/model/trace-source.ts'
import { createCircuit } from '../store/circuit.ts'
import type { ObjectReader } from '../store/s3/object-reader.ts'
import type { StoreCall } from '../store/store-call.ts'
import { notAvailable, rethrowStoreError, toFoundTrace } from './read-stored-trace.ts'
import { type BucketRules, objectsOf } from './remote-destination.ts'

export interface ObjectTraceOptions {
  objects: ObjectReader
  rules: BucketRules
  namespace: string
  /** Whether the service has no other namespace. */
  isOnlyNamespace: boolean
  maxBytes: number
}

/** Reads archived traces from object storage, at the destination that the run's catalog or the run itself names. */
export function tracesFromObjects({ objects, rules, maxBytes, ...own }: ObjectTraceOptions): TraceSource {
  const circuit = createCircuit()
  return {
    name: 'remote',
    async find(run, call) {
      const { remote } = await run.destinations(call)
      if (remote === undefined) return null
      for (const object of objectsOf(remote, rules)) {
        const read = (storeCall: StoreCall) => objects.get(object, maxBytes, storeCall)
        const stored = await circuit(call, read).catch(rethrowStoreError)
        if (stored !== null) return toFoundTrace(run, own, stored.text)
      }
      // Open runs are not archived yet.
      if (run.isOpen) return null
      throw notAvailable('The object storage has no object at the trace destination (404)')
    },
  }
}
