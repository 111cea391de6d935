import { isObject } from '../../lib/json.ts'

/** Where a trace was written. */
export interface TraceMeta {
  destinations: { local?: string; remote?: string }
}

/**
 * Reads where a worker says its trace is: `{local, remote}`, or the same below `destinations`. Null for anything else.
 */
export function toTraceMeta(value: unknown): TraceMeta | null {
  if (!isObject(value)) return null
  const { local, remote } = isObject(value.destinations) ? value.destinations : value
  if (typeof local !== 'string' && typeof remote !== 'string') return null
  return {
    destinations: { ...(typeof local === 'string' && { local }), ...(typeof remote === 'string' && { remote }) },
  }
}
