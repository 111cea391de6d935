/** With a policy: the audit log has each effect and each denial of a request once. */
import { effectsIn } from './effects.ts'
import type { Run } from './engine-model/run.ts'
import { type Exchange, markerOf, saidIn, verbOf, workflowIdOf } from './exchange.ts'
import type { AuditLine } from './gateways.ts'
import type { Tenants } from './tenants.ts'

type Runs = ReadonlyMap<string, Run>

export function checkAudit(
  exchanges: readonly Exchange[],
  audit: readonly AuditLine[],
  { runs, tenants }: { runs: Runs; tenants: Tenants },
): string[] {
  if (tenants.policy() === null) return []
  const lines = Map.groupBy(audit, ({ gateway, requestId }) => `${gateway} ${requestId}`)
  const linesOf = ({ gateway, response }: Exchange) => lines.get(`${gateway} ${response?.requestId}`) ?? []
  return [
    ...exchanges.flatMap((exchange) => wrongLines(exchange, linesOf(exchange), runs)),
    ...missingLines(exchanges, linesOf, runs),
  ]
}

/** The lines of one request: one for each of its actions, about its own workflow. */
function wrongLines(exchange: Exchange, lines: readonly AuditLine[], runs: Runs): string[] {
  const { client, gateway, method, path, response } = exchange
  const about = `${client} > ${gateway} ${method} ${path}: ${response?.status} ${JSON.stringify(lines)}`
  const workflowId = workflowIdOf(exchange)
  const broken: string[] = []
  if (new Set(lines.map(({ action }) => action)).size < lines.length) broken.push('audited twice')
  if (lines.some((line) => line.workflowId !== undefined && line.workflowId !== workflowId))
    broken.push('audited with another workflow')
  if (lines.some(({ runId }) => runId !== undefined && runs.get(String(runId))?.workflowId !== workflowId))
    broken.push('audited with another run')
  // An update that a new policy ends has the line of the rule that has allowed it.
  if (response?.status === 403 && lines.length === 0) broken.push('denied without a line')
  if (isStart(exchange) && !lines.some(({ action }) => action === 'start')) broken.push('started without a line')
  return broken.map((rule) => `${rule}: ${about}`)
}

/** A message with which the response says that it has started a run. */
function isStart(exchange: Exchange): boolean {
  const { started } = saidIn(exchange)
  return verbOf(exchange).endsWith('-with-start') && started === true
}

/** Each effect has a line of one of the requests that were sent for it, unless their gateways were killed. */
function missingLines(
  exchanges: readonly Exchange[],
  linesOf: (exchange: Exchange) => readonly AuditLine[],
  runs: Runs,
): string[] {
  const sent = Map.groupBy(exchanges, markerOf)
  return [...effectsIn(runs)].flatMap(([marker, [effect]]) => {
    const answered = sent.get(marker)?.filter(({ response }) => response !== null) ?? []
    const isKilled = answered.length < (sent.get(marker)?.length ?? 0)
    const hasLine = answered.some((exchange) => linesOf(exchange).some(({ rule }) => rule !== 'none'))
    return hasLine || isKilled ? [] : [`carried out without a line of the audit log: ${effect?.kind} ${marker}`]
  })
}
