/** Policies whose callers have their rule's name as their token. */
import { createHash } from 'node:crypto'
import type { TokenPolicy } from '../../../../src/service/http/credentials/callers.ts'
import type { Rule } from '../../../../src/shared/access/caller.ts'

export function tokenPolicy(...rules: (Omit<Rule, 'who'> & { token?: string })[]): TokenPolicy {
  return {
    issuers: {},
    rules: rules.map(({ token, ...rule }) => ({ ...rule, who: { token: [hashOf(token ?? rule.name)] } })),
  }
}

/** The header with the token of the rule. */
export function bearer(token: string): Record<string, string> {
  return { Authorization: `Bearer ${token}` }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
