/** Says which rule of a policy decides, and why each rule allows an action or not. */

import type { Grant, Identity, Rule } from '../../shared/access/caller.ts'
import { actionOf, callerOf, type Denial, denialOf } from '../../shared/access/grant.ts'
import type { JwtExplanation } from './explained-jwt.ts'
import type { AccessQuestion } from './question.ts'

export interface PolicyExplanation {
  /** Null for a token that no rule has, and for a JWT that is rejected. */
  caller: string | null
  action: string
  verdict: 'allowed' | 'denied'
  /** The rule that allows it. */
  rule: string | null
  rules: RuleExplanation[]
  /** Absent without one. */
  jwt?: JwtExplanation
}

export interface RuleExplanation {
  rule: string
  result: 'allows' | 'rejects' | 'does not apply'
  /** Null for a rule that allows the action. */
  reason: string | null
}

/** A JWT that the service rejects may do nothing; the rules are explained as if it were valid. */
export function explainPolicy(
  rules: readonly Rule[],
  question: AccessQuestion,
  jwt: JwtExplanation | null = null,
): PolicyExplanation {
  const { identity, request } = question
  const explained = rules.map((rule) => explainRule(rule, question))
  const isRejected = jwt !== null && jwt.rejected !== null
  const allowing = isRejected ? undefined : explained.find(({ result }) => result === 'allows')
  return {
    caller: isRejected ? null : (callerOf(identity, { rules })?.id ?? null),
    action: actionOf(request),
    verdict: allowing === undefined ? 'denied' : 'allowed',
    rule: allowing?.rule ?? null,
    rules: explained,
    ...(jwt !== null && { jwt }),
  }
}

function explainRule(rule: Rule, { identity, request, defaults }: AccessQuestion): RuleExplanation {
  const { name } = rule
  const [grant] = grantsOf(rule, identity)
  if (grant === undefined) return { rule: name, result: 'does not apply', reason: whyNotApplying(rule, identity) }
  const denial = denialOf(grant, request, defaults)
  if (denial === null) return { rule: name, result: 'allows', reason: null }
  return { rule: name, result: 'rejects', reason: reasonFor(denial, grant) }
}

function grantsOf(rule: Rule, identity: Identity): readonly Grant[] {
  return callerOf(identity, { rules: [rule] })?.grants ?? []
}

function whyNotApplying(rule: Rule, identity: Identity): string {
  const { who, ids = [] } = rule
  if ('token' in who) return 'token' in identity ? 'it is for other tokens' : 'it is for tokens'
  const ofIssuer = { ...rule, ids: undefined, who: { ...who, claims: {} } }
  if (grantsOf(ofIssuer, identity).length === 0) return `it is for JWTs of the issuer ${who.jwt}`
  const missing = Object.entries(who.claims).find(
    ([name, values]) => grantsOf({ ...ofIssuer, who: { ...who, claims: { [name]: values } } }, identity).length === 0,
  )
  if (missing !== undefined) return `the claim ${missing[0]} must be or contain ${alternatives(missing[1])}`
  const incomplete = ids.find((pattern) => grantsOf({ ...ofIssuer, ids: [pattern] }, identity).length === 0)
  return `the id ${incomplete} needs a claim that is a string or an integer, and not empty`
}

function reasonFor(denial: Denial, { can, ids = [], workflows = [], ...grant }: Grant): string {
  switch (denial) {
    case 'can':
      return `it can only ${can.join(', ')}`
    case 'ids':
      return `the workflow id must match ${alternatives(ids)}`
    case 'workflows':
      return `the workflow must be ${alternatives(workflows)}`
    case 'catalogs':
      return grant.catalogs === undefined
        ? 'it is for the default catalog only (SERVICE_CATALOG_ID)'
        : `the catalog must be ${alternatives(grant.catalogs)}`
    case 'namespaces':
      return grant.namespaces === undefined
        ? 'it is for the default namespace only (ENGINE_NAMESPACE)'
        : `the namespace must be ${alternatives(grant.namespaces)}`
    case 'options':
      return grant.options.length === 0
        ? 'it allows no options'
        : `it allows only the options ${grant.options.join(', ')}`
  }
}

function alternatives(values: readonly string[]): string {
  return values.join(' or ')
}
