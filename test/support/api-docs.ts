/** The examples of pages. */
import { EXAMPLE_PAGES, parseExchanges, type ShownExchange } from '../../src/service/openapi/examples.ts'
import { textOf } from './repository.ts'

export interface Example extends ShownExchange {
  /** Page and line, for messages. */
  where: string
}

/** The requests with curl that the page shows. */
export function readExamples(page: string): Example[] {
  return parseExchanges(textOf(page)).map((exchange) => ({ ...exchange, where: `${page}:${exchange.line}` }))
}

/** Those of the API reference, in the order in which they are sent. */
export function readApiExamples(): Example[] {
  return EXAMPLE_PAGES.flatMap((page) => readExamples(`docs/${page}`))
}
