/**
 * The examples of the document: requests and responses of `docs/api/`, where a name follows the language of the
 * response: ```` ```http completed ````.
 */
import { readFile } from 'node:fs/promises'

/** A request with curl on a page, and the response that follows it. */
export interface ShownExchange {
  /** Names the example among those of its operation; null if it is not in the document. */
  name: string | null
  /** The line of the request, for messages. */
  line: number
  method: string
  /** Of the URL, with its query. */
  path: string
  headers: Record<string, string>
  body: string | null
  /** Null where the page shows none. */
  response: ShownResponse | null
}

export interface ShownResponse {
  status: number
  headers: Record<string, string>
  body: unknown
}

export type Examples = Record<string, { value: unknown }>

/** Examples by operation and status. */
export interface ExampleSource {
  /** For the bodies of requests to an operation. */
  requests(method: string, path: string): Examples
  /** For the responses of an operation with this status. */
  responses(method: string, path: string, status: number): Examples
  /** For the responses of all operations with this status. */
  errors(status: number): Examples
}

/** In the order of their requests: later ones use runs of earlier ones. */
export const EXAMPLE_PAGES = [
  'api/start.md',
  'api/retries.md',
  'api/with-start.md',
  'api/runs.md',
  'api/status.md',
  'api/result.md',
  'api/history.md',
  'api/stream.md',
  'api/messages.md',
  'api/activities.md',
  'api/activities-alone.md',
  'api/control.md',
  'api/batches.md',
  'api/catalog.md',
  'api/service.md',
  'errors.md',
]

const ORIGIN = 'localhost:3001'

/** The examples of the pages that have a name. */
export async function readExamples(): Promise<ExampleSource> {
  const pages = await Promise.all(
    EXAMPLE_PAGES.map((page) => readFile(new URL(`../../../docs/${page}`, import.meta.url), 'utf8')),
  )
  const named = pages
    .flatMap(parseExchanges)
    .flatMap(({ name, response, ...request }) =>
      name === null || response === null
        ? []
        : [{ ...request, name, status: response.status, response: withoutEllipses(response.body) }],
    )
  const ofOperation = (method: string, template: string) => {
    const pattern = new RegExp(`^${template.replace(/:\w+/g, '[^/]+')}(\\?|$)`)
    return named.filter((exchange) => exchange.method.toLowerCase() === method && pattern.test(exchange.path))
  }
  const toExamples = (exchanges: typeof named, status: number) =>
    Object.fromEntries(
      exchanges.filter((one) => one.status === status).map(({ name, response }) => [name, { value: response }]),
    )
  return {
    requests: (method, path) =>
      Object.fromEntries(
        ofOperation(method, path).flatMap(({ name, status, body }) =>
          body === null || status >= 400 ? [] : [[name, { value: JSON.parse(body) }]],
        ),
      ),
    responses: (method, path, status) => toExamples(ofOperation(method, path), status),
    errors: (status) => toExamples(named, status),
  }
}

/** The requests with curl that a page shows. Throws if it uses something of curl that is not supported here. */
export function parseExchanges(text: string): ShownExchange[] {
  const blocks = [...text.matchAll(/^```(\w+)(?: (\w+))?\n(.*?)\n```$/gms)].map(
    ({ 1: language, 2: name = null, 3: content = '', index }) => ({ language, name, content, index }),
  )
  return blocks.flatMap(({ language, content, index }, at) => {
    if (language !== 'sh') return []
    const line = text.slice(0, index).split('\n').length
    const next = blocks[at + 1]
    const followed = next?.language === 'http' ? next : null
    const response = followed && parseResponse(followed.content)
    return [{ name: followed?.name ?? null, line, ...parseRequest(content, line), response }]
  })
}

type Request = Pick<ShownExchange, 'body' | 'headers' | 'method' | 'path'>

function parseRequest(command: string, line: number): Request {
  const [curl, ...words] = wordsOf(command)
  const request: Request = { method: '', path: '', headers: {}, body: null }
  while (words.length > 0) {
    const [word = '', value = ''] = words
    const option = OPTIONS.get(word)
    if (option === undefined && !word.startsWith(ORIGIN))
      throw new Error(`Line ${line}: ${word} of curl is not supported`)
    if (option === undefined) request.path = word.slice(ORIGIN.length)
    else option(request, value)
    words.splice(0, option === undefined ? 1 : 2)
  }
  if (curl !== 'curl' || request.path === '') throw new Error(`Line ${line}: this is not a curl of ${ORIGIN}`)
  return { ...request, method: request.method || (request.body === null ? 'GET' : 'POST') }
}

const OPTIONS = new Map<string, (request: Request, value: string) => void>([
  ['-X', (request, value) => Object.assign(request, { method: value })],
  ['-d', (request, value) => Object.assign(request, { body: value })],
  ['-H', ({ headers }, value) => addHeader(headers, value)],
])

/** Splits a command as a shell does. Everything inside single quotes is literal. */
function wordsOf(command: string): string[] {
  return [...command.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, bare]) => quoted ?? bare ?? '',
  )
}

function parseResponse(content: string): ShownResponse {
  const [head = '', ...rest] = content.split('\n\n')
  const [statusLine = '', ...lines] = head.split('\n')
  const headers: Record<string, string> = {}
  for (const line of lines) addHeader(headers, line)
  const body = rest.join('\n\n')
  return { status: Number(statusLine.split(' ')[1]), headers, body: body === '' ? null : JSON.parse(body) }
}

function addHeader(headers: Record<string, string>, line: string): void {
  const colon = line.indexOf(':')
  headers[line.slice(0, colon)] = line.slice(colon + 1).trim()
}

/** Removes the key `…`, which stands for other keys. */
function withoutEllipses(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEllipses)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([key]) => key !== '…')
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutEllipses(item)]))
}
