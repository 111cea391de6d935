/** Access tokens: what their creators pass on, and what they may do later. */

import type { Caller, Grant, GrantedCaller, Identity, Rule } from '../../shared/access/caller.ts'
import { callerOf, mayUse } from '../../shared/access/grant.ts'
import { commonPattern, commonPatterns, matchesAny } from '../../shared/access/patterns.ts'
import { POLICY_HANDLER_VERBS, POLICY_RUN_OPTIONS } from '../../shared/access/policy-verbs.ts'
import { sha256 } from '../../shared/lib/digest.ts'
import type { Call } from '../model/call.ts'
import { forbidden } from './decide.ts'

/** What a token may do at most. */
export interface Scope {
  /** Verbs, some with a pattern for their handlers. */
  can: readonly string[]
  /** Patterns of workflow ids. Default: those of the creator. */
  ids?: readonly string[] | undefined
  /** Patterns of workflow names. Default: those of the creator. */
  workflows?: readonly string[] | undefined
  /** Names of start options, and `headers` of messages. Default: none. */
  options?: readonly string[] | undefined
}

/** What a token proves. */
export interface Delegation {
  scope: Scope
  namespace: string
  /** Its creator; null for an operator. */
  by: Identity | null
  /** The names of the creator's rules that it narrows; null for an operator. */
  rules: readonly string[] | null
  /** The same for all tokens of a creator with the same scope. */
  id: string
}

/**
 * What a token of the caller passes on in the namespace. `caller` has only the rules that apply in this namespace.
 * Throws `ForbiddenError` if the caller itself may do less than `given`.
 */
export async function delegate(caller: Caller, given: Scope, namespace: string, call: Call): Promise<Delegation> {
  const scope = normalized(given)
  const { identity } = caller
  const grants = caller.kind === 'operator' ? null : caller.grants
  const rule = grants?.find((grant) => mayUse({ kind: 'granted', grants: [grant] }, 'delegate'))?.rule ?? null
  call.audit({ action: 'delegate', rule })
  const wider = grants === null ? undefined : widerPart(grants, scope)
  if (wider !== undefined) {
    call.audit({ rule: 'none' })
    throw forbidden('delegate', shown(wider))
  }
  // Without an identity, the token would be one of an operator.
  if (grants !== null && identity === undefined) throw forbidden('delegate')
  const narrowed = grants?.flatMap((grant) => narrow(grant, scope)) ?? null
  const id = (await sha256(JSON.stringify([namespace, scope.can, scope.ids, scope.workflows, scope.options]))).slice(
    0,
    ID_DIGITS,
  )
  const rules = narrowed?.flatMap((grant) => grant.rule ?? []) ?? null
  return { scope, namespace, by: identity ?? null, rules, id }
}

const ID_DIGITS = 16

/** The holder of a token, with the rules that its creator still has. Null if there are none. */
export function delegateOf(
  { scope, namespace, by, rules, id }: Delegation,
  operator: Caller,
  policy: { rules: readonly Rule[] },
): GrantedCaller | null {
  const creator = by === null ? operator : callerOf(by, policy)
  if (creator === null) return null
  const isOwn = ({ rule }: Grant) => rule !== null && rules?.includes(rule) === true
  const own = creator.kind === 'operator' ? [EVERYTHING] : creator.grants.filter(isOwn)
  const grants = own.flatMap((grant) => narrow(grant, scope))
  if (grants.length === 0) return null
  return {
    kind: 'granted',
    id: `${creator.id}/${id}`,
    grants,
    limits: creator.limits,
    namespace,
    delegatedBy: creator.id,
  }
}

const EVERYTHING: Grant = { rule: null, can: ['*'], catalogs: ['*'], namespaces: ['*'], options: ['*'] }

/** The scope in one form: sorted, without repetitions, and with `signal` for `signal:*`. */
function normalized({ can, ids, workflows, options }: Scope): Scope {
  const sorted = (values: readonly string[]) => [...new Set(values)].toSorted()
  return {
    can: sorted(can.map((right) => right.replace(/:\*$/, ''))),
    ...(ids && { ids: sorted(ids) }),
    ...(workflows && { workflows: sorted(workflows) }),
    ...(options && { options: sorted(options) }),
  }
}

interface Part {
  right: string
  id?: string | undefined
  workflow?: string | undefined
  /** Only those that the right can use. */
  options: readonly string[]
}

/** A part of the scope that no grant allows as a whole. */
function widerPart(grants: readonly Grant[], { can, ids, workflows, options = [] }: Scope): Part | undefined {
  const parts = can.flatMap((right) => {
    const usable = options.filter((option) => canUse(right, option))
    return (ids ?? [undefined]).flatMap((id) =>
      (workflows ?? [undefined]).map((workflow): Part => ({ right, id, workflow, options: usable })),
    )
  })
  return parts.find((part) => !grants.some((grant) => allowsPart(grant, part)))
}

function canUse(right: string, option: string): boolean {
  const [verb] = partsOf(right)
  if (verb === 'repair') return POLICY_RUN_OPTIONS.some((changed) => changed === option)
  return (
    verb === 'start' ||
    verb === 'activity' ||
    (option === 'headers' && POLICY_HANDLER_VERBS.some((handling) => handling === verb))
  )
}

function allowsPart(grant: Grant, { right, id, workflow, options }: Part): boolean {
  const { can, ids, workflows } = grant
  return (
    can.some((granted) => narrowRight(granted, right) === right) &&
    (id === undefined || matchesAny(ids, id)) &&
    (workflow === undefined || matchesAny(workflows, workflow)) &&
    options.every((option) => matchesAny(grant.options, option))
  )
}

function shown({ right, id, workflow, options }: Part): string[] {
  return [
    `the right "${right}"`,
    ...(workflow === undefined ? [] : [`workflow "${workflow}"`]),
    ...(id === undefined ? [] : [`workflow id "${id}"`]),
    ...(options.length === 0 ? [] : [`options ${options.join(', ')}`]),
  ]
}

/** The grant within the scope; empty if nothing is left. */
function narrow(grant: Grant, scope: Scope): Grant[] {
  const can = [
    ...new Set(grant.can.flatMap((granted) => scope.can.flatMap((right) => narrowRight(granted, right) ?? []))),
  ]
  const ids = commonPatterns(grant.ids, scope.ids)
  const workflows = commonPatterns(grant.workflows, scope.workflows)
  if ([can, ids, workflows].some((list) => list?.length === 0)) return []
  return [{ ...grant, can, ids, workflows, options: commonPatterns(grant.options, scope.options ?? []) ?? [] }]
}

/** The part of `right` that is granted: `signal:app*` of `signal` if only that is granted. Null for nothing. */
function narrowRight(granted: string, right: string): string | null {
  if (granted === '*' || granted === right) return right
  const [verb, handlers = '*'] = partsOf(granted)
  const [sameVerb, wanted = '*'] = partsOf(right)
  const common = verb === sameVerb ? commonPattern(handlers, wanted) : null
  if (common === null) return null
  return common === '*' ? verb : `${verb}:${common}`
}

/** The verb and, if the right is narrowed, its handlers. */
function partsOf(right: string): [verb: string, handlers?: string] {
  const at = right.indexOf(':')
  return at === -1 ? [right] : [right.slice(0, at), right.slice(at + 1)]
}
