/**
 * What a catalog that was cached decides: a start is rejected only by a catalog of its own time. A repeated key is
 * answered with the run that it has started, so its catalog may be that of the first request.
 */
import { SEASONAL } from './catalogs.ts'
import { type Exchange, saidIn, sentBy } from './exchange.ts'

/** A catalog that was published, in milliseconds of the simulation. */
export interface PublishedCatalog {
  at: number
  hasSeasonal: boolean
}

// That of the service, without `SERVICE_CATALOG_TTL`.
const TTL_MS = 5000

export function checkCatalogs(exchanges: readonly Exchange[], published: readonly PublishedCatalog[]): string[] {
  const had = (hasSeasonal: boolean, from: number, to: number) =>
    published.some(({ at, ...catalog }, number) => {
      const until = published[number + 1]?.at ?? Number.POSITIVE_INFINITY
      return catalog.hasSeasonal === hasSeasonal && at <= to && until >= from
    })
  const firstSentAt = (exchange: Exchange) => {
    const { client, key, startedAt } = exchange
    const first = exchanges.find((other) => key !== null && other.client === client && other.key === key)
    return first?.startedAt ?? startedAt
  }
  return exchanges.flatMap((exchange) => {
    const { response, startedAt, client, path } = exchange
    if (response === null || sentBy(exchange).workflowName !== SEASONAL) return []
    const { status, endedAt } = response
    const isRejected = saidIn(exchange).error === 'UnsupportedWorkflowError'
    const about = `${client} ${path} from ${startedAt} to ${endedAt}: ${status}`
    if (isRejected) return had(false, startedAt, endedAt) ? [] : [`rejected by an old catalog: ${about}`]
    return status >= 300 || had(true, firstSentAt(exchange) - TTL_MS, endedAt)
      ? []
      : [`admitted by an old catalog: ${about}`]
  })
}
