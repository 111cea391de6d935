/** `docs/api.md` as data: its examples, its table of errors, its rules. Other pages have examples in the same form. */
import { readFileSync } from 'node:fs'

export interface Example {
  /** Page and line, for messages. */
  where: string
  method: string
  /** Of the URL, with its query. */
  path: string
  headers: Record<string, string>
  body: string | null
  /** Null where the document shows none. */
  answer: ShownAnswer | null
}

export interface ShownAnswer {
  status: number
  headers: Record<string, string>
  body: unknown
}

export interface ErrorRow {
  status: number
  error: string
}

const ROOT = new URL('../../', import.meta.url)
const ORIGIN = 'localhost:3001'

export function readApiDocs(): { examples: Example[]; errors: ErrorRow[]; rules: string[] } {
  const page = 'docs/api.md'
  const text = readFileSync(new URL(page, ROOT), 'utf8')
  const rows = [...text.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)]
  return {
    examples: toExamples(page, text),
    errors: rows.map(([, status, error = '']) => ({ status: Number(status), error })),
    rules: [...text.matchAll(/^\| `([a-z-]+\.[\w-]+)` \|/gm)].map(([, id = '']) => id),
  }
}

/** The requests with curl that the page shows. */
export function readExamples(page: string): Example[] {
  return toExamples(page, readFileSync(new URL(page, ROOT), 'utf8'))
}

function toExamples(page: string, text: string): Example[] {
  const blocks = [...text.matchAll(/^```(\w+)\n(.*?)\n```$/gms)].map(
    ({ 1: language = '', 2: content = '', index }) => ({
      language,
      content,
      where: `${page}:${text.slice(0, index).split('\n').length}`,
    }),
  )
  return blocks.flatMap(({ language, content, where }, at) => {
    if (language !== 'sh') return []
    const next = blocks[at + 1]
    return [{ where, ...toRequest(content, where), answer: next?.language === 'http' ? toAnswer(next.content) : null }]
  })
}

/** Of curl only what the pages use; anything else is refused rather than overlooked. */
function toRequest(command: string, where: string): Omit<Example, 'answer' | 'where'> {
  const [curl, ...words] = wordsOf(command)
  const request: Request = { method: '', path: '', headers: {}, body: null }
  while (words.length > 0) {
    const [word = '', value = ''] = words
    const option = OPTIONS.get(word)
    if (option === undefined && !word.startsWith(ORIGIN))
      throw new Error(`${where}: this test does not support ${word} of curl`)
    if (option === undefined) request.path = word.slice(ORIGIN.length)
    else option(request, value)
    words.splice(0, option === undefined ? 1 : 2)
  }
  if (curl !== 'curl' || request.path === '') throw new Error(`${where}: this is not a curl of ${ORIGIN}`)
  return { ...request, method: request.method || (request.body === null ? 'GET' : 'POST') }
}

type Request = Pick<Example, 'body' | 'headers' | 'method' | 'path'>

const OPTIONS = new Map<string, (request: Request, value: string) => void>([
  ['-X', (request, value) => Object.assign(request, { method: value })],
  ['-d', (request, value) => Object.assign(request, { body: value })],
  ['-H', ({ headers }, value) => addHeader(headers, value)],
])

/** As a shell splits them; in single quotes nothing has a meaning. */
function wordsOf(command: string): string[] {
  return [...command.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, bare]) => quoted ?? bare ?? '',
  )
}

function toAnswer(content: string): ShownAnswer {
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
