import { isOpen } from '../domain/execution.ts'
import type { TraceSource } from '../domain/traces.ts'
import type { ObjectReader } from '../store/object-reader.ts'
import { type BucketRules, objectsOf } from './remote-destination.ts'
import { inWords, notAvailable, toFoundTrace } from './stored.ts'

export interface ObjectTraceOptions {
  objects: ObjectReader
  rules: BucketRules
  maxBytes: number
}

/** Object storage, at the place that the catalog of the run's root, or that itself, names. */
export function tracesFromObjects({ objects, rules, maxBytes }: ObjectTraceOptions): TraceSource {
  return {
    name: 'remote',
    async find(run, call) {
      const { remote } = await run.destinations(call)
      if (remote === undefined) return null
      for (const object of objectsOf(remote, rules)) {
        const text = await objects.get(object, maxBytes, call).catch(inWords)
        if (text !== null) return toFoundTrace(run, await run.root(call), text)
      }
      // While a run is open nobody has stored it yet.
      if (isOpen(run.status)) return null
      throw notAvailable('The object storage has no object there (404)')
    },
  }
}
