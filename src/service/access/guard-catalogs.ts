/** The rows of catalogs and of their task queues. */

import type { Grant } from '../../shared/access/caller.ts'
import { CATALOG_VERBS, RUN_VERBS, TOOL_VERBS } from '../../shared/access/grant.ts'
import { matchesAll } from '../../shared/access/patterns.ts'
import type { PolicyVerb } from '../../shared/access/policy-verbs.ts'
import type { HandlerEntry } from '../../shared/wire/catalog.ts'
import type { Call } from '../model/call.ts'
import type { CatalogListing } from '../model/catalog-listing.ts'
import type { Act } from '../model/commands.ts'
import { allowingGrants, denied, rightsOf, withDecision } from './decide.ts'
import { decideAgain } from './decide-again.ts'
import type { Verb, VerbPorts } from './guard.ts'
import { activityTypesOf } from './guard-activities.ts'

const LISTINGS = {
  catalog: { reading: CATALOG_VERBS, listing: RUN_VERBS },
  tools: { reading: TOOL_VERBS, listing: ['start'] },
} satisfies Record<string, Record<string, readonly PolicyVerb[]>>

// Always the same array, because responses are cached with the array as the key.
const NONE: never[] = []

/**
 * Lists the workflows for which the caller has one of the verbs `listing`, and the activities that it may start. Each
 * of `reading` lets it read the list.
 */
export function onCatalog<Input extends { catalog: string }>(
  access: keyof typeof LISTINGS,
  act: Act<VerbPorts, Input, CatalogListing>,
): Verb<Input, CatalogListing> {
  const { listing }: { listing: readonly PolicyVerb[] } = LISTINGS[access]
  return {
    access,
    act,
    async decide(ports, input, given, act) {
      const call = withDecision(given)
      const allowing = admitReader(ports, access, input.catalog, call)
      const listed = await act(input, call)
      if (allowing === null) return listed
      const select = <Entry extends HandlerEntry>(entries: Entry[], grants: Pick<Grant, 'workflows'>[]): Entry[] =>
        grants.length === 0 ? NONE : ports.filterCatalog(entries, grants)
      const ofTypes = allowing('activity').map((grant) => ({ workflows: activityTypesOf(grant) }))
      return {
        ...listed,
        workflows: select(listed.workflows, listing.flatMap(allowing)),
        activities: select(listed.activities, ofTypes),
      }
    },
  }
}

/** Reads the state of a task queue. Whoever may read its catalog may. */
export function onTaskQueue<Input extends { taskQueue: string }, Output>(
  act: Act<VerbPorts, Input, Output>,
): Verb<Input, Output> {
  return {
    access: 'catalog',
    act,
    async decide(ports, input, given, act) {
      const call = withDecision(given)
      admitReader(ports, 'catalog', input.taskQueue, call)
      return act(input, call)
    },
  }
}

/** Throws `ForbiddenError` if no rule allows to read the catalog. Returns which rules allow a verb; null for all. */
function admitReader(
  ports: VerbPorts,
  access: keyof typeof LISTINGS,
  catalog: string,
  call: Call,
): ((verb: PolicyVerb) => Grant[]) | null {
  const { reading }: { reading: readonly PolicyVerb[] } = LISTINGS[access]
  const rights = rightsOf(call, ports)
  call.audit({ action: access, rule: null })
  if (rights.kind === 'operator') return null
  // A rule for some workflows only is about no activity without one.
  const allowing = (verb: PolicyVerb) =>
    allowingGrants(ports, rights.grants, { verb, catalog }).filter(
      ({ workflows }) => verb !== 'activity' || matchesAll(workflows),
    )
  const [first] = reading.flatMap(allowing)
  if (first === undefined) throw denied({ verb: 'read', catalog }, call)
  call.audit({ rule: first.rule })
  const [verb = 'read', ...others] = reading
  decideAgain(ports, [{ verb, catalog }, ...others.map((verb) => ({ verb, catalog }))], call)
  return allowing
}
