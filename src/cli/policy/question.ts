/** What `portico policy explain` is about: who does what. */

import type { Identity } from '../../shared/access/caller.ts'
import type { AccessRequest, Defaults } from '../../shared/access/grant.ts'
import {
  POLICY_NARROWED_VERBS,
  POLICY_OPTIONS,
  POLICY_VERBS,
  type PolicyVerb,
} from '../../shared/access/policy-verbs.ts'
import type { Policy } from '../../shared/config/policy.ts'
import { claimIssue } from '../../shared/config/policy-pattern.ts'
import { isObject, pointerKeys } from '../../shared/lib/json.ts'
import { UsageError } from '../failures.ts'

export interface QuestionFlags {
  as?: string
  jwt?: string
  claim?: string[]
  id?: string
  workflow?: string
  catalog?: string
  namespace?: string
  option?: string[]
}

export interface AccessQuestion {
  identity: Identity
  request: AccessRequest & { namespace: string }
  defaults: Defaults
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Throws a `UsageError` for a caller that the policy cannot have, and for an action that does not exist. `holder` is
 * that of the JWT of the flags.
 */
export function readQuestion(
  policy: Policy,
  action: string,
  flags: QuestionFlags,
  env: Environment,
  holder: Identity | null = null,
): AccessQuestion {
  const { id, workflow, catalog, option } = flags
  const defaults = { catalog: env.SERVICE_CATALOG_ID ?? '', namespace: env.ENGINE_NAMESPACE || 'default' }
  return {
    identity: holder ?? identityOf(policy, flags),
    request: {
      ...actionOf(action),
      namespace: flags.namespace ?? defaults.namespace,
      ...(id !== undefined && { workflowId: id }),
      ...(workflow !== undefined && { workflowName: workflow }),
      ...(catalog !== undefined && { catalog }),
      ...(option !== undefined && { options: option.map(checkOption) }),
    },
    defaults,
  }
}

function checkOption(name: string): string {
  if (POLICY_OPTIONS.some((known) => known === name)) return name
  throw new UsageError(`--option ${name}: must be one of ${POLICY_OPTIONS.join(', ')}`)
}

function actionOf(action: string): { verb: PolicyVerb; handler?: string } {
  const [name = '', handler] = action.split(/:(.*)/s)
  const verb = POLICY_VERBS.find((known) => known === name)
  const hasHandlers = POLICY_NARROWED_VERBS.some((known) => known === name)
  if (verb === undefined || (handler !== undefined && (handler === '' || !hasHandlers)))
    throw new UsageError(
      `the action must be one of ${POLICY_VERBS.join(', ')}, or a verb with its handler, such as signal:approve`,
    )
  return handler === undefined ? { verb } : { verb, handler }
}

/** Throws a `UsageError` unless the flags name one caller. */
export function checkCaller({ as, jwt, claim }: QuestionFlags): void {
  if ((as === undefined) === (jwt === undefined)) throw new UsageError('use either --as or --jwt')
  if (jwt !== undefined && claim !== undefined) throw new UsageError('--claim is for --as: a JWT has its own claims')
}

function identityOf({ rules, issuers }: Policy, { as = '', claim }: QuestionFlags): Identity {
  const [kind, name = ''] = as.split(/:(.*)/s)
  if (kind === 'token') {
    if (claim !== undefined) throw new UsageError('--claim is for --as jwt:<issuer>: a token has no claims')
    return { token: tokenOf(rules, name) }
  }
  if (kind !== 'jwt') throw new UsageError('--as must be token:<name of a rule> or jwt:<name of an issuer>')
  if (!Object.hasOwn(issuers, name))
    throw new UsageError(`--as ${as}: the policy has no issuer of this name; ${listed(Object.keys(issuers))}`)
  const claims = claimsOf(claim ?? [])
  if (claims.sub === undefined) throw new UsageError('--claim sub=<value> is required: every JWT has this claim')
  return { jwt: name, claims }
}

function tokenOf(rules: Policy['rules'], name: string): string {
  const holders = rules.flatMap(({ name, who }) => ('token' in who ? [{ name, token: who.token[0] }] : []))
  const holder = holders.find((rule) => rule.name === name)
  if (holder?.token !== undefined) return holder.token
  const names = holders.map(({ name }) => name)
  throw new UsageError(`--as token:${name}: the policy has no rule of this name that has tokens; ${listed(names)}`)
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'there are none' : `there are ${names.join(', ')}`
}

/** A claim that is given more than once is an array. */
function claimsOf(flags: readonly string[]): Record<string, unknown> {
  const pairs = flags.map((flag) => {
    const at = flag.indexOf('=')
    const name = flag.slice(0, at)
    if (at < 1 || claimIssue(name) !== null)
      throw new UsageError(`--claim ${flag}: must have the form <name>=<value>, or </json/pointer>=<value>`)
    return { name, value: flag.slice(at + 1) }
  })
  return [...Map.groupBy(pairs, ({ name }) => name)].reduce<Record<string, unknown>>((claims, [name, given]) => {
    const [first, ...more] = given.map(({ value }) => value)
    const value = more.length === 0 ? first : [first, ...more]
    return withValue(claims, name.startsWith('/') ? pointerKeys(name) : [name], value)
  }, {})
}

function withValue(claims: Record<string, unknown>, keys: readonly string[], value: unknown): Record<string, unknown> {
  const [key = '', ...rest] = keys
  const inner = Object.hasOwn(claims, key) ? claims[key] : {}
  return { ...claims, [key]: rest.length === 0 ? value : withValue(isObject(inner) ? inner : {}, rest, value) }
}
