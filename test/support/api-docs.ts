/** `docs/api.md` as data: its examples, its table of errors, its rules. */
import { readFileSync } from 'node:fs'

export interface Example {
  /** Where it stands, for messages. */
  line: number
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

const DOCUMENT = new URL('../../docs/api.md', import.meta.url)
const ORIGIN = 'localhost:3001'

export function readApiDocs(): { examples: Example[]; errors: ErrorRow[]; rules: string[] } {
  const text = readFileSync(DOCUMENT, 'utf8')
  const rows = [...text.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)]
  return {
    examples: toExamples(text),
    errors: rows.map(([, status, error = '']) => ({ status: Number(status), error })),
    rules: [...text.matchAll(/^\| `([a-z-]+\.[\w-]+)` \|/gm)].map(([, id = '']) => id),
  }
}

function toExamples(text: string): Example[] {
  const blocks = [...text.matchAll(/^```(\w+)\n(.*?)\n```$/gms)].map(
    ({ 1: language = '', 2: content = '', index }) => ({
      language,
      content,
      line: text.slice(0, index).split('\n').length,
    }),
  )
  return blocks.flatMap(({ language, content, line }, at) => {
    if (language !== 'sh') return []
    const next = blocks[at + 1]
    return [{ line, ...toRequest(content, line), answer: next?.language === 'http' ? toAnswer(next.content) : null }]
  })
}

/** Of curl only what the document uses; anything else is refused rather than overlooked. */
function toRequest(command: string, line: number): Omit<Example, 'answer' | 'line'> {
  const [curl, ...words] = wordsOf(command)
  const request: Request = { method: '', path: '', headers: {}, body: null }
  while (words.length > 0) {
    const [word = '', value = ''] = words
    const option = OPTIONS.get(word)
    if (option === undefined && !word.startsWith(ORIGIN))
      throw new Error(`docs/api.md:${line}: this test does not support ${word} of curl`)
    if (option === undefined) request.path = word.slice(ORIGIN.length)
    else option(request, value)
    words.splice(0, option === undefined ? 1 : 2)
  }
  if (curl !== 'curl' || request.path === '') throw new Error(`docs/api.md:${line}: this is not a curl of ${ORIGIN}`)
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
