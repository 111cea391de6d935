/**
 * Who may do what in half of the simulations: each client has a token of a tenant, which owns the ids of its workflows.
 * The last client has an access token that allows less than the rules of its tenant.
 */
import { createHash } from 'node:crypto'
import type { PolicyDocument } from '../../src/shared/config/policy.ts'
import { ORIGIN } from './client-network.ts'
import { randomOf } from './random.ts'
import { WAITED_FOR } from './waiting-clients.ts'

export interface Tenants {
  /** The policy, as it is now; null: every client may do everything. */
  policy(): PolicyDocument | null
  /** When which tenants lost or got their rights to send updates, in milliseconds of the simulation. */
  changes(): readonly PolicyChange[]
  /** Takes the right to send updates from the second tenant, or gives it back. */
  change(at: number): void
  credentialOf(client: string): string | null
  /** Creates the access token of the last client, at a gateway that loses nothing. */
  delegate(fetch: (request: Request) => Promise<Response>): Promise<void>
  /** Whether the workflow is one of this client. */
  owns(client: string, workflowId: string): boolean
  /** Whether the client may lose the right to send updates. */
  mayLoseUpdates(client: string): boolean
}

export interface PolicyChange {
  at: number
  hasUpdates: boolean
}

/** The first part of the ids that the scenarios of the soak choose. */
const KINDS = [
  'ledger',
  'run',
  'with-start',
  'twins',
  'steps',
  'seasonal',
  'short',
  'replaced',
  'chain',
  'long',
  'lost',
]
const VERBS = ['start', 'read', 'list', 'signal', 'query', 'stop', 'terminate', 'pause', 'reset']
const NARROWED = 'client-2'
const CREATOR = 'creator'

export function createTenants(seed: number): Tenants {
  const hasPolicy = randomOf(seed, 'tenants').chance(0.5)
  const changes: PolicyChange[] = []
  let accessToken: string | null = null

  const idsOf = (client: string): string[] =>
    client === 'waiting' ? [`${WAITED_FOR}${seed}-*`] : KINDS.map((kind) => `${kind}-${seed}-${client.slice(-1)}-*`)
  const rule = (name: string, can: string[], ids: string[]) => ({
    name,
    who: { token: `sha256:${createHash('sha256').update(tokenOf(name)).digest('hex')}` },
    can,
    ids,
    options: ['*'],
  })

  function policy(): PolicyDocument | null {
    if (!hasPolicy) return null
    const all = [...VERBS, 'update']
    const ofSecond = changes.at(-1)?.hasUpdates === false ? VERBS : all
    return {
      version: 1,
      rules: [
        rule('client-0', all, idsOf('client-0')),
        rule('client-1', ofSecond, idsOf('client-1')),
        rule(CREATOR, [...ofSecond, 'delegate'], [...idsOf('client-1'), ...idsOf(NARROWED)]),
        rule('waiting', all, idsOf('waiting')),
      ],
    }
  }

  return {
    policy,
    changes: () => changes,
    change(at) {
      if (hasPolicy) changes.push({ at, hasUpdates: changes.at(-1)?.hasUpdates === false })
    },
    credentialOf(client) {
      if (!hasPolicy) return null
      return client === NARROWED ? accessToken : tokenOf(client)
    },
    async delegate(fetch) {
      if (!hasPolicy) return
      const scope = { can: [...VERBS, 'update'], ids: idsOf(NARROWED), options: ['*'], expiresIn: '24h' }
      const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${tokenOf(CREATOR)}` }
      const init = { method: 'POST', headers, body: JSON.stringify(scope) }
      const response = await fetch(new Request(`${ORIGIN}/tokens`, init))
      const { token }: { token: string } = await response.json()
      accessToken = token
    },
    owns: (client, workflowId) => idsOf(client).some((pattern) => workflowId.startsWith(pattern.slice(0, -1))),
    mayLoseUpdates: (client) => client === 'client-1' || client === NARROWED,
  }
}

function tokenOf(name: string): string {
  return `token-of-${name}`
}
