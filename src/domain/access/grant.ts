/** What the policy lets a caller do, as pure functions: docs/access.md. */
import { POLICY_HANDLER_VERBS, type PolicyVerb } from '../../protocol/policy-verbs.ts'
import type { Caller, Grant, Identity, Rule } from '../model/caller.ts'
import {
  type Claims,
  claimNames,
  claimText,
  claimValue,
  encodeClaim,
  matches,
  matchesAll,
  matchesAny,
  onlyClaims,
  withClaims,
} from './patterns.ts'

/**
 * The caller with the rules that apply to it. Null for a token that no rule contains. A JWT was verified before, so it
 * always identifies a caller, even if no rule applies to it.
 */
export function callerOf(identity: Identity, { rules }: { rules: readonly Rule[] }): Caller | null {
  const own = rules.filter(({ who }) => isHolder(who, identity))
  const limited = own.find(({ limits }) => limits !== undefined)
  const limits = limited?.limits === undefined ? null : { ...limited.limits, rule: limited.name }
  if ('jwt' in identity) {
    const { jwt, claims } = identity
    const id = `jwt:${jwt}:${encodeClaim(claimText(claims.sub) ?? '')}`
    const used = onlyClaims(claims, ['sub', ...rules.flatMap((rule) => claimsOf(rule, jwt))])
    return { id, grants: own.flatMap((rule) => toGrant(rule, claims)), limits, identity: { jwt, claims: used } }
  }
  const [first] = own
  return first === undefined
    ? null
    : { id: `token:${first.name}`, grants: own.flatMap((rule) => toGrant(rule, {})), limits, identity }
}

/** The names of the claims that the rule reads from JWTs of the issuer. */
function claimsOf({ who, ids = [] }: Rule, issuer: string): string[] {
  if (!('jwt' in who) || who.jwt !== issuer) return []
  return [...Object.keys(who.claims), ...ids.flatMap(claimNames)]
}

function isHolder(who: Rule['who'], identity: Identity): boolean {
  if ('token' in who) return 'token' in identity && who.token.includes(identity.token)
  if (!('jwt' in identity) || who.jwt !== identity.jwt) return false
  return Object.entries(who.claims).every(([name, values]) => hasValue(claimValue(identity.claims, name), values))
}

function hasValue(claim: unknown, values: readonly string[]): boolean {
  const texts = (Array.isArray(claim) ? claim : [claim]).map(claimText)
  return texts.some((text) => text !== null && values.includes(text))
}

/** Empty if a claim that one of its ids needs is missing. */
function toGrant({ name, can, ids, workflows, catalogs, namespaces, options = [] }: Rule, claims: Claims): Grant[] {
  const filled = ids?.map((pattern) => withClaims(pattern, claims))
  const isComplete = (patterns: (string | null)[]): patterns is string[] => !patterns.includes(null)
  if (filled !== undefined && !isComplete(filled)) return []
  return [{ rule: name, can, ids: filled, workflows, catalogs, namespaces, options }]
}

/** What a request asks for. What is absent is not compared. */
export interface AccessRequest {
  verb: PolicyVerb
  /** The signal, query or update, or the type of the activity. */
  handler?: string
  workflowId?: string
  workflowName?: string
  catalog?: string
  namespace?: string
  options?: readonly string[]
}

/** The catalog and the namespace of requests and rules that do not name one. */
export interface Defaults {
  catalog: string
  namespace: string
}

/** The part of a rule that does not allow a request. */
export type Denial = 'can' | 'namespaces' | 'catalogs' | 'ids' | 'workflows' | 'options'

/** Null if the rule allows it. */
export function denialOf(grant: Grant, request: AccessRequest, defaults: Defaults): Denial | null {
  const { workflowId, workflowName, catalog, namespace, options = [] } = request
  if (!grant.can.some((permission) => allows(permission, request))) return 'can'
  if (namespace !== undefined && !matchesAny(grant.namespaces ?? [defaults.namespace], namespace)) return 'namespaces'
  if (catalog !== undefined && !matchesAny(grant.catalogs ?? [defaults.catalog], catalog)) return 'catalogs'
  if (workflowId !== undefined && !matchesAny(grant.ids, workflowId)) return 'ids'
  if (workflowName !== undefined && !matchesAny(grant.workflows, workflowName)) return 'workflows'
  return options.every((option) => matchesAny(grant.options, option)) ? null : 'options'
}

/** Without a handler: whether any handler is allowed. */
function allows(permission: string, { verb, handler }: Pick<AccessRequest, 'verb' | 'handler'>): boolean {
  if (permission === '*' || permission === verb) return true
  if (!permission.startsWith(`${verb}:`)) return false
  return handler === undefined || matches(permission.slice(verb.length + 1), handler)
}

/** Whether the rule allows the verb for some handlers only. */
export function isNarrowed({ can }: Grant, verb: PolicyVerb): boolean {
  const isWhole = ['*', verb, `${verb}:*`].some((permission) => can.includes(permission))
  return !isWhole && can.some((permission) => permission.startsWith(`${verb}:`))
}

/** The verb as responses and logs show it, with the handler: `signal:approve`. */
export function actionOf({ verb, handler }: Pick<AccessRequest, 'verb' | 'handler'>): string {
  return handler === undefined ? verb : `${verb}:${handler}`
}

/** The rules that apply in the namespace; null for an operator. */
export function grantsIn(caller: Caller, namespace: string, defaultNamespace: string): readonly Grant[] | null {
  if (caller.namespace !== undefined && caller.namespace !== namespace) return []
  return caller.grants?.filter(({ namespaces = [defaultNamespace] }) => matchesAny(namespaces, namespace)) ?? null
}

/** The verbs on runs. A rule with one of them lets its callers read the catalogs that it names. */
export const RUN_VERBS: readonly PolicyVerb[] = ['start', 'read', 'list', ...POLICY_HANDLER_VERBS]

/** A caller needs one of these verbs to use `/mcp`. */
export const TOOL_VERBS: readonly PolicyVerb[] = [...RUN_VERBS, 'stop']

/** Whether any rule of the caller has the verb. `any`: every caller. */
export function mayUse({ grants }: Caller, access: PolicyVerb | 'catalog' | 'tools' | 'any'): boolean {
  if (grants === null || access === 'any') return true
  const verbs = verbsOf(access)
  return grants.some(({ can }) => can.some((permission) => verbs.some((verb) => allows(permission, { verb }))))
}

function verbsOf(access: PolicyVerb | 'catalog' | 'tools'): readonly PolicyVerb[] {
  if (access === 'catalog') return RUN_VERBS
  return access === 'tools' ? TOOL_VERBS : [access]
}

/** Whether a start may reach an open run of any workflow by this rule: it names ids, or reaches all workflows. */
export function reachesAnyWorkflow({ ids, workflows, reachesAny = true }: Grant): boolean {
  return reachesAny && (!matchesAll(ids) || matchesAll(workflows))
}
