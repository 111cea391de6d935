/**
 * The rows of standalone activities. Rules name an activity by its id, with the patterns that they have for workflow
 * ids, and may narrow the verb to types. A rule for some workflows only is about no standalone activity.
 */
import type { Grant } from '../../shared/access/caller.ts'
import { actionOf, isNarrowed } from '../../shared/access/grant.ts'
import { matchesAll, matchesAny } from '../../shared/access/patterns.ts'
import type { ListActivitiesCommand, OnActivity, StartActivityCommand } from '../model/activity-commands.ts'
import type { Call } from '../model/call.ts'
import type { Act } from '../model/commands.ts'
import { type ActivityPage, activityNotFound, type StandaloneRef } from '../model/standalone-activity.ts'
import { allowingGrants, callFor, forbidden, keyOf, rightsOf, withDecision } from './decide.ts'
import { decideAgain, decideOnTypeAgain } from './decide-again.ts'
import type { Verb, VerbPorts } from './guard.ts'
import { optionsOf, withIds } from './guard-starts.ts'

interface Request {
  handler?: string
  workflowId?: string
  catalog?: string
  options?: readonly string[]
}

/** No rule for some workflows only allows the empty name. */
const toRequest = (request: Request) => ({ verb: 'activity', workflowName: '', ...request }) as const

function allowing(ports: VerbPorts, grants: readonly Grant[], request: Request): Grant[] {
  return allowingGrants(ports, grants, toRequest(request))
}

/** Reads, ends or reports about an activity. One of a type that is not the caller's does not exist for it. */
export function onStandalone<Input extends OnActivity & { idempotencyKey?: string }, Output>(
  operation: string,
  act: Act<VerbPorts, Input, Output>,
): Verb<Input, Output> {
  return {
    access: 'activity',
    act,
    async decide(ports, input, given, act) {
      const call = withDecision(given)
      const { activityId } = input.ref
      call.audit({ action: 'activity', operation, rule: null, ...input.ref })
      const rights = rightsOf(call, ports)
      if (rights.kind === 'operator') return act(input, call)
      const request = { workflowId: activityId }
      const [first, ...others] = allowing(ports, rights.grants, request)
      if (first === undefined) throw denied(request, call)
      call.audit({ rule: first.rule })
      const own = { ...input, ...keyOf(input, call) }
      const typeOf = async (call: Call) => (await describe(ports, input.ref, call)).activityName
      const isOfAll = [first, ...others].some((grant) => !isNarrowed(grant, 'activity'))
      // Without activities in the namespace, the verb says so.
      if (isOfAll || !(await ports.engineSupport.activities(call))) {
        decideOnTypeAgain(ports, toRequest(request), typeOf, call)
        return act(own, call)
      }
      const { ref, activityName: handler } = await describe(ports, input.ref, call)
      const [ofType] = allowing(ports, rights.grants, { ...request, handler })
      call.audit({ action: actionOf({ verb: 'activity', handler }), rule: ofType === undefined ? 'none' : ofType.rule })
      if (ofType === undefined) throw activityNotFound(input.ref)
      decideAgain(ports, [toRequest({ ...request, handler })], call)
      return act({ ...own, ref }, call)
    },
  }
}

async function describe({ engine }: VerbPorts, given: StandaloneRef, call: Call) {
  const { activityId, runId, activityName } = await engine.describeActivity(given, call)
  return { ref: { activityId, runId }, activityName }
}

/** Starts an activity: in a catalog and with options of the rule, and with an id that the caller may use. */
export function onStartStandalone<Input extends StartActivityCommand, Output>(
  act: Act<VerbPorts, Input, Output>,
): Verb<Input, Output> {
  return {
    access: 'activity',
    act,
    async decide(ports, input, given, act) {
      const call = withDecision(given)
      const { activityId: givenId, activityName: handler, catalog } = input
      const ofId = givenId === undefined ? {} : { activityId: givenId }
      call.audit({ action: actionOf({ verb: 'activity', handler }), operation: 'start', rule: null, ...ofId })
      const rights = rightsOf(call, ports)
      if (rights.kind === 'operator') return act(input, call)
      const options = [...optionsOf(input), ...(input.givenLimits ?? [])]
      const request = { handler, catalog, options, ...(givenId && { workflowId: givenId }) }
      const key = keyOf(input, call)
      const [chosen] = await withIds(allowing(ports, rights.grants, request), givenId, key.idempotencyKey)
      if (chosen === undefined) throw denied(request, call)
      const { grant, workflowId: activityId } = chosen
      call.audit({ rule: grant.rule, activityId })
      const whole = allowing(ports, rights.grants, { workflowId: activityId })
      const admits = (type: string) => allowing(ports, whole, { handler: type }).length > 0
      const isNarrow = whole.every((each) => isNarrowed(each, 'activity'))
      decideAgain(ports, [toRequest({ handler, catalog, workflowId: activityId })], call)
      return act({ ...input, ...key, activityId, ...(isNarrow && { admits }) }, callFor(grant, call))
    },
  }
}

/** Lists the activities that the caller may see. The engine's database may ignore case: each row is decided again. */
export function onVisibleStandalone<Input extends ListActivitiesCommand>(
  act: Act<VerbPorts, Input, ActivityPage>,
): Verb<Input, ActivityPage> {
  return {
    access: 'activity',
    act,
    async decide(ports, input, given, act) {
      const call = withDecision(given)
      call.audit({ action: 'activity', operation: 'list', rule: null })
      const rights = rightsOf(call, ports)
      if (rights.kind === 'operator') return act(input, call)
      const grants = allowing(ports, rights.grants, {})
      const [first] = grants
      if (first === undefined) throw denied({}, call)
      call.audit({ rule: first.rule })
      const visible = grants.map((grant) => ({ ids: grant.ids, workflows: activityTypesOf(grant) }))
      if (visible.some(({ ids, workflows }) => matchesAll(ids) && workflows === undefined)) return act(input, call)
      const page = await act({ ...input, filter: { ...input.filter, visible } }, call)
      const isVisible = ({ activityId, activityName }: ActivityPage['activities'][number]) =>
        visible.some(({ ids, workflows }) => matchesAny(ids, activityId) && matchesAny(workflows, activityName))
      return { ...page, activities: page.activities.filter(isVisible) }
    },
  }
}

/** The types to which the rule narrows the verb; undefined for all. */
export function activityTypesOf(grant: Grant): string[] | undefined {
  const prefix = 'activity:'
  if (!isNarrowed(grant, 'activity')) return undefined
  return grant.can.flatMap((permission) => (permission.startsWith(prefix) ? [permission.slice(prefix.length)] : []))
}

function denied({ handler, workflowId, catalog, options = [] }: Request, call: Call) {
  const action = actionOf({ verb: 'activity', ...(handler !== undefined && { handler }) })
  call.audit({ action, rule: 'none', ...(workflowId !== undefined && { activityId: workflowId }) })
  return forbidden(action, [
    ...(catalog === undefined ? [] : [`catalog "${catalog}"`]),
    ...(workflowId === undefined ? [] : [`activity id "${workflowId}"`]),
    ...(options.length === 0 ? [] : [`options ${options.join(', ')}`]),
  ])
}
