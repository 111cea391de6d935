import { isObject } from '../../lib/is-object.ts'
import type { TraceMeta } from '../execution.ts'

/** Reads what a worker says about where its trace is: `{local, remote}`, or the same below `destinations`. Null for anything else. */
export function toTraceMeta(value: unknown): TraceMeta | null {
  if (!isObject(value)) return null
  const { local, remote } = isObject(value.destinations) ? value.destinations : value
  return {
    destinations: { ...(typeof local === 'string' && { local }), ...(typeof remote === 'string' && { remote }) },
  }
}
