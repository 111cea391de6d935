import { expect, test } from 'vitest'
import { until } from '../../../../../src/cli/dev/servers/until.ts'
import { CREDENTIAL_REVOKED } from '../../../../../src/service/model/call.ts'
import { ServiceError } from '../../../../../src/service/model/errors.ts'
import type { Caller, Rule } from '../../../../../src/shared/access/caller.ts'
import { whenAborted } from '../../../../../src/shared/lib/abort.ts'
import { makeApi } from '../api.ts'
import { bearer, tokenPolicy } from '../policies.ts'

const NOBODY: Caller = { kind: 'granted' as const, id: 'nobody', grants: [], limits: null }

const WEB: Omit<Rule, 'who'> = { name: 'web', can: ['read'] }

/** A wait of the caller `web`, which `decide` allows or denies by a later policy. */
async function waiting(decide: (caller: Caller) => unknown = () => {}, rules = [WEB]) {
  const begun = Promise.withResolvers<void>()
  const reasons: unknown[] = []
  const leaving = new AbortController()
  const { callers, fetch } = makeApi({
    auth: { policy: tokenPolicy(...rules) },
    workflows: {
      async result(_, { signal, decideAgain, caller = NOBODY }) {
        decideAgain?.('read', decide, caller)
        begun.resolve()
        await new Promise<void>((resolve) => void whenAborted(signal, resolve))
        reasons.push(signal.reason)
        throw new ServiceError('WorkflowExecutionTimedOutError', 'ended')
      },
    },
  })
  const url = 'http://portico.test/workflow/w/result?wait=60s'
  const response = fetch(new Request(url, { headers: bearer('web'), signal: leaving.signal }))
  await begun.promise
  return { callers, reasons, response, leave: () => leaving.abort(new Error('left')) }
}

const denied = () => {
  throw new ServiceError('ForbiddenError', 'denied')
}

test.for<[what: string, policy: ReturnType<typeof tokenPolicy> | null, decide: () => unknown]>([
  ['a removed rule', tokenPolicy(), () => {}],
  ['another token', tokenPolicy({ ...WEB, token: 'next' }), () => {}],
  ['no policy', null, () => {}],
  ['a narrower rule, by which the decision is another one', tokenPolicy({ ...WEB, ids: ['none'] }), denied],
])('a new policy ends a wait: %s (threat 107)', async ([, policy, decide]) => {
  const { callers, reasons, response } = await waiting(decide)

  callers?.setPolicy(policy)
  await response

  expect(reasons).toEqual([CREDENTIAL_REVOKED])
})

test.for<[what: string, rule: Omit<Rule, 'who'>, decide: () => unknown]>([
  ['the same rule', WEB, denied],
  ['a rule that still allows it', { ...WEB, ids: ['w*'] }, () => {}],
])('a new policy does not end a wait: %s (threat 107)', async ([, rule, decide]) => {
  const { callers, reasons, response, leave } = await waiting(decide)

  callers?.setPolicy(tokenPolicy(rule))
  // A credential is verified with a digest, which takes more than one turn.
  await callers?.identify('Bearer web')
  leave()
  await response

  expect(reasons).not.toContain(CREDENTIAL_REVOKED)
})

test.for<[what: string, error: Error]>([
  ['the engine is away', new ServiceError('EngineUnavailableError', 'away')],
  ['the engine is at its limit', new ServiceError('ResourceExhaustedError', 'limit')],
  ['the keys of the issuer cannot be fetched', new ServiceError('AuthUnavailableError', 'away')],
  ['a bug', new TypeError('bug')],
])('a decision that fails is repeated, and ends no wait before it denies it: %s (threat 107)', async ([, error]) => {
  const outcomes = [error, error]
  const answered = Promise.withResolvers<Error>()
  const { callers, reasons, response } = await waiting(() => {
    const outcome = outcomes.shift()
    return outcome === undefined ? answered.promise.then((denial) => Promise.reject(denial)) : Promise.reject(outcome)
  })

  callers?.setPolicy(tokenPolicy({ ...WEB, ids: ['none'] }))
  await until('it is decided a third time', async () => outcomes.length === 0)
  const before = [...reasons]
  answered.resolve(new ServiceError('WorkflowNotFoundError', 'of another workflow'))
  await response

  expect([before, reasons]).toEqual([[], [CREDENTIAL_REVOKED]])
})

test('a wait that was allowed by the policy before is decided again, even if the policy changed before it began (threat 107)', async () => {
  const { callers, fetch } = makeApi({
    auth: { policy: tokenPolicy(WEB) },
    workflows: {
      async result(_, { signal }) {
        await new Promise<void>((resolve) => void whenAborted(signal, resolve))
        throw new ServiceError('WorkflowExecutionTimedOutError', 'ended')
      },
    },
  })

  // The credential is verified with a digest, which takes more than one turn.
  const response = fetch(new Request('http://portico.test/workflow/w/result?wait=60s', { headers: bearer('web') }))
  callers?.setPolicy(tokenPolicy())

  expect((await response).status).toBe(424)
})

test('a reload that changes nothing in the namespace of a wait decides nothing again (threat 107)', async () => {
  const decided: unknown[] = []
  const other = { ...WEB, name: 'other', token: 'web', namespaces: ['other'] }
  const { callers, response, leave } = await waiting((caller) => decided.push(caller), [WEB, other])

  callers?.setPolicy(tokenPolicy(WEB, other))
  callers?.setPolicy(tokenPolicy(WEB, { ...other, ids: ['more'] }))
  await callers?.identify('Bearer web')
  leave()
  await response

  expect(decided).toEqual([])
})

test('only the decision that a request adds is repeated for a caller that has changed since it began (threat 107)', async () => {
  const decided: string[] = []
  const begun = Promise.withResolvers<void>()
  const changed = Promise.withResolvers<void>()
  const { callers, fetch } = makeApi({
    auth: { policy: tokenPolicy(WEB) },
    workflows: {
      async result(_, { decideAgain, callerNow, caller = NOBODY }) {
        decideAgain?.('first', () => decided.push('first'), caller)
        begun.resolve()
        await changed.promise
        await until('it is decided', async () => decided.length === 1)
        for (let added = 0; added < 3; added++)
          decideAgain?.(`of then ${added}`, () => decided.push('of then'), callerNow?.() ?? caller)
        decideAgain?.('of before', () => decided.push('of before'), caller)
        throw new ServiceError('WorkflowExecutionTimedOutError', 'ended')
      },
    },
  })
  const response = fetch(new Request('http://portico.test/workflow/w/result?wait=60s', { headers: bearer('web') }))
  await begun.promise

  callers?.setPolicy(tokenPolicy({ ...WEB, ids: ['w*'] }))
  changed.resolve()
  await response

  expect(decided).toEqual(['first', 'of before'])
})
