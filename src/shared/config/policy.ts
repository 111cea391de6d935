/** The policy: who may do what. `docs/access.md` describes it. */
import * as z from 'zod/mini'
import { POLICY_NARROWED_VERBS, POLICY_OPTIONS, POLICY_VERBS } from '../access/policy-verbs.ts'
import { isObject } from '../lib/json.ts'
import { checkedString } from '../wire/checked-string.ts'
import { always, listOf, name, nonEmpty, oneOrMore, parseWith, privateUrl, recordOf } from './json-document.ts'
import { type HookSecrets, hookSchema } from './policy-hooks.ts'
import { issuersIn, mistakesBetween } from './policy-mistakes.ts'
import { claimIssue, idPatternIssue, isAmbiguousInDatabases, namePatternIssue } from './policy-pattern.ts'

/** A valid policy: tokens as lower-case hexadecimal hashes, single values as arrays. */
export type Policy = z.output<ReturnType<typeof policySchema>>

/** A policy as it is written, such as in `SERVICE_POLICY`. */
export type PolicyDocument = z.input<ReturnType<typeof policySchema>>

export type ParsedPolicy =
  | { policy: Policy; warnings: string[] }
  /** All mistakes. Each begins with a JSON Pointer, unless it is about the whole document. None shows a value. */
  | { issues: string[] }

export interface PolicyNames {
  /** Those that rules may name; null: any. */
  namespaces: readonly string[] | null
  /** The variables that hooks may name, with their values. Absent: hooks may name any, as if each were set. */
  hookSecrets?: HookSecrets
}

export function parsePolicy(value: unknown, names: PolicyNames = { namespaces: null }): ParsedPolicy {
  const parsed = parseWith(policySchema(issuersIn(value), names), value, mistakesBetween(value))
  return 'issues' in parsed ? parsed : { policy: parsed.data, warnings: warningsOf(parsed.data.rules) }
}

const ruleName = name.check(
  z.refine((value) => value !== 'none', { error: 'must not be "none", which the audit log writes for denials' }),
)

const hash = z.pipe(
  z.string().check(
    z.regex(/^sha256:[\da-f]{64}$/i, {
      error: 'must be "sha256:" and the 64 hexadecimal digits of the hash of a token, never a token itself',
    }),
  ),
  z.transform((value) => value.slice('sha256:'.length).toLowerCase()),
)

const can = checkedString((right) => {
  const [verb = '', handler] = right.split(/:(.*)/s)
  const allowed: readonly string[] = handler === undefined ? [...POLICY_VERBS, '*'] : POLICY_NARROWED_VERBS
  if (allowed.includes(verb)) return handler === undefined ? null : namePatternIssue(handler)
  return `must be "*" or one of ${POLICY_VERBS.join(', ')}; ${POLICY_NARROWED_VERBS.join(', ')} may name a handler or a type of activities, as in signal:approve`
})

const option = checkedString((name) =>
  name === '*' || POLICY_OPTIONS.some((known) => known === name)
    ? null
    : `must be "*" or one of ${POLICY_OPTIONS.join(', ')}`,
)

const positive = z.number().check(z.positive({ error: 'must be above 0' }))
const count = z
  .number()
  .check(z.refine((value) => Number.isSafeInteger(value) && value > 0, { error: 'must be an integer above 0' }))

const limits = z
  .strictObject({
    perSecond: z.exactOptional(positive),
    burst: z.exactOptional(count),
    inFlight: z.exactOptional(count),
    waits: z.exactOptional(count),
  })
  .check(
    z.refine(({ perSecond, burst }) => burst === undefined || perSecond !== undefined, {
      error: 'must contain perSecond, if it contains burst',
      ...always,
    }),
  )

/** What a claim must be, as text. */
const claimText = z.pipe(
  z.custom<string | number | boolean>(
    (value) => value !== '' && ['string', 'number', 'boolean'].includes(typeof value),
    { error: ({ input }) => (input === '' ? 'must not be empty' : 'must be a string, a number or a boolean') },
  ),
  z.transform((value) => String(value)),
)

function whoSchema(issuers: readonly string[]) {
  const holder = z
    .strictObject({
      token: z.exactOptional(oneOrMore(hash)),
      jwt: z.exactOptional(
        z.string().check(z.refine((value) => issuers.includes(value), { error: 'must be a name of /issuers' })),
      ),
      claims: z.exactOptional(recordOf(checkedString(claimIssue), oneOrMore(claimText))),
    })
    .check(
      z.refine((who) => isObject(who) && Object.hasOwn(who, 'token') !== Object.hasOwn(who, 'jwt'), {
        error: 'must contain either token or jwt',
        ...always,
      }),
      z.refine((who) => ['token', 'claims'].some((key) => !Object.hasOwn(who, key)) || Object.hasOwn(who, 'jwt'), {
        error: 'must not contain claims, which only a JWT has, beside token',
        ...always,
      }),
    )
  return z.pipe(
    holder,
    z.transform(({ token, jwt = '', claims = {} }): { token: string[] } | { jwt: string; claims: Claims } =>
      token === undefined ? { jwt, claims } : { token },
    ),
  )
}

type Claims = Record<string, string[]>

function policySchema(issuers: readonly string[], { namespaces, hookSecrets }: PolicyNames) {
  const namespace = nonEmpty.check(
    z.refine((value) => namespaces?.includes(value) ?? true, { error: 'must be a namespace of this service' }),
  )
  const rule = z.strictObject({
    name: ruleName,
    who: whoSchema(issuers),
    can: listOf(can),
    ids: z.exactOptional(listOf(checkedString(idPatternIssue))),
    workflows: z.exactOptional(listOf(checkedString(namePatternIssue))),
    catalogs: z.exactOptional(listOf(checkedString(namePatternIssue))),
    namespaces: z.exactOptional(listOf(namespace)),
    options: z.exactOptional(z.array(option)),
    limits: z.exactOptional(limits),
  })
  return z.strictObject({
    version: z.literal(1, { error: 'must be 1' }),
    issuers: z._default(
      recordOf(
        name,
        z.strictObject({
          issuer: nonEmpty,
          audience: oneOrMore(nonEmpty),
          audienceClaim: z.optional(checkedString(claimIssue)),
          jwksUrl: privateUrl,
          typ: z.optional(nonEmpty),
        }),
      ),
      {},
    ),
    // `mistakesBetween` requires `rules` if there are no hooks.
    rules: z._default(z.array(rule), []),
    hooks: z._default(recordOf(name, hookSchema(hookSecrets)), {}),
  })
}

function warningsOf(rules: Policy['rules']): string[] {
  return rules.flatMap(({ ids = [] }, rule) =>
    ids.flatMap((pattern, index) =>
      isAmbiguousInDatabases(pattern)
        ? [
            `/rules/${rule}/ids/${index} has upper-case or non-ASCII letters: databases that ignore case or accents also count runs whose ids differ only in these`,
          ]
        : [],
    ),
  )
}
