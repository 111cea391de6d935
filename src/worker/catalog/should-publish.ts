/** Decides which worker's catalog is published for a task queue, by where the engine routes new workflows. */
import { isSameVersion, type WorkerVersion } from '../../shared/wire/worker-version.ts'

/** Where the engine routes new workflows of a task queue. A version of null means workers without Worker Versioning. */
export interface Routing {
  /** Null if new workflows go to unversioned workers. */
  current: WorkerVersion | null
  /** The version that receives at least half of new workflows during a ramp; undefined if no version is ramping. */
  ramping: WorkerVersion | null | undefined
}

/**
 * Whether a worker publishes its catalog in place of `published`, which differs in content or version and is null if
 * no catalog is published.
 *
 * Versions rank by routing: a version that ramps at 50 % or more ranks above the current one, and all others rank
 * last. A worker replaces a catalog of a lower rank, and one of equal rank if `mayReplaceEqual`: when it starts, or
 * when the publisher is gone. Two running workers never replace each other's catalogs in turn.
 *
 * If nothing is published and no version is current, every version publishes: a version must poll before it can be
 * made current.
 */
export function shouldPublish(
  own: WorkerVersion | null,
  published: { version: WorkerVersion | null } | null,
  routing: Routing,
  mayReplaceEqual: boolean,
): boolean {
  const ownRank = rank(own, routing)
  if (published === null) return ownRank > 0 || routing.current === null
  const publishedRank = rank(published.version, routing)
  return ownRank > publishedRank || (mayReplaceEqual && ownRank > 0 && ownRank === publishedRank)
}

function rank(version: WorkerVersion | null, { current, ramping }: Routing): 0 | 1 | 2 {
  if (ramping !== undefined && isSameVersion(version, ramping)) return 2
  return isSameVersion(version, current) ? 1 : 0
}
