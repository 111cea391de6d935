/** The documentation as data: the examples of a page, and the tables of errors and rules in `docs/api.md`. */
import { parseExchanges, type ShownExchange } from '../../src/http/openapi/examples.ts'
import { textOf } from './repository.ts'

export interface Example extends ShownExchange {
  /** Page and line, for messages. */
  where: string
}

export interface ErrorRow {
  status: number
  error: string
}

export function readApiDocs(): { errors: ErrorRow[]; rules: string[] } {
  const text = textOf('docs/api.md')
  const rows = [...text.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)]
  return {
    errors: rows.map(([, status, error = '']) => ({ status: Number(status), error })),
    rules: [...text.matchAll(/^\| `([a-z-]+\.[\w-]+)` \|/gm)].map(([, id = '']) => id),
  }
}

/** The requests with curl that the page shows. */
export function readExamples(page: string): Example[] {
  return parseExchanges(textOf(page)).map((exchange) => ({ ...exchange, where: `${page}:${exchange.line}` }))
}
