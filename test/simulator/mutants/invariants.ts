/** Defects that only the checks of responses and decisions show. */
import type { SimulatedMutant } from './list.ts'

export const OF_INVARIANTS: readonly SimulatedMutant[] = [
  {
    name: 'invariants: an unknown outcome has a status that clients repeat',
    file: 'src/service/http/errors.ts',
    target: 'OutcomeUnknownError: { status: 424,',
    replacement: 'OutcomeUnknownError: { status: 503,',
  },
  {
    name: 'invariants: a new policy is not used',
    file: 'src/service/portico.ts',
    target: '      callers.setPolicy(policy)\n',
    replacement: '',
    profile: 'policies',
  },
  {
    name: 'invariants: the ids of a rule are not checked',
    file: 'src/shared/access/grant.ts',
    target: "  if (workflowId !== undefined && !matchesAny(grant.ids, workflowId)) return 'ids'\n",
    replacement: '',
  },
  {
    name: 'invariants: requests stay in memory',
    file: 'src/service/stack.ts',
    target: '  return { loadShedder, fetch: (request) => loadShedder.handle(request) }\n',
    replacement:
      '  const kept: Request[] = []\n' +
      '  return { loadShedder, fetch: (request) => (kept.push(request), loadShedder.handle(request)) }\n',
    seed: 10,
  },
]
