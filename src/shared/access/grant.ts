/** What the policy lets a caller do, as pure functions: docs/access.md. */

import type { Caller, Grant, GrantedCaller, Identity, Rights, Rule } from './caller.ts'
import {
  type Claims,
  claimNames,
  claimText,
  claimValue,
  encodeClaim,
  matches,
  matchesAny,
  onlyClaims,
  withClaims,
} from './patterns.ts'
import { POLICY_HANDLER_VERBS, type PolicyVerb } from './policy-verbs.ts'

/**
 * The caller with the rules that apply to it. Null for a token that no rule contains. A JWT was verified before, so it
 * always identifies a caller, even if no rule applies to it.
 */
export function callerOf(identity: Identity, { rules }: { rules: readonly Rule[] }): GrantedCaller | null {
  const own = rules.filter(({ who }) => isHolder(who, identity))
  const limited = own.find(({ limits }) => limits !== undefined)
  const limits = limited?.limits === undefined ? null : { ...limited.limits, rule: limited.name }
  if ('jwt' in identity) {
    const { jwt, claims } = identity
    const id = `jwt:${jwt}:${encodeClaim(claimText(claims.sub) ?? '')}`
    const used = onlyClaims(claims, ['sub', ...rules.flatMap((rule) => claimsOf(rule, jwt))])
    const grants = own.flatMap((rule) => toGrant(rule, claims))
    return { kind: 'granted', id, grants, limits, identity: { jwt, claims: used } }
  }
  const [first] = own
  return first === undefined
    ? null
    : { kind: 'granted', id: `token:${first.name}`, grants: own.flatMap((rule) => toGrant(rule, {})), limits, identity }
}

/** The names of the claims that the rule reads from JWTs of the issuer. */
function claimsOf({ who, ids = [] }: Rule, issuer: string): string[] {
  if (!('jwt' in who) || who.jwt !== issuer) return []
  return [...Object.keys(who.claims), ...ids.flatMap(claimNames)]
}

function isHolder(who: Rule['who'], identity: Identity): boolean {
  if ('token' in who) return 'token' in identity && who.token.includes(identity.token)
  if (!('jwt' in identity) || who.jwt !== identity.jwt) return false
  return Object.entries(who.claims).every(([name, values]) =>
    textsOf(name, claimValue(identity.claims, name)).some((text) => values.includes(text)),
  )
}

/** The texts that a rule compares with its values. Scopes are words in one string (RFC 8693, section 4.2). */
function textsOf(name: string, claim: unknown): string[] {
  const isList = name === 'scope' || name === 'scp'
  return [claim].flat().flatMap((value) => {
    const text = typeof value === 'boolean' || typeof value === 'number' ? String(value) : claimText(value)
    return isList ? (text?.split(' ') ?? []) : (text ?? [])
  })
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
  /** Set if a rule that narrows the verb does not allow it. */
  isWhole?: true
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

/** Whether an entry of `can` allows the verb. Without a handler: whether it allows any handler. */
export function allows(
  permission: string,
  { verb, handler, isWhole }: Pick<AccessRequest, 'handler' | 'isWhole' | 'verb'>,
): boolean {
  if (permission === '*' || permission === verb) return true
  if (!permission.startsWith(`${verb}:`)) return false
  if (isWhole) return permission === `${verb}:*`
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

/** The caller with only the rules that apply in the namespace. */
export function callerIn(caller: Caller, namespace: string, defaultNamespace: string): Caller {
  if (caller.namespace !== undefined && caller.namespace !== namespace)
    return { ...caller, kind: 'granted', grants: [] }
  if (caller.kind === 'operator') return caller
  const applies = ({ namespaces = [defaultNamespace] }: Grant) => matchesAny(namespaces, namespace)
  return { ...caller, grants: caller.grants.filter(applies) }
}

/** The verbs on runs. */
export const RUN_VERBS: readonly PolicyVerb[] = ['start', 'read', 'list', ...POLICY_HANDLER_VERBS]

/** A rule with one of these verbs lets its callers read the catalogs that it names. */
export const CATALOG_VERBS: readonly PolicyVerb[] = [...RUN_VERBS, 'activity']

/** A caller needs one of these verbs to use `/mcp`. */
export const TOOL_VERBS: readonly PolicyVerb[] = [...RUN_VERBS, 'stop']

/** `any`: every valid credential has it. `catalog`: one of `CATALOG_VERBS`. `tools`: one of `TOOL_VERBS`. */
export type Access = PolicyVerb | 'catalog' | 'tools' | 'any'

/** Whether any rule of the caller has the verb; `isRelevant`: only these rules count. `any`: every caller. */
export function mayUse(rights: Rights, access: Access, isRelevant: (grant: Grant) => boolean = () => true): boolean {
  if (rights.kind === 'operator' || access === 'any') return true
  const verbs = verbsOf(access)
  const hasVerb = ({ can }: Grant) => can.some((permission) => verbs.some((verb) => allows(permission, { verb })))
  return rights.grants.some((grant) => isRelevant(grant) && hasVerb(grant))
}

function verbsOf(access: PolicyVerb | 'catalog' | 'tools'): readonly PolicyVerb[] {
  if (access === 'catalog') return CATALOG_VERBS
  return access === 'tools' ? TOOL_VERBS : [access]
}
