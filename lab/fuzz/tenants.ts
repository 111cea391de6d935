/** Two tenants of one service: the fuzzer, and another whose runs and values it must never see. */
import { createHash } from 'node:crypto'
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client, Connection } from '@temporalio/client'
import type { CatalogDefinition } from '../../src/shared/wire/catalog.ts'
import { startIdentityProvider } from '../../test/support/identity-provider.ts'
import { AUDIENCE, createSigner, ISSUER } from '../../test/support/jwt-signer.ts'

/** Of the tenant that the fuzzer is. */
export const TENANT_TOKEN = 'ptc_of-the-first-tenant'

// tenants.py knows these, too.
const FOREIGN_VALUE = 'value-of-the-other-tenant'
const FOREIGN_IDS = { own: 't2:ben:', shared: 'shared:ben:' }
const VISIBLE_IDS = 'shared:order:'
/** Only the other tenant may start it or see its runs. */
const HIDDEN_WORKFLOW = 'nothing'

const EVERY_MS = 150
const IDENTITY = /^portico token:/

export interface Tenants {
  /** Variables of the service. */
  env: Record<string, string>
  /** What tenants.py reads: a line of JSON for each run of the other tenant, and each of its page tokens. */
  file: string
  /** Lets the other tenant use the service from now on. */
  begin(url: string): void
  /** Ends that, and returns what went wrong: requests that failed, and runs that the fuzzer has changed. */
  end(): Promise<string[]>
  [Symbol.asyncDispose](): Promise<void>
}

/** The catalog with the value of the other tenant in the entry that the fuzzer must not see. */
export function withHiddenEntry({ workflows, workflowNames }: CatalogDefinition): CatalogDefinition {
  const hide = (entry: CatalogDefinition['workflows'][number]) =>
    entry.name === HIDDEN_WORKFLOW ? { ...entry, description: FOREIGN_VALUE } : entry
  return { workflows: workflows.map(hide), workflowNames }
}

