/** Which of a task queue's catalogs is to stand, by where the engine routes new workflows. */

import { isSameVersion, type WorkerVersion } from '../../protocol/worker-version.ts'

/** Where the engine routes new workflows of a task queue. A version that is null stands for workers without Worker Versioning. */
export interface Routing {
  /** Null: to workers without versioning. */
  current: WorkerVersion | null
  /** Half of them or more go there instead; undefined when nothing is ramped so far. */
  ramping: WorkerVersion | null | undefined
}

/**
 * Whether a worker publishes its catalog, which has another content or version than the one that is published (null when
 * there is none).
 *
 * It does when most new workflows go to its version, and not to the version of the published one: a version that ramps at half
 * or more stands above the current one, and below that it publishes nothing. Workers of the same version take turns only when they
 * start, the last one winning. So what is published depends on the routing, and no two workers replace each other in turn.
 *
 * Where nothing is published and no version is current, any version publishes: the first one has to begin to poll before
 * it can be made current.
 */
export function shouldPublish(
  own: WorkerVersion | null,
  there: { version: WorkerVersion | null } | null,
  routing: Routing,
  starts: boolean,
): boolean {
  const ownRank = rank(own, routing)
  if (there === null) return ownRank > 0 || routing.current === null
  const thereRank = rank(there.version, routing)
  return ownRank > thereRank || (starts && ownRank > 0 && ownRank === thereRank)
}

function rank(version: WorkerVersion | null, { current, ramping }: Routing): 0 | 1 | 2 {
  if (ramping !== undefined && isSameVersion(version, ramping)) return 2
  return isSameVersion(version, current) ? 1 : 0
}
