/** Responses to requests for which no route exists. */
import type { Context, Hono } from 'hono'
import { editsTo } from '../../../shared/lib/nearest.ts'
import { ServiceError } from '../../model/errors.ts'
import { type Env, respond, setHeader } from '../context.ts'
import { rawPath } from '../path.ts'

const MAX_SHOWN_PATH = 200

export function notFound(c: Context, hint: readonly string[] = []): never {
  const path = rawPath(c.req.raw).slice(0, MAX_SHOWN_PATH)
  throw new ServiceError('NotFoundError', [`Route ${path} not found`, ...hint].join('. '))
}

/** What the client may have meant. */
function hintsAbout(
  path: string,
  { routes, basePath }: { routes: readonly { path: string }[]; basePath: string },
): string[] {
  if (path === '/') {
    const page = routes.some((route) => route.path === '/docs') ? `, and GET ${basePath}/docs shows it` : ''
    return [`GET ${basePath}/openapi.json describes the API${page}`]
  }
  if (/^\/workflow\/.+\/cancel$/.test(path)) return ['To cancel a workflow, send PATCH /workflow/:id/stop']
  const meant = nearestPath(path, routes)
  return meant === null ? [] : [`Did you mean ${basePath}${meant}?`]
}

/** The path with its misspelled words corrected to those of the most similar route; null if none is similar. */
function nearestPath(path: string, routes: readonly { path: string }[]): string | null {
  const words = path.split('/')
  const [first] = routes
    .map((route) => route.path.split('/'))
    .flatMap((known) => correctionOf(words, known) ?? [])
    .toSorted((one, two) => one.edits - two.edits)
  const meant = first?.words.join('/') ?? ''
  return meant === '' || meant.length > MAX_SHOWN_PATH ? null : meant
}

function correctionOf(words: readonly string[], known: readonly string[]): { words: string[]; edits: number } | null {
  if (words.length !== known.length) return null
  const edits = words.map((word, at) => (isParameter(known[at]) ? 0 : editsTo(word, known[at] ?? '')))
  // Two words that are wrong make it another path.
  const wrong = words.filter((word, at) => !isParameter(known[at]) && word !== known[at])
  if (edits.includes(null) || wrong.length !== 1) return null
  return {
    words: words.map((word, at) => (isParameter(known[at]) ? word : (known[at] ?? ''))),
    edits: edits.reduce<number>((sum, each) => sum + (each ?? 0), 0),
  }
}

function isParameter(word: string | undefined): boolean {
  return word === undefined || word.startsWith(':') || word.includes('*')
}

/** If the path has routes with other methods: 204 with a list of them for OPTIONS, otherwise 405. */
export function unmatched({ router, routes }: Hono<Env>): (c: Context<Env>) => Response {
  return (c) => {
    const methods = new Set(routes.map(({ method }) => method))
    const matching = [...methods].filter((method) => router.match(method, c.req.path)[0].length > 0)
    if (matching.length === 0) notFound(c, hintsAbout(c.req.path, { routes, basePath: c.get('basePath') }))
    const allowed = matching.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
    if (c.req.method === 'OPTIONS') return respond(c, null, 204, { Allow: allowed })
    setHeader(c, 'Allow', allowed)
    throw new ServiceError('MethodNotAllowedError', `Method ${c.req.method} is not allowed; use ${allowed}`)
  }
}