/** A policy for both, with an identity provider for the second one. */
export async function createTenants(address: string, catalog: CatalogDefinition): Promise<Tenants> {
  const signer = await createSigner()
  const provider = await startIdentityProvider([signer])
  const folder = await mkdtemp(join(tmpdir(), 'portico-tenants-'))
  const file = join(folder, 'foreign.jsonl')
  await writeFile(file, '')
  const token = `sha256:${createHash('sha256').update(TENANT_TOKEN).digest('hex')}`
  const workflows = catalog.workflows.map(({ name }) => name).filter((name) => name !== HIDDEN_WORKFLOW)
  const policy = {
    version: 1,
    issuers: { main: { issuer: ISSUER, audience: AUDIENCE, jwksUrl: provider.jwksUrl } },
    rules: [
      { name: 't1', who: { token }, can: ['*'], ids: ['t1:*'], workflows, options: ['*'] },
      // It names no workflows, so a request about these runs needs no other one. Its catalog does not exist.
      { name: 't1-any', who: { token }, can: ['*'], ids: ['t1:any:*'], catalogs: ['t1-any'], options: ['*'] },
      {
        name: 't1-shared',
        who: { token },
        can: ['read', 'list', 'query', 'update', 'signal:approve'],
        ids: ['shared:*'],
        workflows: ['order'],
      },
      { name: 't2', who: { jwt: 'main' }, can: ['*'], ids: ['t2:{sub}:*', 'shared:*'], options: ['*'] },
    ],
  }
  const stopped = new AbortController()
  const credential = await signer.sign({ sub: 'ben' })
  let using: Promise<Used> | undefined
  return {
    env: { SERVICE_POLICY: JSON.stringify(policy) },
    file,
    begin(url) {
      using = useService({ url, credential, file, stopped: stopped.signal })
    },
    async end() {
      stopped.abort()
      const { runs, failures } = (await using) ?? { runs: [], failures: [] }
      if (runs.length === 0) failures.push('The other tenant has no runs')
      return [...failures, ...(await changedByFuzzer(address, runs))]
    },
    async [Symbol.asyncDispose]() {
      stopped.abort()
      await using
      await provider.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

interface Run {
  workflowId: string
  runId: string
}

interface Used {
  runs: Run[]
  failures: string[]
}

interface UseOptions {
  url: string
  credential: string
  file: string
  stopped: AbortSignal
}

/** Starts runs and reads them, one request after another. */
async function useService({ url, credential, file, stopped }: UseOptions): Promise<Used> {
  const used: Used = { runs: [], failures: [] }
  const headers = { Authorization: `Bearer ${credential}`, 'Content-Type': 'application/json' }
  async function request(path: string, body?: object): Promise<Record<string, unknown>> {
    const response = await fetch(`${url}${path}`, { headers, ...(body && post(body)) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }
  const tell = (line: object) => appendFile(file, `${JSON.stringify(line)}\n`)

  async function step(n: number): Promise<void> {
    const { workflowId, runId } = await request('/workflow/start', startOf(n))
    if (typeof workflowId !== 'string' || typeof runId !== 'string') throw new Error('A start without a run')
    if (workflowId.startsWith(VISIBLE_IDS)) return
    used.runs.push({ workflowId, runId })
    await tell({ workflowId, runId })
    const run = `/workflow/${encodeURIComponent(workflowId)}/runs/${runId}`
    await request(`${run}/status`)
    for (const path of [`${run}/history?pageSize=1`, '/workflow/runs?pageSize=1']) {
      const { nextPageToken } = await request(path)
      if (typeof nextPageToken === 'string') await tell({ pageToken: nextPageToken })
    }
    if (n % 5 === 0) for (const path of [`${run}/trace-log`, '/workflow/catalog', '/openapi.json']) await request(path)
  }

  for (let n = 0; !stopped.aborted; n++) {
    await step(n).catch((error: unknown) => used.failures.push(`The other tenant: ${error}`))
    await pause(EVERY_MS, undefined, { signal: stopped }).catch(() => {}) // rejects when stopped
  }
  return used
}

function post(body: object): RequestInit {
  return { method: 'POST', body: JSON.stringify(body) }
}

function startOf(n: number): object {
  const unique = crypto.randomUUID()
  const value = `${FOREIGN_VALUE}-${unique}`
  const order = (more: object) => ({
    workflowName: 'order',
    input: { orderId: value, amount: 250, card: '1', ...more },
  })
  const starts = [
    { workflowId: FOREIGN_IDS.own + unique, workflowName: 'echo', input: { value } },
    { workflowId: FOREIGN_IDS.own + unique, workflowName: HIDDEN_WORKFLOW, args: [], memo: { value } },
    // It waits for an approval that never comes, so it is open for a while.
    { workflowId: FOREIGN_IDS.own + unique, ...order({}), searchAttributes: { Customer: value } },
    // It fails with the id of the order in its message.
    { workflowId: FOREIGN_IDS.own + unique, ...order({ amount: -1 }) },
    { workflowId: FOREIGN_IDS.shared + unique, workflowName: 'greet', input: { name: value } },
    { workflowId: VISIBLE_IDS + unique, ...order({ orderId: 'visible' }) },
  ]
  return starts[n % starts.length] ?? {}
}

/** The runs of which an event was requested by the fuzzer. */
async function changedByFuzzer(address: string, runs: readonly Run[]): Promise<string[]> {
  const connection = await Connection.connect({ address })
  const { workflow } = new Client({ connection })
  const changed: string[] = []
  for (const { workflowId, runId } of runs) {
    const { events } = await workflow.getHandle(workflowId, runId).fetchHistory()
    const identities = JSON.stringify(events, (key, value) => (key === 'payloads' ? undefined : value))
    if (identities.match(/"identity":"[^"]*"/g)?.some((identity) => IDENTITY.test(identity.slice(12)))) {
      changed.push(`The fuzzer has changed run ${runId} of ${workflowId}`)
    }
  }
  await connection.close()
  return changed
}
