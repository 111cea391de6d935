/** With a policy: what a client saw was its own, and it could do what its rules say, and nothing else. */
import { effectsIn } from './effects.ts'
import type { Run } from './engine-model/run.ts'
import { type Exchange, markerOf, verbOf, workflowIdOf } from './exchange.ts'
import type { Tenants } from './tenants.ts'

type Runs = ReadonlyMap<string, Run>

export function checkAccess(exchanges: readonly Exchange[], runs: Runs, tenants: Tenants): string[] {
  if (tenants.policy() === null) return []
  const broken = exchanges.flatMap((exchange) => {
    const { response, client, gateway, method, path } = exchange
    if (response === null) return []
    const rules = [shownOfOthers(exchange, runs, tenants), wrongDecision(exchange, tenants)]
    const about = `${client} > ${gateway} ${method} ${path}: ${response.status} ${response.body.slice(0, 200)}`
    return rules.flatMap((rule) => (rule === null ? [] : [`${rule}: ${about}`]))
  })
  return [...broken, ...carriedOutAlthoughDenied(exchanges, runs)]
}

const RUN_ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}/g

/** A run of another tenant, or of the service itself, that the request did not name. */
function shownOfOthers({ client, path, response }: Exchange, runs: Runs, tenants: Tenants): string | null {
  const shown = response?.body.match(RUN_ID)?.map((runId) => runs.get(runId)) ?? []
  const foreign = shown.find((run) => run !== undefined && !tenants.owns(client, run.workflowId))
  return foreign === undefined || path.includes(foreign.runId) ? null : `shows ${foreign.workflowId} of another tenant`
}

function wrongDecision(exchange: Exchange, tenants: Tenants): string | null {
  const { client, startedAt, response } = exchange
  if (response === null) return null
  const isDenied = response.status === 403
  const workflowId = workflowIdOf(exchange)
  const isOwn = workflowId === undefined || tenants.owns(client, decodeURIComponent(workflowId))
  // A 400 or 503 comes before any decision.
  if (!isOwn) return [400, 403, 503].includes(response.status) ? null : 'allowed for another tenant'
  const decided = tenants.changes().filter(({ at }) => at >= startedAt && at <= response.endedAt)
  if (decided.length > 0) return null
  const before = tenants.changes().findLast(({ at }) => at < startedAt)
  const isRevoked = before?.hasUpdates === false && tenants.mayLoseUpdates(client)
  const isUpdate = verbOf(exchange).startsWith('update')
  if (isRevoked && isUpdate) return response.status < 300 ? 'allowed after it was revoked' : null
  return isDenied || response.status === 401 ? 'denied although a rule allows it' : null
}

/** All requests with this marker were denied. */
function carriedOutAlthoughDenied(exchanges: readonly Exchange[], runs: Runs): string[] {
  const effects = effectsIn(runs)
  return [...Map.groupBy(exchanges, markerOf)].flatMap(([marker = '', sent]) => {
    const isDenied = sent.every(({ response }) => response?.status === 403)
    return isDenied && effects.has(marker) ? [`carried out although denied: ${marker}`] : []
  })
}
