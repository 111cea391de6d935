import { expect } from 'vitest'
import { createAccessTokens } from '../../../../../src/service/http/credentials/access-tokens.ts'
import type { Call } from '../../../../../src/service/model/call.ts'
import type { HistoryFeedPage } from '../../../../../src/service/model/history-page.ts'
import type { Rule } from '../../../../../src/shared/access/caller.ts'
import { type ApiOptions, makeApi, running } from '../api.ts'
import { bearer, tokenPolicy } from '../policies.ts'

export const keyOf = (byte: number) => new Uint8Array(32).fill(byte)

export type TestRule = Omit<Rule, 'who'>

export const BACKEND: TestRule = { name: 'web', can: ['read', 'signal:app*', 'delegate'], ids: ['u:*'] }

export function makeTokenApi({
  rules = [BACKEND],
  keys = [keyOf(1)],
  ...options
}: ApiOptions & { rules?: TestRule[]; keys?: ReturnType<typeof keyOf>[] | null } = {}) {
  const calls: Call[] = []
  const api = makeApi({
    auth: { tokens: ['s3cret'], policy: tokenPolicy(...rules) },
    accessTokens: keys && createAccessTokens(keys),
    workflows: {
      async status(_, call) {
        calls.push(call)
        return running
      },
      async followHistory(_, call) {
        calls.push(call)
        return { workflow: { ...running, historyLength: 1 }, pages: untilAborted(call) }
      },
    },
    ...options,
  })
  const { call } = api
  const create = (body: object, creator = 'web', prefix = '') => call('POST', `${prefix}/tokens`, body, bearer(creator))
  async function tokenOf(body: object, creator?: string, prefix?: string): Promise<string> {
    const response = await create(body, creator, prefix)
    expect(response.status).toBe(201)
    return (await response.json()).token
  }
  const statusWith = async (token: string, prefix = '') =>
    (await call('GET', `${prefix}/workflow/u:1/status`, undefined, bearer(token))).status
  return { ...api, calls, create, tokenOf, statusWith }
}

async function* untilAborted({ signal }: Call): AsyncGenerator<HistoryFeedPage> {
  if (signal.aborted) return
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}
