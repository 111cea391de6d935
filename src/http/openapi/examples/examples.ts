import type { Exchange } from './exchange.ts'
import { inspectExchanges } from './inspect.ts'
import { messagesExchanges } from './messages.ts'
import { serviceExchanges } from './service.ts'
import { startExchanges } from './start.ts'

export const EXCHANGES: readonly Exchange[] = [
  ...startExchanges,
  ...inspectExchanges,
  ...messagesExchanges,
  ...serviceExchanges,
]

export type Examples = Record<string, { value: unknown }>

/** The examples for the bodies of requests to an operation. */
export function requestExamples(method: string, path: string): Examples {
  return Object.fromEntries(
    exchangesOf(method, path).flatMap(({ name, status, request }) =>
      request === undefined || status >= 400 ? [] : [[name, { value: request }]],
    ),
  )
}

/** The examples for the responses with this status, of an operation or, for errors, of all. */
export function examplesOf({ method, path, status }: { method?: string; path?: string; status: number }): Examples {
  const exchanges = method === undefined || path === undefined ? EXCHANGES : exchangesOf(method, path)
  return Object.fromEntries(
    exchanges.filter((exchange) => exchange.status === status).map(({ name, response }) => [name, { value: response }]),
  )
}

function exchangesOf(method: string, template: string): Exchange[] {
  const pattern = new RegExp(`^${template.replace(/:\w+/g, '[^/]+')}$`)
  return EXCHANGES.filter((exchange) => exchange.method.toLowerCase() === method && pattern.test(exchange.path))
}
